// SPDX-License-Identifier: GPL-2.0-only
/*
 * trace_probe: the scheduler's events.
 *
 * A switch is of interest when the next task is of the target, or when the ring says that
 * the running one is: so a task that changes sides while it runs is still seen to stop.
 *
 * The way of a switch and of a waking is counted in instructions.
 */
#include "arch/arch.h"
#include "clock/clock.h"
#include "compat/preempt.h"
#include "compat/sched.h"
#include "task/wait_reason.h"
#include "trace.h"
#include "trace_emit.h"
#include "trigger.h"

#include <linux/gprof.h>
#include <linux/build_bug.h>
#include <linux/kernel.h>
#include <linux/sched/task_stack.h>
#include <asm/unistd.h>

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
	/* Woken already, and nobody knows any more from which sleep. */
	return GPROF_TRACE_PREV_OTHER;
}

/*
 * It would go on. The kernel tells that it was made to stop only where it was in kernel
 * mode; a task that gives way on the way back to user mode has not asked for it either.
 */
static noinline u32 is_yield(struct task_struct *prev)
{
	if (!(prev->flags & PF_KTHREAD) &&
	    gprof_user_call(prev, task_pt_regs(prev)) != __NR_sched_yield)
		return GPROF_TRACE_PREV_PREEMPTED;
	return GPROF_TRACE_PREV_YIELDED;
}

/*
 * Why has @prev stopped? With a signal pending it does not, in any state. @pending:
 * triggers have to let go of a task that has ended.
 */
static __always_inline u32 reason_of(struct gprof_trace *t, struct task_struct *prev, bool preempt,
				     unsigned int state, bool pending)
{
	if (!prev->pid)
		return GPROF_TRACE_PREV_IDLE;
	if (gprof_task_queued(prev))
		return preempt ? GPROF_TRACE_PREV_PREEMPTED : is_yield(prev);
	if (likely(state == TASK_INTERRUPTIBLE))
		return GPROF_TRACE_PREV_SLEEPS;
	/* Nothing on the way from there to the last switch waits for a signal. */
	if (pending && unlikely(READ_ONCE(prev->exit_state)))
		gprof_pending_op_dies(t->triggers, prev);
	return other_reason(state);
}

/*
 * The word of a switch from @prev, which stopped as @arg says. The reason of a wait is in its
 * registers: they are another user's where it has executed a program with other rights.
 */
static __always_inline u32 word_of(struct gprof_trace *t, struct task_struct *prev, u32 arg,
				   unsigned int state, bool all)
{
	if ((arg != GPROF_TRACE_PREV_SLEEPS && arg != GPROF_TRACE_PREV_BLOCKED) ||
	    !(t->flags & GPROF_TRACE_F_REASONS) || (!all && !gprof_trace_has(t, prev)))
		return gprof_trace_word(GPROF_TRACE_SWITCH, arg, 0);
	return gprof_trace_word(GPROF_TRACE_WAIT + (arg == GPROF_TRACE_PREV_BLOCKED),
				gprof_wait_reason(prev, state), 0);
}

/* Tasks that are gone, idle or outside the target have none; one with new rights is checked. */
static __always_inline bool has_blocked_stack(u32 arg)
{
	return arg != GPROF_TRACE_PREV_IDLE && arg != GPROF_TRACE_PREV_DEAD &&
	       arg != GPROF_TRACE_PREV_OTHER;
}

static __always_inline void on_switch(struct gprof_trace *t, bool preempt, struct task_struct *prev,
				      struct task_struct *next, unsigned int state, bool all,
				      bool stacks, bool pending)
{
	struct gprof_trace_cpu *c = this_cpu_ptr(t->cpus);
	bool enters = all || gprof_trace_has(t, next);
	bool ran = all || c->running;
	u32 word, tid, id, arg;
	u64 now;

	if (!enters && !ran) {
		if (pending)
			gprof_pending_op_switch(t->triggers, c, prev, next,
						reason_of(t, prev, preempt, state, true));
		return;
	}
	/* The kernel tells nothing of a CPU that is on its way out, or in. */
	if (ran && unlikely(c->running != prev))
		gprof_trace_desync(c);
	if (ran || pending)
		arg = reason_of(t, prev, preempt, state, pending);
	else
		arg = GPROF_TRACE_PREV_OTHER;
	word = word_of(t, prev, ran ? arg : GPROF_TRACE_PREV_OTHER, state, all);
	now = gprof_clock_ns();
	/* Found again rather than kept meanwhile. */
	c = this_cpu_ptr(t->cpus);
	if (unlikely(!c->buffer)) {
		gprof_trace_no_buffer(t);
		if (pending)
			gprof_pending_op_switch(t->triggers, c, current, next, arg);
		return;
	}
	tid = enters ? next->pid : 0;
	id = tid;
	if (!all && unlikely(t->pid_ns)) {
		id = gprof_pid_in(t->pid_ns, tid);
		c->running_id = id;
		/* Its parent may reap it just now. */
		enters &= id || !tid;
		tid = id ? tid : 0;
	}
	if (!enters)
		word |= gprof_trace_what(word) == GPROF_TRACE_SWITCH ? GPROF_TRACE_NOT_TARGET :
			GPROF_TRACE_WAIT_NOT_TARGET << GPROF_TRACE_ARG_BITS;
	c->running = enters ? next : NULL;
	gprof_trace_emit(t, c, now, word | id << GPROF_TRACE_TID_SHIFT, tid, next);
	if (stacks && ran && has_blocked_stack(arg) && gprof_trace_has(t, current))
		gprof_trace_stack(t, this_cpu_ptr(t->cpus), now, NULL);
	if (!pending)
		return;
	/* A trigger event stands behind the switch that it is about. Prev is current, still. */
	c = this_cpu_ptr(t->cpus);
	if (unlikely(!gprof_pending_op_switch_quick(c, current, next, gprof_since(now) | arg)))
		gprof_pending_op_switch(t->triggers, c, current, next, arg);
}

/*
 * As gprof_trace_has(), of a task that may run elsewhere. Amid an exec it may be another
 * user by now, and the memory that would tell may go away: then it is a task outside the target.
 */
static __always_inline bool has_other(const struct gprof_trace *t, struct task_struct *task)
{
	if (unlikely(task->in_execve) && task != current && !t->whose.target->privileged)
		return false;
	return gprof_trace_has(t, task);
}

/* The id of a task of the target that may run elsewhere; 0: it is a task outside the target. */
static __always_inline u32 id_of_other(const struct gprof_trace *t, struct task_struct *task)
{
	return has_other(t, task) ? gprof_pid_in(t->pid_ns, task->pid) : 0;
}

/* A waker may be a task outside the target, which not everybody may look at. */
static bool can_see_waker(const struct gprof_trace *t)
{
	return current->pid && (t->whose.target->privileged || gprof_trace_has(t, current));
}

static __always_inline void on_waking(struct gprof_trace *t, struct task_struct *task, bool all,
				      bool stacks, bool pending)
{
	u32 by = GPROF_TRACE_BY_TASK, id = all ? task->pid : id_of_other(t, task);
	struct gprof_trace_cpu *c;
	u64 now;

	if (!all && !id)
		return;
	/* Ahead of the rest, which need not be kept meanwhile then. */
	now = gprof_clock_ns();
	c = this_cpu_ptr(t->cpus);
	if (unlikely(!c->buffer)) {
		gprof_trace_no_buffer(t);
		return;
	}
	if (unlikely(gprof_trace_serves_irq())) {
		by = in_hardirq() ? GPROF_TRACE_BY_IRQ : GPROF_TRACE_BY_SOFTIRQ;
		local64_inc(&c->buffer->irq);
	}
	gprof_trace_emit(t, c, now, gprof_trace_word(GPROF_TRACE_WAKING, by, id), 0, NULL);
	if (pending) {
		c->waking = task;
		c->waking_at = now;
	}
	if (stacks && by == GPROF_TRACE_BY_TASK && can_see_waker(t))
		gprof_trace_stack(t, c, now, NULL);
}

/* @_pending: beside triggers on waits */
#define SWITCH(_name, _all, _stacks, _pending)					\
static notrace void _name(void *data, bool preempt, struct task_struct *prev,	\
			  struct task_struct *next, unsigned int state)		\
{										\
	on_switch(data, preempt, prev, next, state, _all, _stacks, _pending);	\
}

#define WAKING(_name, _all, _stacks, _pending)					\
static notrace void _name(void *data, struct task_struct *task)			\
{										\
	on_waking(data, task, _all, _stacks, _pending);				\
}

/* Each pays for its own request alone. */
SWITCH(switch_all, true, false, false)
SWITCH(switch_some, false, false, false)
SWITCH(switch_all_stacks, true, true, false)
SWITCH(switch_some_stacks, false, true, false)
SWITCH(switch_all_pending, true, false, true)
SWITCH(switch_some_pending, false, false, true)
SWITCH(switch_all_stacks_pending, true, true, true)
SWITCH(switch_some_stacks_pending, false, true, true)
WAKING(waking_all, true, false, false)
WAKING(waking_some, false, false, false)
WAKING(waking_all_stacks, true, true, false)
WAKING(waking_some_stacks, false, true, false)
WAKING(waking_all_pending, true, false, true)
WAKING(waking_some_pending, false, false, true)
WAKING(waking_all_stacks_pending, true, true, true)
WAKING(waking_some_stacks_pending, false, true, true)

/* Under the lock of the task or of its queue. */
static void migrate(void *data, struct task_struct *task, int to)
{
	u32 id = id_of_other(data, task);
	struct gprof_trace_event e = {
		.word = gprof_trace_word(GPROF_TRACE_MIGRATE, 0, id),
		.has_operand = true,
		.operand = (u64)task_cpu(task) << 24 | to,
	};

	if (id)
		gprof_trace_write(data, &e);
}

/* In the parent, before the child runs; the kernel has counted it. */
static void newtask(void *data, struct task_struct *task)
{
	struct gprof_trace *t = data;
	u32 id = gprof_pid_in(t->pid_ns, task->pid);
	struct gprof_trace_event e = {
		.word = gprof_trace_word(GPROF_TRACE_FORK, 0, id),
		.stack = GPROF_TRACE_STACKS_FORK,
		.named = task,
	};

	if (id &&
	    (t->only_cpus ? gprof_trace_has(t, current) : gprof_target_inherits(&t->whose, task)))
		gprof_trace_write(t, &e);
}

/*
 * The id that current had before an exec, 0: it is not known. An exec by another thread than the
 * first changes it, and nothing has the former one any more: only the ring may know its value
 * in a namespace.
 */
static u32 former_id(const struct gprof_trace *t, pid_t old_pid)
{
	const struct gprof_trace_cpu *c;
	u32 id = 0;

	if (likely(!t->pid_ns || old_pid == current->pid))
		return gprof_pid_in(t->pid_ns, old_pid);
	preempt_disable();
	c = this_cpu_ptr(t->cpus);
	if (c->running == current)
		id = c->running_id;
	preempt_enable();
	return id;
}

/*
 * Current has another program, another name and perhaps another id and other rights.
 * The task set may or may not have been told yet; amid an exec its rights are asked for.
 */
static void executed(void *data, struct task_struct *task, pid_t old_pid)
{
	struct gprof_trace *t = data;
	struct gprof_trace_event e = {
		.word = gprof_trace_word(GPROF_TRACE_EXEC, 0,
					 gprof_pid_in(t->pid_ns, task->pid)),
		.has_operand = true,
		.operand = former_id(t, old_pid),
		.named = task,
		.rename = true,
	};

	if (gprof_trace_has(t, task))
		gprof_trace_write(t, &e);
	else if (this_cpu_read(t->cpus->running))
		gprof_trace_emit_running(t, true);
}

static void exited(void *data, struct task_struct *task)
{
	struct gprof_trace *t = data;
	struct gprof_trace_event e = {
		.word = gprof_trace_word(GPROF_TRACE_EXIT, 0,
					 gprof_pid_in(t->pid_ns, task->pid)),
	};

	if (gprof_trace_has(t, task))
		gprof_trace_write(t, &e);
}

/* By itself, by another thread of its process, or amid an exec. */
static void renamed(void *data, struct task_struct *task, const char *comm)
{
	struct gprof_trace_event e = { .named = task, .rename = true, .comm = comm };

	if (has_other(data, task))
		gprof_trace_write(data, &e);
}

/* By the request: not all, stacks, states that last. */
static void (*const switches[2][2][2])(void *data, bool preempt, struct task_struct *prev,
				       struct task_struct *next, unsigned int state) = {
	{ { switch_all, switch_all_pending }, { switch_all_stacks, switch_all_stacks_pending } },
	{ { switch_some, switch_some_pending },
	  { switch_some_stacks, switch_some_stacks_pending } },
};

static void (*const wakings[2][2][2])(void *data, struct task_struct *task) = {
	{ { waking_all, waking_all_pending }, { waking_all_stacks, waking_all_stacks_pending } },
	{ { waking_some, waking_some_pending },
	  { waking_some_stacks, waking_some_stacks_pending } },
};

/* Held words come first. */
static notrace void switch_behind(void *data, bool preempt, struct task_struct *prev,
				  struct task_struct *next, unsigned int state)
{
	struct gprof_trace *t = data;

	gprof_trace_release(t);
	t->on_switch(data, preempt, prev, next, state);
}

static notrace void waking_behind(void *data, struct task_struct *task)
{
	struct gprof_trace *t = data;
	unsigned long flags;

	local_irq_save(flags);
	gprof_trace_release(t);
	t->on_waking(data, task);
	local_irq_restore(flags);
}

static void set_subs(struct gprof_trace *t)
{
	bool some = t->whose.target->type != GPROF_TARGET_SYSTEM || t->pid_ns;
	bool blocked = t->stacks & GPROF_TRACE_STACKS_SWITCH;
	bool waker = t->stacks & GPROF_TRACE_STACKS_WAKING;
	bool pending = t->triggers && t->triggers->scans;
	const struct gprof_tp_sub users[] = {
		{ .tp = GPROF_TP_SWITCH,
		  .on_switch = t->min_ns ? switch_behind : switches[some][blocked][pending] },
		{ .tp = GPROF_TP_WAKING,
		  .on_task = t->min_ns ? waking_behind : wakings[some][waker][pending] },
		{ .tp = GPROF_TP_MIGRATE, .on_migrate = migrate },
		{ .tp = GPROF_TP_NEWTASK, .on_task = newtask },
		{ .tp = GPROF_TP_RENAME, .on_rename = renamed },
		{ .tp = GPROF_TP_EXEC, .on_exec = executed },
		{ .tp = GPROF_TP_EXIT, .on_task = exited },
	};
	unsigned int i;

	BUILD_BUG_ON(ARRAY_SIZE(users) != GPROF_TRACE_SUBS);
	t->on_switch = switches[some][blocked][pending];
	t->on_waking = wakings[some][waker][pending];
	for (i = 0; i < ARRAY_SIZE(users); i++) {
		struct gprof_tp_sub *u = &t->subs[i];

		/* Its @left and @has_left stay. */
		u->tp = users[i].tp;
		u->on_switch = users[i].on_switch;
		u->data = t;
		u->tracked_only = t->whose.tgids;
	}
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
	int err;

	set_subs(t);
	err = gprof_tp_subscribe_all(t->subs, GPROF_TRACE_SUBS);
	if (err)
		return err;
	err = gprof_trace_attach_calls(t);
	if (err)
		gprof_tp_unsubscribe_all(t->subs, GPROF_TRACE_SUBS);
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
	gprof_tp_unsubscribe_all(t->subs, GPROF_TRACE_SUBS);
}
