// SPDX-License-Identifier: GPL-2.0-only
/*
 * trace_probe: the scheduler's events.
 *
 * A switch is of interest when the next task is of the target, or when the ring says that
 * who runs is: so who changes sides while it runs is still seen to stop.
 *
 * The way of a switch and of a waking is counted in instructions.
 */
#include "compat/preempt.h"
#include "compat/sched.h"
#include "trace.h"
#include "tracepoint.h"

#include <linux/gprof.h>
#include <linux/kernel.h>

struct linux_binprm;

/* Not the usual one, TASK_INTERRUPTIBLE. */
static noinline u32 other_reason(unsigned int state)
{
	if (state & TASK_DEAD)
		return GPROF_TRACE_PREV_DEAD;
	if (state & (__TASK_STOPPED | __TASK_TRACED))
		return GPROF_TRACE_PREV_STOPPED;
	/* A thread of the kernel that has nothing to do would only be in a signal's way. */
	if (state & (TASK_INTERRUPTIBLE | TASK_PARKED | TASK_NOLOAD))
		return GPROF_TRACE_PREV_SLEEPS;
	if (state & (TASK_UNINTERRUPTIBLE | TASK_FROZEN | TASK_RTLOCK_WAIT))
		return GPROF_TRACE_PREV_BLOCKED;
	/* Woken already, and nobody knows any more from what. */
	return GPROF_TRACE_PREV_OTHER;
}

/* Why has @prev stopped? With a signal pending it does not, whatever its state was. */
static __always_inline u32 reason_of(struct task_struct *prev, bool preempt, unsigned int state)
{
	if (!prev->pid)
		return GPROF_TRACE_PREV_IDLE;
	if (gprof_task_queued(prev))
		return preempt ? GPROF_TRACE_PREV_PREEMPTED : GPROF_TRACE_PREV_YIELDED;
	return likely(state == TASK_INTERRUPTIBLE) ? GPROF_TRACE_PREV_SLEEPS : other_reason(state);
}

static __always_inline void on_switch(struct gprof_trace *t, bool preempt,
				      struct task_struct *prev, struct task_struct *next,
				      unsigned int state, bool all)
{
	struct gprof_trace_cpu *c = this_cpu_ptr(t->cpus);
	bool enters = all || gprof_trace_has(t, next);
	u32 arg, tid = 0;

	if (!all && !enters && !c->running)
		return;
	if (unlikely(!c->buffer)) {
		gprof_trace_no_buffer(t);
		return;
	}
	if (all || c->running) {
		/* The kernel tells nothing of a CPU that is on its way out, or in. */
		if (unlikely(c->running != prev))
			c->followed = GPROF_TRACE_ASTRAY;
		arg = reason_of(prev, preempt, state);
	} else {
		arg = GPROF_TRACE_PREV_OTHER;
	}
	if (enters)
		tid = next->pid;
	else
		arg |= GPROF_TRACE_STRANGER;
	gprof_trace_emit(t, c, &c->buffer->task, gprof_trace_word(GPROF_TRACE_SWITCH, arg, tid),
			 tid ? next : NULL);
	c->running = enters ? next : NULL;
}

/*
 * As gprof_trace_has(), of a task that may run elsewhere. Amid an exec it may be another
 * user by now, and the memory that would tell may go away: then it is a stranger.
 */
static __always_inline bool has_other(const struct gprof_trace *t, struct task_struct *task)
{
	if (unlikely(task->in_execve) && task != current && !t->whose.target->privileged)
		return false;
	return gprof_trace_has(t, task);
}

static __always_inline void on_waking(struct gprof_trace *t, struct task_struct *task, bool all)
{
	struct gprof_trace_cpu *c = this_cpu_ptr(t->cpus);
	local64_t *context;
	u32 by;

	if (!all && !has_other(t, task))
		return;
	if (unlikely(!c->buffer)) {
		gprof_trace_no_buffer(t);
		return;
	}
	by = in_hardirq() ? GPROF_TRACE_BY_IRQ :
	     in_serving_softirq() ? GPROF_TRACE_BY_SOFTIRQ : GPROF_TRACE_BY_TASK;
	context = by == GPROF_TRACE_BY_TASK ? &c->buffer->task : &c->buffer->irq;
	gprof_trace_emit(t, c, context, gprof_trace_word(GPROF_TRACE_WAKING, by, task->pid), NULL);
}

static void switch_all(GPROF_SWITCH_ARGS)
{
	on_switch(data, preempt, prev, next, GPROF_PREV_STATE, true);
}

static void switch_some(GPROF_SWITCH_ARGS)
{
	on_switch(data, preempt, prev, next, GPROF_PREV_STATE, false);
}

static void waking_all(void *data, struct task_struct *task)
{
	on_waking(data, task, true);
}

static void waking_some(void *data, struct task_struct *task)
{
	on_waking(data, task, false);
}

/* Under the lock of the task or of its queue. */
static void migrate(void *data, struct task_struct *task, int to)
{
	struct gprof_trace_event e = {
		.word = gprof_trace_word(GPROF_TRACE_MIGRATE, 0, task->pid),
		.has_operand = true,
		.operand = (u64)task_cpu(task) << 24 | to,
	};

	if (has_other(data, task))
		gprof_trace_write(data, &e);
}

/* In the parent, before the child runs; the kernel has counted it. */
static void newtask(GPROF_NEWTASK_ARGS)
{
	struct gprof_trace *t = data;
	struct gprof_trace_event e = {
		.word = gprof_trace_word(GPROF_TRACE_FORK, 0, task->pid),
		.named = task,
	};

	preempt_disable_notrace();
	if (t->only_cpus ? gprof_trace_has(t, current) :
			   gprof_inherits_membership(&t->whose, task))
		gprof_trace_write(t, &e);
	preempt_enable_notrace();
}

/*
 * Current has another program, another name and perhaps another id and other rights.
 * The scope may or may not have been told yet; amid an exec its rights are asked for.
 */
static void executed(void *data, struct task_struct *task, pid_t old_pid,
		     struct linux_binprm *bprm)
{
	struct gprof_trace *t = data;
	struct gprof_trace_event e = {
		.word = gprof_trace_word(GPROF_TRACE_EXEC, 0, task->pid),
		.has_operand = true,
		.operand = old_pid,
		.named = task,
		.rename = true,
	};

	preempt_disable_notrace();
	if (gprof_trace_has(t, task))
		gprof_trace_write(t, &e);
	else if (this_cpu_read(t->cpus->running))
		gprof_trace_say_running(t, true);
	preempt_enable_notrace();
}

static void exited(GPROF_EXIT_ARGS)
{
	struct gprof_trace_event e = {
		.word = gprof_trace_word(GPROF_TRACE_EXIT, 0, task->pid),
	};

	preempt_disable_notrace();
	if (gprof_trace_has(data, task))
		gprof_trace_write(data, &e);
	preempt_enable_notrace();
}

/* By itself, by another thread of its process, or amid an exec. */
static void renamed(void *data, struct task_struct *task, const char *comm)
{
	struct gprof_trace_event e = { .named = task, .rename = true, .comm = comm };

	preempt_disable_notrace();
	if (has_other(data, task))
		gprof_trace_write(data, &e);
	preempt_enable_notrace();
}

enum { ALL, SOME, NR_KINDS };

struct probe {
	const char *name;
	void *functions[NR_KINDS];
};

static const struct probe probes[] = {
	{ "sched_switch", { switch_all, switch_some } },
	{ "sched_waking", { waking_all, waking_some } },
	{ "sched_migrate_task", { migrate, migrate } },
	{ "task_newtask", { newtask, newtask } },
	{ "task_rename", { renamed, renamed } },
	{ "sched_process_exec", { executed, executed } },
	{ "sched_process_exit", { exited, exited } },
};

static void *probe_for(const struct gprof_trace *t, const struct probe *p)
{
	return p->functions[t->whose.target->type == GPROF_TARGET_SYSTEM ? ALL : SOME];
}

/* One grace period for all. */
static void detach(struct gprof_trace *t, unsigned int nr)
{
	while (nr--)
		gprof_tracepoint_detach_nowait(probes[nr].name, probe_for(t, &probes[nr]), t);
	gprof_tracepoints_exit();
}

/**
 * gprof_trace_attach() - begin to record
 * @t: trace
 *
 * Context: Task.
 * Return: 0 or a negative errno; nothing is recorded then.
 */
int gprof_trace_attach(struct gprof_trace *t)
{
	unsigned int i;
	int err;

	for (i = 0; i < ARRAY_SIZE(probes); i++) {
		err = gprof_tracepoint_attach(probes[i].name, probe_for(t, &probes[i]), t);
		if (err)
			goto err_detach;
	}
	err = gprof_trace_attach_calls(t);
	if (err)
		goto err_detach;
	return 0;

err_detach:
	detach(t, i);
	return err;
}

/**
 * gprof_trace_detach() - end it; no record is written when it returns
 * @t: trace
 *
 * Context: Task.
 */
void gprof_trace_detach(struct gprof_trace *t)
{
	gprof_trace_detach_calls(t);
	detach(t, ARRAY_SIZE(probes));
}
