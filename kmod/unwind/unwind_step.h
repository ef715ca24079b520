/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * unwind_step: from a frame to its caller, by any rule.
 */
#ifndef GPROF_UNWIND_STEP_H
#define GPROF_UNWIND_STEP_H

#include "arch/arch.h"
#include "clock/clock.h"
#include "compat/uaccess.h"
#include "lookup.h"
#include "frames.h"
#include "mm_tables.h"

#include <linux/gprof_unwind.h>
#include <linux/types.h>

struct pt_regs;

#define GPROF_GO_ON	(~0U)	/* no GPROF_STACK_END_* */

/* Beyond the two usual kinds of rules: a frame pointer or return address elsewhere. */
#define GPROF_HOW_RARE	(GPROF_UNWIND_FP_AT_FP | 3 << 2)

/**
 * struct gprof_frame - a caller
 * @pc: return address
 * @sp: stack pointer behind the call
 * @fp: frame pointer
 * @pc_at: where @pc was read; 0: it cannot be read again
 * @fp_at: where @fp was read, or @pc_at
 * @fp_word: the word that was read there
 */
struct gprof_frame {
	u64 pc;
	u64 sp;
	u64 fp;
	u64 pc_at;
	u64 fp_at;
	u64 fp_word;
};

/**
 * struct gprof_unwind_state - a walk
 * @stack: where the leaf is
 * @regs: registers of the program
 * @set: number of the set of tables
 * @list: copy of the mappings, or an empty one
 * @version: of that
 * @once: a version for mappings that are looked up, of this walk alone
 * @looked: texts that @list lacks are looked up; @by: from where; @seen: the last of them
 * @at: instruction whose rule is followed, or the byte before a return address
 * @sp, @fp: of the frame that the walk begins with; it has found @nr before
 * @exact: all registers of the frame are known: those in @regs, or at @signal
 * @signal: where a signal has saved them; 0: in @regs
 * @since: number of frames that there were when registers were known last
 * @since_at: @at of then
 * @nr: frames
 * @frames: frames, or NULL: the memory is in use
 * @drop: the last of them is none
 * @guess: the rule for code without one
 * @record_nr: number of the frame that a frame record has led to last
 * @guessed_end: such code is the outermost; frames behind it are not kept
 */
struct gprof_unwind_state {
	struct gprof_stack *stack;
	struct pt_regs *regs;
	u32 set;
	const struct gprof_exec_map_list *list;
	u64 version;
	u64 once;
	bool looked;
	enum gprof_lookup_by by;
	struct gprof_exec_map seen;
	u64 at;
	u64 sp;
	u64 fp;
	bool exact;
	u64 signal;
	u32 since;
	u64 since_at;
	u32 nr;
	const struct gprof_frame *frames;
	bool drop;
	struct gprof_unwind_rule guess;
	u32 record_nr;
	bool guessed_end;
};

static __always_inline u64 gprof_return_place(const struct gprof_unwind_rule *r, u64 cfa)
{
	if (!IS_ENABLED(CONFIG_X86_64) && r->kind != GPROF_UNWIND_CFA_DEREF)
		return gprof_user_strip(cfa + (s64)r->ra * 8);
	return gprof_user_strip(cfa - 8);
}

#define GPROF_SLOW_STEPS	8	/* between looks at the clock */

/* Counts a step that takes long. Returns whether there is no time for it. */
static inline bool gprof_unwind_is_late(struct gprof_unwind_state *w)
{
	return !(++w->stack->slow % GPROF_SLOW_STEPS) && gprof_clock_ns() >= w->stack->until;
}

const struct gprof_unwind_rule *gprof_unwind_find_rule(struct gprof_unwind_state *w, u64 at);
bool gprof_unwind_by_record(struct gprof_unwind_state *w, struct gprof_frame *frames, u32 nr);
u32 gprof_unwind_step(struct gprof_unwind_state *w, const struct gprof_unwind_rule *r,
		      struct gprof_frame *f);

#endif /* GPROF_UNWIND_STEP_H */
