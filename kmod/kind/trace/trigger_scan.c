// SPDX-License-Identifier: GPL-2.0-only
/*
 * trigger_scan: looks for states that go on, so that they fire before they have ended.
 *
 * The work item goes by the address of tasks that it finds. It holds RCU, and a task is freed a
 * grace period after its last switch, which has cleared its place, if no earlier one has: see
 * gprof_pending_op_dies(). No task ends on a CPU that is not online, of which the kernel does
 * not tell.
 */
#include "compat/sched.h"
#include "target/target.h"
#include "triggers.h"

#include <linux/cpumask.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/timekeeping.h>

#define SCAN_NS		(250 * NSEC_PER_MSEC)

/**
 * gprof_pending_op_has_other() - is a task of the target that may run elsewhere?
 * @g: triggers
 * @task: task; may even begin an exec there, of which the memory that would tell its rights
 *	may go away: then it is a task outside the target
 *
 * Context: Any but NMI.
 */
bool gprof_pending_op_has_other(const struct gprof_triggers *g, struct task_struct *task)
{
	const struct gprof_trace *t = g->trace;

	if (!task->pid || !gprof_trace_can_name(t, task))
		return false;
	if (t->only_cpus)
		return cpumask_test_cpu(task_cpu(task), t->only_cpus);
	if (!t->whose.tgids)
		return gprof_target_matches(&t->whose, task);
	if (task->in_execve && !t->whose.target->privileged)
		return false;
	return test_bit(task->tgid, t->whose.tgids) &&
	       (!t->whose.thread || t->whose.thread == task);
}

/**
 * struct going_on - a state that seems to last
 * @word: where its time is
 * @since: that time
 * @off: when the task left its CPU, of a wait
 */
struct going_on {
	u64 *word;
	u64 since;
	u64 off;
};

static void find_wait(struct gprof_pending_op *l, enum gprof_pending_op_kind kind,
		      struct going_on *w)
{
	w->off = READ_ONCE(l->since[GPROF_PENDING_OFF_CPU]);
	w->word = &l->since[GPROF_PENDING_OFF_CPU];
	w->since = w->off;
	if (kind == GPROF_PENDING_BLOCKED && !gprof_blocked_since_it_left(w->off))
		w->since = 0;
	if (kind != GPROF_PENDING_DELAY || gprof_waits_since_it_left(w->off))
		return;
	w->word = &l->since[GPROF_PENDING_DELAY];
	w->since = gprof_pending_op_waits_since(l, w->off);
}

/*
 * Is it off the CPU since then? Asked after the time was taken up to which it is. Of those
 * that are bound to a CPU that is gone nobody was told when they left it.
 */
static bool is_off_since(const struct gprof_pending_op *l, const struct task_struct *task, u64 off)
{
	smp_rmb();	/* Pairs with nothing: the clock was read before. */
	if (gprof_task_on_cpu(task) || !cpu_online(task_cpu(task)))
		return false;
	/* Before that it was told to leave. */
	smp_rmb();	/* pairs with smp_store_release() in finish_task() */
	return READ_ONCE(l->since[GPROF_PENDING_OFF_CPU]) == off;
}

/* Sets the bit of a trigger in a time, if it still is that. */
static bool mark_reported(struct going_on *w, u32 index)
{
	u64 marked = w->since | gprof_since_fired(index);

	if (cmpxchg(w->word, w->since, marked) != w->since)
		return false;
	w->since = marked;
	return true;
}

static void scan_kind(struct gprof_triggers *g, unsigned int at, struct task_struct *task,
		      enum gprof_pending_op_kind kind)
{
	struct gprof_pending_op *l = &g->pending_ops[at];
	bool wait = kind < GPROF_PENDING_SYSCALL;
	/* Pairs with smp_store_release() in gprof_pending_op_begins(). */
	struct going_on w = { .word = &l->since[kind], .since = smp_load_acquire(&l->since[kind]) };
	/* Of a later call only where that time is gone by now, which mark_reported() sees. */
	s32 number = kind == GPROF_PENDING_SYSCALL ? READ_ONCE(l->number) : GPROF_TRIGGER_ANY;
	unsigned int i;
	u64 now, ns;

	if (wait)
		find_wait(l, kind, &w);
	now = gprof_since(ktime_get_mono_fast_ns());
	if (!gprof_pending_op_is_long(g, kind, w.since, now))
		return;
	if (wait && !is_off_since(l, task, w.off))
		return;
	ns = gprof_since_duration(w.since, now) >> GPROF_SINCE_SHIFT;
	for (i = 0; i < g->nr; i++) {
		struct gprof_trigger_rule *r = &g->rules[i];

		if (r->what != kind + 1 || w.since & gprof_since_fired(r->index) ||
		    ns <= r->threshold_ns ||
		    gprof_trigger_spares(r, task) ||
		    (r->number != GPROF_TRIGGER_ANY && r->number != number))
			continue;
		/* Still this task's? Then so is the time, or it is not that any more. */
		if (gprof_pending_op_task_at(g, at) != task || !mark_reported(&w, r->index))
			return;
		gprof_trigger_fire(r, task, ns, number, GPROF_TRIGGER_EVENT_F_GOES_ON);
	}
}

static void scan_at(struct gprof_triggers *g, unsigned int at)
{
	struct task_struct *task;
	unsigned int kind;

	rcu_read_lock();
	task = gprof_pending_op_task_at(g, at);
	if (task && gprof_pending_op_has_other(g, task)) {
		for (kind = 0; kind < GPROF_PENDING_NR; kind++)
			scan_kind(g, at, task, kind);
	}
	rcu_read_unlock();
}

/**
 * gprof_pending_op_scan() - look for states that go on, at all noted ones
 * @e: of triggers
 * @awaited: unused
 *
 * Context: Task.
 * Return: when to look again; U64_MAX: when it is called.
 */
u64 gprof_pending_op_scan(struct gprof_work *e, bool awaited)
{
	struct gprof_triggers *g = container_of(e, struct gprof_triggers, scan);
	u64 next = U64_MAX;
	unsigned int at;

	mutex_lock(&g->scanning);
	if (g->started) {
		for (at = 0; at < 1U << g->bits; at++) {
			if (gprof_pending_op_task_at(g, at))
				scan_at(g, at);
			if (!(at & 255))
				cond_resched();
		}
		next = ktime_get_mono_fast_ns() + SCAN_NS;
	}
	mutex_unlock(&g->scanning);
	return next;
}
