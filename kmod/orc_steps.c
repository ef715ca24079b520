// SPDX-License-Identifier: GPL-2.0-only
/*
 * orc_steps: what the ORC unwinder does at a return address, remembered (amd64).
 *
 * The unwinder searches its tables at every frame, some 250 instructions. What it
 * finds there depends on the return address alone, and nearly always it is: the
 * caller's frame begins so many bytes above the stack pointer, or the frame
 * pointer; the return address lies below that, and so many bytes further down the
 * caller's frame pointer, if it was saved. Such a step is taken here with a look
 * into a table, a tenth of the price.
 *
 * The tables themselves are out of reach for a module. So a step is learnt by
 * having the unwinder take it thrice: as it is, with another stack pointer, and
 * with another frame pointer. Only what is the same for ever is remembered:
 * - of addresses in the kernel's image; modules and what is generated come and go;
 * - of calls, on the current task's own stack;
 * - where the word in memory is the return address. The function graph tracer and
 *   kretprobes put one of theirs there, and only the unwinder knows what it was.
 * Anything else ends a walk without a result, and the unwinder does it all.
 *
 * The table is written by any CPU in any context; an entry is one word.
 */
#include "orc_steps.h"

#ifdef CONFIG_UNWINDER_ORC

#include <linux/compiler.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>

#define TABLE_BITS	12
#define SHIFT		8	/* by which the other pointers are other ones */

enum step {
	STEP_NONE,	/* not learnt */
	STEP_SP,	/* up from the stack pointer */
	STEP_BP,	/* up from the frame pointer */
	STEP_USER,	/* the registers of user mode lie here: the end */
	STEP_OTHER,	/* for the unwinder alone */
};

/*
 * An entry: the lower half of the address (32 bits); words up to the caller's frame
 * (16); words from there down to the saved frame pointer, 0: it is not saved (12);
 * enum step (4).
 */
static u64 table[1 << TABLE_BITS];

static u64 entry_of(u64 ip, enum step step, u64 up, u64 saved)
{
	return (u64)step << 60 | saved << 48 | up << 32 | (u32)ip;
}

static u64 *place_of(u64 ip)
{
	return &table[(ip ^ ip >> TABLE_BITS) & ((1 << TABLE_BITS) - 1)];
}

static bool is_image(u64 ip)
{
	return ip >= __START_KERNEL_map && ip < MODULES_VADDR;
}

static bool is_known(u64 ip)
{
	return (u32)READ_ONCE(*place_of(ip)) == (u32)ip;
}

/* Is this a call, on the stack that is walked here? */
static bool is_call(struct unwind_state *state)
{
	return !unwind_done(state) && !state->regs && !state->signal &&
	       state->sp >= (unsigned long)task_stack_page(current) &&
	       state->sp <= (unsigned long)task_pt_regs(current);
}

static u64 stack_word(u64 addr)
{
	return READ_ONCE_NOCHECK(*(u64 *)addr);
}

/*
 * Where was the caller's frame pointer saved? In words below the caller's frame: at
 * @sp it was @bp, and at @sp + SHIFT the unwinder found @other. 0: who knows.
 */
static u32 place_of_saved(u64 sp, u64 bp, u64 other, u64 lowest)
{
	u32 words = min_t(u64, (sp - lowest) / 8, 0xfff), n, found = 0;

	for (n = 2; n <= words; n++) {
		if (stack_word(sp - n * 8) != bp || stack_word(sp + SHIFT - n * 8) != other)
			continue;
		if (found)
			return 0;
		found = n;
	}
	return found;
}

/* What was done from @from to @to, as an entry; 0: ask again the next time. */
static u64 learn(const struct unwind_state *from, struct unwind_state *to)
{
	struct unwind_state sp_moved = *from, bp_moved = *from, *moved;
	enum step step;
	u64 up, saved = 0;

	if (to->regs) {
		struct pt_regs *regs = task_pt_regs(current);
		bool end = to->regs == regs && from->sp == (unsigned long)regs && user_mode(regs);

		return entry_of(from->ip, end ? STEP_USER : STEP_OTHER, 0, 0);
	}
	/* What a tracer has put there may be gone the next time. */
	if (!is_call(to) || stack_word(to->sp - 8) != to->ip)
		return 0;
	/* An error that happened already keeps the unwinder from telling of others. */
	sp_moved.error = true;
	bp_moved.error = true;
	sp_moved.sp += SHIFT;
	bp_moved.bp += SHIFT;
	if (!unwind_next_frame(&sp_moved) || !unwind_next_frame(&bp_moved))
		return 0;
	if (sp_moved.sp == to->sp + SHIFT && bp_moved.sp == to->sp) {
		step = STEP_SP;
		up = to->sp - from->sp;
		moved = &sp_moved;
	} else if (bp_moved.sp == to->sp + SHIFT && sp_moved.sp == to->sp) {
		step = STEP_BP;
		up = to->sp - from->bp;
		moved = &bp_moved;
	} else {
		return entry_of(from->ip, STEP_OTHER, 0, 0);
	}
	if (up & 7 || up > U16_MAX)
		return entry_of(from->ip, STEP_OTHER, 0, 0);
	if (to->bp != from->bp || bp_moved.bp != from->bp + SHIFT) {
		saved = place_of_saved(to->sp, to->bp, moved->bp, from->sp);
		if (!saved)
			return 0;
	}
	return entry_of(from->ip, step, up / 8, saved);
}

/**
 * gprof_orc_step() - the unwinder's next frame, to be remembered
 * @state: of the unwinder
 *
 * Context: Any incl. NMI, preemption off.
 */
void gprof_orc_step(struct unwind_state *state)
{
	struct unwind_state from;
	u64 entry;

	if (!is_call(state) || !is_image(state->ip) || is_known(state->ip)) {
		unwind_next_frame(state);
		return;
	}
	from = *state;
	if (!unwind_next_frame(state))
		return;
	entry = learn(&from, state);
	if (entry)
		WRITE_ONCE(*place_of(from.ip), entry);
}

/**
 * gprof_orc_walk() - the rest of a stack, as far as every step is known
 * @state: of the unwinder, whose frame has been taken
 * @frames: where to
 * @max: most frames
 *
 * Context: Any incl. NMI, preemption off.
 * Return: number of frames; -1: the unwinder must do it.
 */
int gprof_orc_walk(struct unwind_state *state, u64 *frames, u32 max)
{
	u64 top = (unsigned long)task_pt_regs(current);
	u64 lowest = (unsigned long)task_stack_page(current);
	u64 ip = state->ip, sp = state->sp, bp = state->bp;
	u32 n = 0;

	if (!is_call(state))
		return -1;
	while (n < max) {
		u64 entry = READ_ONCE(*place_of(ip));
		u64 up = (entry >> 32 & 0xffff) * 8, saved = (entry >> 48 & 0xfff) * 8;
		enum step step = entry >> 60;

		/* In the image, since what is in the table is. */
		if ((u32)entry != (u32)ip || ip >> 32 != U32_MAX)
			return -1;
		if (step == STEP_USER && sp == top && user_mode(task_pt_regs(current)))
			break;
		if (step != STEP_SP && step != STEP_BP)
			return -1;
		up += step == STEP_SP ? sp : bp;
		if (up <= sp || up > top || up - saved < lowest || up & 7)
			return -1;
		sp = up;
		ip = stack_word(sp - 8);
		if (saved)
			bp = stack_word(sp - saved);
		frames[n++] = ip;
	}
	return n;
}

#endif /* CONFIG_UNWINDER_ORC */
