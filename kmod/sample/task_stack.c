// SPDX-License-Identifier: GPL-2.0-only
/*
 * task_stack: how a task is at one instant, and with which stack.
 *
 * A stack is told only where its task has kept still for as long as it was looked at:
 *
 * - A task that waits is woken under its pi_lock. A reader that holds that, and sees that
 *   the task waits and has left its CPU, has it stand still, and can read kernel and user
 *   stack as if it had been stopped.
 * - A task that waits for a CPU may get one at any time. It is read all the same, and
 *   the stack counts if it has not run since. It cannot end meanwhile, as a task takes
 *   its own pi_lock on the way to its end, so that its stack is there.
 * - A task that runs is interrupted, and looks at itself.
 *
 * A task that changes from one into another meanwhile is looked at again; one that does so
 * each time is told without a stack.
 */
#include "task_stack.h"
#include "compat/sched.h"
#include "sampler.h"
#include "target/target.h"
#include "unwind/stack.h"

#include <asm/irq_regs.h>
#include <linux/gprof.h>
#include <linux/perf_event.h>
#include <linux/sched/clock.h>
#include <linux/sched/prio.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/smp.h>
#include <linux/timekeeping.h>

#define TRIES	16

enum outcome {
	TOLD,
	DENIED,	/* it may not be recorded */
	MOVED,	/* another look is needed */
	RUNS,	/* on a CPU */
};

/*
 * How often it has left a CPU. The scheduler counts that before it clears on_cpu; how often a
 * task got a CPU it counts after it has set on_cpu.
 */
static unsigned long times_left(const struct task_struct *task)
{
	return READ_ONCE(task->nvcsw) + READ_ONCE(task->nivcsw);
}

static u8 state_of(unsigned int state)
{
	if (state & TASK_DEAD)
		return GPROF_TASK_DEAD;
	if (state & (__TASK_STOPPED | __TASK_TRACED))
		return GPROF_TASK_STOPPED;
	if ((state & TASK_IDLE) == TASK_IDLE)
		return GPROF_TASK_IDLE;
	if (state & TASK_INTERRUPTIBLE)
		return GPROF_TASK_SLEEPS;
	if (state & (TASK_UNINTERRUPTIBLE | TASK_RTLOCK_WAIT))
		return GPROF_TASK_BLOCKED;
	return GPROF_TASK_OTHER;
}

#ifdef CONFIG_SCHED_INFO
static bool is_fair(const struct task_struct *task)
{
	int policy = READ_ONCE(task->policy);

	return task->prio >= MAX_RT_PRIO && (policy == SCHED_NORMAL || policy == SCHED_BATCH ||
					     policy == SCHED_IDLE);
}

/*
 * For how long it has been as it is. The scheduler notes when a task got its CPU, and when it
 * began to wait for one; when it left the CPU follows from how long it ran, which only
 * the fair classes know of the last time alone.
 */
static void set_since(struct gprof_task_state *st, const struct task_struct *task)
{
	u64 arrived = READ_ONCE(task->sched_info.last_arrival);
	u64 queued = READ_ONCE(task->sched_info.last_queued);
	u64 now = cpu_clock(task_cpu(task)), since = arrived;

	if (st->state == GPROF_TASK_RUNNABLE) {
		since = queued;
	} else if (st->state != GPROF_TASK_RUNNING) {
		if (is_fair(task))
			since += READ_ONCE(task->se.sum_exec_runtime) -
				 READ_ONCE(task->se.prev_sum_exec_runtime);
		else
			st->flags |= GPROF_TASK_F_AT_MOST;
	}
	/* A new task has not arrived yet. */
	if (since && arrived | queued)
		st->since_ns = (s64)(now - since) > 0 ? now - since : 1;
}
#else
static void set_since(struct gprof_task_state *st, const struct task_struct *task)
{
}
#endif

static void begin_state(struct gprof_task_state *st, const struct task_struct *task, u8 state)
{
	*st = (struct gprof_task_state){ .state = state, .cpu = task_cpu(task) };
	set_since(st, task);
}

/* ---- a task that runs ---- */

struct visit {
	struct task_struct *task;
	const struct gprof_target *target;
	struct gprof_sampler *sampler;
	enum outcome outcome;
};

/* Interrupt, or a call with interrupts off where it is the caller's own CPU. */
static void capture_self(void *data)
{
	struct gprof_capture capture __uninitialized;
	struct pt_regs *regs = get_irq_regs(), own;
	struct visit *v = data;

	v->outcome = MOVED;
	if (current != v->task)
		return;
	v->outcome = DENIED;
	if (!gprof_task_seems_allowed(current, v->target->owner))
		return;
	if (!regs) {
		regs = &own;
		perf_fetch_caller_regs(regs);
		gprof_arch_caller_regs(regs);
	}
	gprof_capture(&capture, regs, 0);
	capture.flags = GPROF_SAMPLE_REC_F_STATE;
	begin_state(&capture.state, current, GPROF_TASK_RUNNING);
	gprof_emit(&capture, v->sampler, 1);
	gprof_captured(&capture);
	v->outcome = TOLD;
}

static enum outcome visit(struct task_struct *task, const struct gprof_target *target,
			  struct gprof_sampler *sampler)
{
	struct visit v = { task, target, sampler, MOVED };

	/* A CPU that has gone has nobody on it. */
	if (smp_call_function_single(task_cpu(task), capture_self, &v, 1))
		return MOVED;
	return v.outcome;
}

/* ---- a task that does not ---- */

/*
 * Under its pi_lock: how is it? In this order: a task that is on no queue, and then on no
 * CPU, has gone to sleep for as long as nobody wakes it.
 */
static enum outcome judge(struct task_struct *task, const struct gprof_target *target,
			  struct gprof_task_state *st)
{
	bool queued = gprof_task_queued(task);
	unsigned int state;

	smp_rmb();	/* pairs with the barriers of a switch, as in try_to_wake_up() */
	if (gprof_task_on_cpu(task))
		return RUNS;
	smp_rmb();	/* it had left its CPU before its stack is read: pairs with finish_task() */
	state = GPROF_TASK_STATE(task);
	if (state & TASK_DEAD) {
		/* Without credentials to ask for, and without anything to hide. */
		begin_state(st, task, GPROF_TASK_DEAD);
		return TOLD;
	}
	/* A task that may begin to run may also end, and its mm be freed, but for the held one. */
	if (!gprof_task_in_mm_seems_allowed(task, current->mm, target->owner))
		return DENIED;
	if (queued || state == TASK_RUNNING || state & (TASK_WAKING | TASK_NEW))
		begin_state(st, task, GPROF_TASK_RUNNABLE);
	else
		begin_state(st, task, state_of(state));
	return TOLD;
}

/* The stack of a task that could have run was read: has the task kept still? */
static bool kept_still(const struct task_struct *task, const struct gprof_task_state *st,
		       unsigned long times)
{
	if (st->state != GPROF_TASK_RUNNABLE)
		return true;
	smp_rmb();	/* pairs with the barriers of a switch: it is said to run before */
	if (gprof_task_on_cpu(task))
		return false;
	smp_rmb();	/* pairs with finish_task(), behind the count of switches */
	return times_left(task) == times;
}

static enum outcome capture_task(struct task_struct *task, const struct gprof_target *target,
				 const struct gprof_sampler *sampler, struct gprof_capture *capture)
{
	unsigned long times, flags;
	enum outcome outcome;

	raw_spin_lock_irqsave(&task->pi_lock, flags);
	times = times_left(task);
	smp_rmb();	/* the count before the state: pairs with finish_task() */
	outcome = judge(task, target, &capture->state);
	if (outcome == TOLD) {
		capture->time = ktime_get_mono_fast_ns();
		if (capture->state.state == GPROF_TASK_DEAD)
			gprof_stack_capture_none(capture->stack, task);
		else
			gprof_stack_capture_task(capture->stack, &sampler->options, task);
		if (!kept_still(task, &capture->state, times))
			outcome = MOVED;
	}
	raw_spin_unlock_irqrestore(&task->pi_lock, flags);
	return outcome;
}

/* @last: it is told, even if it has not kept still. */
static enum outcome capture_and_emit(struct task_struct *task, const struct gprof_target *target,
				     struct gprof_sampler *sampler, bool last)
{
	struct gprof_capture capture __uninitialized;
	enum outcome outcome = MOVED;
	struct pt_regs regs;

	preempt_disable();
	perf_fetch_caller_regs(&regs);
	gprof_capture(&capture, &regs, 0);
	capture.task = task;
	capture.flags = GPROF_SAMPLE_REC_F_STATE;
	if (!gprof_capture_stack(&capture, sampler))
		goto out;
	outcome = capture_task(task, target, sampler, &capture);
	if (last && (outcome == MOVED || outcome == RUNS)) {
		gprof_stack_capture_none(capture.stack, task);
		begin_state(&capture.state, task, GPROF_TASK_RUNNABLE);
		capture.state.flags |= GPROF_TASK_F_UNSTABLE;
		outcome = TOLD;
	}
	if (outcome == TOLD)
		gprof_emit(&capture, sampler, 1);
	gprof_captured(&capture);
out:
	preempt_enable();
	return outcome;
}

/**
 * gprof_task_stack() - tell how a task is, and with which stack, as a sample
 * @task: task, to which a reference is held
 * @target: on whose behalf
 * @sampler: where to
 *
 * Current is to have borrowed its mm, if it has one: else its user frames are not told, and
 * nothing at all where the owner is not privileged.
 *
 * Context: Task, of the kernel.
 * Return: whether it was told; else it may not be recorded.
 */
bool gprof_task_stack(struct task_struct *task, const struct gprof_target *target,
		      struct gprof_sampler *sampler)
{
	enum outcome outcome = MOVED;
	unsigned int i;

	for (i = 0; i < TRIES && (outcome == MOVED || outcome == RUNS); i++) {
		outcome = capture_and_emit(task, target, sampler, i == TRIES - 1);
		if (outcome == RUNS)
			outcome = visit(task, target, sampler);
	}
	return outcome == TOLD;
}
