/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * capture: an event on its way to the recorders that want it.
 */
#ifndef GPROF_CAPTURE_H
#define GPROF_CAPTURE_H

#include "compat/preempt.h"
#include "ring/percpu_buffer.h"
#include "unwind/stack.h"

#include <linux/compiler.h>
#include <linux/gprof.h>
#include <linux/irqflags.h>
#include <linux/percpu.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/timekeeping.h>
#include <linux/types.h>

struct perf_callchain_entry;
struct pt_regs;

/**
 * struct gprof_scratch - memory of a CPU for stacks
 * @depth: of nesting: task, softirq, interrupt and NMI may each be amid a sample
 * @close: a capture that begins before may be of the same interrupt as the last one
 * @end: when that was done, if @close is GPROF_CLOSE_KNOWN
 * @until: when its walks had to end
 * @task: current then, to compare with alone
 * @switches: how often that had given up its CPU
 * @mixed: for so many captures yet, recorders are expected to want different stacks
 * @stack: stack of each depth
 * @part: part of it, for recorders that want less
 */
struct gprof_scratch {
	unsigned int depth;
	u64 close;
	u64 end;
	u64 until;
	const struct task_struct *task;
	unsigned long switches;
	unsigned int mixed;
	struct gprof_stack stack[GPROF_DEPTH];
	struct gprof_stack part[GPROF_DEPTH];
};

#define GPROF_CLOSE_NS		30000	/* between two captures that may be of one interrupt */
#define GPROF_CLOSE_KNOWN	(~0ULL)	/* it is known when the last one was done */

extern struct gprof_scratch __percpu *gprof_scratches;
extern unsigned int gprof_interrupt_us;

/**
 * struct gprof_capture - an event on its way to its recorders
 * @task: whose event; current, or a task that cannot go away meanwhile
 * @regs: registers of current at the event
 * @chain: call chain that the driver has walked already, or NULL
 * @time: CLOCK_MONOTONIC, or 0: now
 * @addr: data address, with GPROF_SAMPLE_REC_F_ADDR
 * @value: the measured value, with GPROF_SAMPLE_REC_F_VALUE
 * @state: how @task was, with GPROF_SAMPLE_REC_F_STATE
 * @wait: its kind, with GPROF_SAMPLE_REC_F_WAIT
 * @object: its word in the recorder's table, with GPROF_SAMPLE_REC_F_OBJECT
 * @ended: end of the object that had the slot before, with GPROF_SAMPLE_REC_F_ENDED
 * @owner: owner of the lock, with GPROF_SAMPLE_REC_F_OWNER
 * @flags: GPROF_SAMPLE_REC_F_*, as far as they are the same for all
 * @without: GPROF_STACK_F_* that would tell nothing of this event, or too much
 * @depth: of nesting, which has its own memory
 * @stack: the stack, in that memory; NULL: nobody has recorded the event yet
 * @taken: with which options @stack was taken; 0: it was not
 *
 * The stack is current's, which has caused the event, also where that is another task's. Else
 * the caller has it from gprof_capture_stack().
 */
struct gprof_capture {
	struct task_struct *task;
	struct pt_regs *regs;
	const struct perf_callchain_entry *chain;
	u64 time;
	u64 addr;
	u64 value;
	struct gprof_task_state state;
	u64 wait;
	u64 object;
	u64 ended;
	const struct gprof_lock_owner *owner;
	u16 flags;
	u16 without;
	unsigned int depth;
	struct gprof_stack *stack;
	u64 taken;
};

/**
 * gprof_capture() - there is an event, which some may want to record
 * @c: where to
 * @regs: registers of current
 * @time: CLOCK_MONOTONIC, or 0: now
 *
 * The event is current's and has no more to it than this, unless the caller sets @c->task,
 * @c->chain or @c->without; or @c->addr, @c->value, @c->wait, @c->state or @c->object with their
 * flag.
 *
 * Costs nothing yet. The first gprof_emit() finds out the part that is the same for all.
 *
 * Context: Any incl. NMI, preemption off until gprof_captured().
 */
static inline void gprof_capture(struct gprof_capture *c, struct pt_regs *regs, u64 time)
{
	c->task = current;
	c->regs = regs;
	c->chain = NULL;
	c->time = time;
	c->flags = 0;
	c->without = 0;
	c->stack = NULL;
}

int gprof_captures_init(void);
void gprof_captures_exit(void);

struct gprof_stack *gprof_scratch_get(void);
void gprof_scratch_put(void);

void gprof_capture_follow(struct gprof_capture *c, struct gprof_scratch *scratch);
struct gprof_stack *gprof_capture_other(struct gprof_capture *c,
					const struct gprof_stack_options *o);
void gprof_capture_end(struct gprof_capture *c);

static inline u16 gprof_context_flags(void)
{
	if (in_nmi())
		return GPROF_SAMPLE_REC_F_NMI;
	return in_hardirq() || in_serving_softirq() ? GPROF_SAMPLE_REC_F_IRQ : 0;
}

static inline u64 gprof_interrupt_ns(void)
{
	return (u64)READ_ONCE(gprof_interrupt_us) * NSEC_PER_USEC;
}

/**
 * gprof_capture_begin() - find out the part that is the same for all recorders of the event
 * @c: capture
 *
 * Context: As gprof_emit().
 * Return: false: interrupts are nested too deep.
 */
static inline bool gprof_capture_begin(struct gprof_capture *c)
{
	struct gprof_scratch *scratch = this_cpu_ptr(gprof_scratches);
	struct gprof_stack *stack;
	u16 context;

	if (unlikely(scratch->depth == GPROF_DEPTH))
		return false;
	c->depth = scratch->depth;
	stack = &scratch->stack[scratch->depth++];
	OPTIMIZER_HIDE_VAR(stack);
	barrier();	/* an interrupt from here on takes the next one */
	c->stack = stack;
	c->taken = 0;
	context = gprof_context_flags();
	c->flags |= context;
	if (!user_mode(c->regs))
		c->flags |= GPROF_SAMPLE_REC_F_KERNEL;
	if (!c->time)
		c->time = ktime_get_mono_fast_ns();
	stack->slow = scratch->mixed;
	stack->until = c->time + gprof_interrupt_ns();
	if (unlikely(c->time < scratch->close))
		gprof_capture_follow(c, scratch);
	scratch->close = c->time + GPROF_CLOSE_NS;
	/* The lock of a run queue may be held. */
	if (unlikely(!context && irqs_disabled()))
		stack->until -= gprof_interrupt_ns() / 8 * 7;
	return true;
}

/**
 * gprof_capture_unwind() - the stack as a recorder wants it
 * @c: capture, which has begun
 * @o: the recorder's options; not those that @c->stack was taken with
 *
 * The stack is walked once for all recorders with the same tables, however they differ
 * besides; and no further once the interrupt has lasted for interrupt_us: the missing part
 * is cut then (GPROF_STACK_END_TIME).
 *
 * Context: As gprof_emit().
 * Return: stack, until the next call or the end of the capture.
 */
static inline struct gprof_stack *gprof_capture_unwind(struct gprof_capture *c,
						       const struct gprof_stack_options *o)
{
	if (unlikely(c->taken | c->stack->slow))
		return gprof_capture_other(c, o);
	gprof_stack_capture(c->stack, o, c->regs, c->chain);
	c->taken = o->word;
	return c->stack;
}

/**
 * gprof_captured() - all recorders that want the event have it
 * @c: capture
 */
static inline void gprof_captured(struct gprof_capture *c)
{
	if (c->stack)
		gprof_capture_end(c);
}

#endif /* GPROF_CAPTURE_H */
