// SPDX-License-Identifier: GPL-2.0-only
/*
 * capture: one stack for all recorders of an event, in a bounded time.
 *
 * The first recorder has the stack walked as it wants it. Another one that wants more has it
 * walked anew, with all that any recorder may want; the others take a part of that.
 * Where that has happened, the next captures begin with all of it. Recorders of users with
 * different tables need a walk each.
 *
 * Time: a walk ends when the interrupt has lasted for interrupt_us, and none begins from then
 * on. Captures may follow each other in one interrupt (as when many counters overflow at once),
 * and count together then; not across a switch, nor where interrupts are on, where nothing waits.
 * The end of a capture is a reading of the clock, so it is noted only where the walk took long, or
 * the capture before it has begun shortly before.
 */
#include "capture.h"

#include <linux/moduleparam.h>

#define GAP_NS		5000	/* from the end of a capture to the next of the same interrupt */
#define MIXED		8	/* captures */

struct gprof_scratch __percpu *gprof_scratches;
unsigned int gprof_interrupt_us = 100;
module_param_named(interrupt_us, gprof_interrupt_us, uint, 0644);
MODULE_PARM_DESC(interrupt_us, "microseconds of an interrupt after which stacks are cut");

/**
 * gprof_captures_init() - allocate the scratch memory
 *
 * Context: Task.
 * Return: 0 or -ENOMEM.
 */
int gprof_captures_init(void)
{
	unsigned int cpu, i;

	gprof_scratches = alloc_percpu(struct gprof_scratch);
	if (!gprof_scratches)
		return -ENOMEM;
	for_each_possible_cpu(cpu) {
		struct gprof_scratch *scratch = per_cpu_ptr(gprof_scratches, cpu);

		for (i = 0; i < GPROF_DEPTH; i++) {
			gprof_user_frames_init(&scratch->stack[i].user_frames, 0);
			scratch->stack[i].outermost = !i;
			/* A per-CPU buffer keeps versions of both. */
			gprof_user_frames_init(&scratch->part[i].user_frames, 1ULL << 63);
		}
	}
	return 0;
}

/**
 * gprof_captures_exit() - free the scratch memory
 *
 * Context: Task; no recorder exists any more.
 */
void gprof_captures_exit(void)
{
	free_percpu(gprof_scratches);
}

/**
 * gprof_scratch_get() - have memory for a stack that is no sample
 *
 * It holds the frames of the last walk at this depth, for the next to compare with.
 *
 * Context: Task, preemption off until gprof_scratch_put(), amid no sample.
 * Return: this CPU's.
 */
struct gprof_stack *gprof_scratch_get(void)
{
	struct gprof_scratch *scratch = this_cpu_ptr(gprof_scratches);
	struct gprof_stack *stack = &scratch->stack[scratch->depth++];

	barrier();	/* an interrupt from here on takes the next one */
	return stack;
}

/** gprof_scratch_put() - done with it */
void gprof_scratch_put(void)
{
	barrier();	/* done with the stack before an interrupt may reuse it */
	this_cpu_ptr(gprof_scratches)->depth--;
}

/* In an interrupt, or amid work that keeps them off? */
static bool interrupts_wait(const struct gprof_capture *c)
{
	return c->flags & (GPROF_SAMPLE_REC_F_IRQ | GPROF_SAMPLE_REC_F_NMI) || irqs_disabled();
}

/* How often current has given up its CPU. */
static unsigned long switches_of_current(void)
{
	return current->nvcsw + current->nivcsw;
}

/**
 * gprof_capture_follow() - the last capture may be of the same interrupt
 * @c: capture
 * @scratch: this CPU's
 *
 * Context: As gprof_emit().
 */
void gprof_capture_follow(struct gprof_capture *c, struct gprof_scratch *scratch)
{
	bool known = scratch->close == GPROF_CLOSE_KNOWN;

	if (!interrupts_wait(c))
		return;
	if (known && (c->time - scratch->end >= GAP_NS || scratch->task != current ||
		      scratch->switches != switches_of_current()))
		return;
	if (known)
		c->stack->until = scratch->until;
	c->stack->slow = GPROF_SLOW_UNWIND;
}

/* The most that a recorder may want besides @o, which differs from another one. */
static struct gprof_stack_options widest(const struct gprof_capture *c,
					 const struct gprof_stack_options *o)
{
	struct gprof_stack_options wide = *o, taken = { .word = c->taken };

	wide.flags |= GPROF_STACK_F_IP | GPROF_STACK_F_KERNEL | GPROF_STACK_F_USER;
	if (taken.table_set == o->table_set)
		wide.flags |= taken.flags;
	wide.flags &= ~c->without;
	wide.max_frames = GPROF_MAX_FRAMES;
	wide.kernel |= taken.kernel;
	return wide;
}

static bool covers(const struct gprof_capture *c, const struct gprof_stack_options *o)
{
	struct gprof_stack_options taken = { .word = c->taken };

	return taken.table_set == o->table_set && taken.max_frames >= o->max_frames &&
	       taken.kernel >= o->kernel &&
	       !((o->flags | (GPROF_STACK_F_USER & ~c->without)) & ~taken.flags);
}

/**
 * gprof_capture_other() - the stack for a recorder, where it is not simply the first
 * @c: capture
 * @o: the recorder's options
 *
 * Context: As gprof_emit().
 * Return: stack, until the next call or the end of the capture.
 */
noinline struct gprof_stack *gprof_capture_other(struct gprof_capture *c,
						 const struct gprof_stack_options *o)
{
	struct gprof_scratch *scratch = this_cpu_ptr(gprof_scratches);
	struct gprof_stack *part = &scratch->part[c->depth];
	bool first = !c->taken, walked = false;

	if (ktime_get_mono_fast_ns() >= c->stack->until) {
		gprof_stack_capture(part, o, c->regs, c->chain);
		return part;
	}
	if (first || !covers(c, o)) {
		struct gprof_stack_options take = *o;

		if (!first)
			scratch->mixed = MIXED;
		if (scratch->mixed)
			take = widest(c, o);
		if (first && scratch->mixed)
			scratch->mixed--;
		gprof_stack_capture(c->stack, &take, c->regs, c->chain);
		c->taken = take.word;
		walked = true;
	}
	if (c->taken == o->word)
		return c->stack;
	gprof_stack_part(part, c->stack, o, c->regs);
	part->wants_mm_tables = walked && c->stack->wants_mm_tables;
	return part;
}

/**
 * gprof_capture_end() - give the memory of the capture back
 * @c: capture that somebody has recorded
 *
 * Context: As gprof_emit().
 */
void gprof_capture_end(struct gprof_capture *c)
{
	struct gprof_scratch *scratch = this_cpu_ptr(gprof_scratches);

	if (unlikely(c->stack->slow >= GPROF_SLOW_UNWIND) && interrupts_wait(c)) {
		scratch->until = c->stack->until;
		scratch->task = current;
		scratch->switches = switches_of_current();
		scratch->end = ktime_get_mono_fast_ns();
		scratch->close = GPROF_CLOSE_KNOWN;
	}
	barrier();	/* done with the stack before an interrupt may reuse it */
	scratch->depth = c->depth;
}
