// SPDX-License-Identifier: GPL-2.0-only
/*
 * orc_steps: the ORC unwinder's step at a return address, remembered (amd64).
 *
 * The unwinder searches its tables at every frame, some 250 instructions. The entry
 * there depends on the return address alone, and nearly always it is: the
 * caller's frame begins so many bytes above the stack pointer, or the frame
 * pointer; the return address lies below that, and so many bytes further down the
 * caller's frame pointer, if it was saved. Such a step is taken here with a look
 * into a table, a tenth of the price.
 *
 * The tables themselves are out of reach for a module. So a step is learnt by
 * having the unwinder take it thrice: as it is, with another stack pointer, and
 * with another frame pointer. Only steps that are the same for ever are remembered:
 * - of addresses in the kernel's image; modules and generated code come and go;
 * - of calls, on the current task's own stack;
 * - where the word in memory is the return address. The function graph tracer and
 *   kretprobes put one of theirs there, and only the unwinder knows the former one.
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
#define LOOKS		6	/* where the frame pointer may have been saved */

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

static bool is_cached(u64 ip)
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
 * @sp + k * SHIFT the unwinder found @bp[k]. 0: unknown. Registers that are saved side by
 * side often are the same, and 0: hence more than two looks.
 */
static u32 place_of_saved(u64 sp, const u64 bp[LOOKS], u64 lowest)
{
	u32 words = min_t(u64, (sp - lowest) / 8, 0xfff), n, k, found = 0;

	for (n = 2; n <= words; n++) {
		for (k = 0; k < LOOKS; k++) {
			if (stack_word(sp + k * SHIFT - n * 8) != bp[k])
				break;
		}
		if (k < LOOKS)
			continue;
		if (found)
			return 0;
		found = n;
	}
	return found;
}

/* The frame pointers that the unwinder finds with the pointer of @step at other places. */
static bool saved_frame_pointers(const struct unwind_state *from, enum step step, u64 bp[LOOKS])
{
	u32 k;

	for (k = 2; k < LOOKS; k++) {
		struct unwind_state moved = *from;

		moved.error = true;
		if (step == STEP_SP)
			moved.sp += k * SHIFT;
		else
			moved.bp += k * SHIFT;
		if (!unwind_next_frame(&moved))
			return false;
		bp[k] = moved.bp;
	}
	return true;
}

/* The step from @from to @to, as an entry; 0: ask again the next time. */
static u64 derive_step(const struct unwind_state *from, struct unwind_state *to)
{
	struct unwind_state sp_moved = *from, bp_moved = *from, *moved;
	enum step step;
	u64 up, saved = 0;

	if (to->regs) {
		struct pt_regs *regs = task_pt_regs(current);
		bool end = to->regs == regs && from->sp == (unsigned long)regs && user_mode(regs);

		return entry_of(from->ip, end ? STEP_USER : STEP_OTHER, 0, 0);
	}
	/* A tracer's address there may be gone the next time. */
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
		u64 found[LOOKS] = { to->bp, moved->bp };

		if (!saved_frame_pointers(from, step, found))
			return 0;
		saved = place_of_saved(to->sp, found, from->sp);
		if (!saved)
			return 0;
	}
	return entry_of(from->ip, step, up / 8, saved);
}

/**
 * gprof_orc_start() - have the unwinder begin at a call that has returned on current's stack
 * @state: of the unwinder
 * @ip: return address, in a function that goes on
 * @sp: stack pointer as it called
 * @bp: frame pointer then
 *
 * The unwinder knows the frame by the function that has been called from there since.
 *
 * Context: Any incl. NMI, preemption off.
 */
void gprof_orc_start(struct unwind_state *state, u64 ip, u64 sp, u64 bp)
{
	/* It stops above the address that it is given. */
	unwind_start(state, current, NULL, (void *)(sp - sizeof(long)));
	if (unwind_done(state) || state->sp != sp)
		return;
	state->ip = ip;
	state->bp = bp;
	state->regs = NULL;
	state->prev_regs = NULL;
	state->signal = false;
	state->full_regs = false;
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

	if (!is_call(state) || !is_image(state->ip) || is_cached(state->ip)) {
		unwind_next_frame(state);
		return;
	}
	from = *state;
	if (!unwind_next_frame(state))
		return;
	entry = derive_step(&from, state);
	if (entry)
		WRITE_ONCE(*place_of(from.ip), entry);
}

/**
 * gprof_orc_unwind_from() - the callers of a function that called, as far as every step is known
 * @ip: its return address, which is not among @frames
 * @sp: its stack pointer as it called
 * @bp: its frame pointer then
 * @frames: where to
 * @max: most frames
 *
 * Context: Any incl. NMI, preemption off.
 * Return: number of frames; -1: the unwinder must do it.
 */
int gprof_orc_unwind_from(u64 ip, u64 sp, u64 bp, u64 *frames, u32 max)
{
	u64 top = (unsigned long)task_pt_regs(current);
	u64 lowest = (unsigned long)task_stack_page(current);
	u32 n = 0;

	if (sp < lowest || sp > top || sp & 7)
		return -1;
	while (n < max) {
		u64 entry = READ_ONCE(*place_of(ip));
		u64 up = (entry >> 32 & 0xffff) * 8, saved = (entry >> 48 & 0xfff) * 8;
		enum step step = entry >> 60;

		/* In the image, since all addresses in the table are. */
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

/**
 * gprof_orc_unwind() - the rest of a stack, as far as every step is known
 * @state: of the unwinder, whose frame has been taken
 * @frames: where to
 * @max: most frames
 *
 * Context: Any incl. NMI, preemption off.
 * Return: number of frames; -1: the unwinder must do it.
 */
int gprof_orc_unwind(struct unwind_state *state, u64 *frames, u32 max)
{
	if (!is_call(state))
		return -1;
	return gprof_orc_unwind_from(state->ip, state->sp, state->bp, frames, max);
}

#endif /* CONFIG_UNWINDER_ORC */
