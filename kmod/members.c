// SPDX-License-Identifier: GPL-2.0-only
/*
 * members: which processes belong to a target, while they fork, execute and end.
 *
 * As with perf's inherited counters: a process belongs when it is the target, or
 * when a process that belonged forked it. Its children from before START do not.
 *
 * A process is known by its signal_struct, which its threads share and which an
 * exec leaves as it is. It is freed with the last of its tasks, and that is told
 * before (sched_process_free), so no other process can come to its address
 * while it is in the table. The target's own is kept by the reference on its
 * task.
 *
 * Probes must not allocate (PREEMPT_RT forbids it where preemption is off), so
 * that each set has members in spare, which a worker makes.
 *
 * Lock: members_lock is a raw spinlock, innermost; interrupts are off under it.
 */
#include "members.h"
#include "memlock.h"
#include "target.h"

#include <linux/gprof.h>
#include <linux/minmax.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#define SPARE	256	/* processes that may be forked before the worker has run */

struct hlist_head gprof_member_table[1 << GPROF_MEMBER_BITS];

/* Protects the table and every set's lists against writers. */
static DEFINE_RAW_SPINLOCK(members_lock);

static struct gprof_member *find(struct gprof_members *set, const struct task_struct *task)
{
	struct gprof_member *m;

	hlist_for_each_entry(m, gprof_member_bucket(task), node) {
		if (m->set == set && gprof_member_is(m, task))
			return m;
	}
	return NULL;
}

/* Under members_lock. Returns false when there is no spare member. */
static bool add(struct gprof_members *set, const struct task_struct *task, bool waiting)
{
	struct gprof_member *m = list_first_entry_or_null(&set->spare, struct gprof_member, own);

	if (!m)
		return false;
	set->nr_spare--;
	list_move(&m->own, &set->all);
	m->set = set;
	m->group = task->signal;
	m->task = set->target->type == GPROF_TARGET_THREAD ? task : NULL;
	m->waiting = waiting;
	/* Last: its timer then finds the others running, and joins them. */
	hlist_add_tail_rcu(&m->node, gprof_member_bucket(task));
	return true;
}

/* Under members_lock; to be freed by kfree_rcu() after it. */
static void drop(struct gprof_member *m)
{
	hlist_del_rcu(&m->node);
	list_del(&m->own);
}

static int make_spare(struct gprof_members *set, unsigned int nr)
{
	struct gprof_member *m;

	while (READ_ONCE(set->nr_spare) < nr) {
		m = kzalloc(sizeof(*m), GFP_KERNEL_ACCOUNT);
		if (!m)
			return -ENOMEM;
		raw_spin_lock_irq(&members_lock);
		list_add(&m->own, &set->spare);
		WRITE_ONCE(set->nr_spare, set->nr_spare + 1);
		raw_spin_unlock_irq(&members_lock);
	}
	return 0;
}

static void refill(struct work_struct *work)
{
	/* When there is no memory now, the next fork asks again. */
	make_spare(container_of(work, struct gprof_members, refill), SPARE);
}

static unsigned int nr_spare_of(const struct gprof_target *t)
{
	return t->type == GPROF_TARGET_PROCESS ? SPARE : 1;
}

/**
 * gprof_members_bytes() - memory that a set takes, for the charge
 * @t: its target
 *
 * What is taken for processes that are forked later is bounded by their number.
 *
 * Context: Task.
 */
u64 gprof_members_bytes(const struct gprof_target *t)
{
	if (!gprof_target_is_tasks(t))
		return 0;
	return nr_spare_of(t) * gprof_memory_of(sizeof(struct gprof_member));
}

/**
 * gprof_members_init() - a set without members
 * @set: where to
 * @target: made of tasks; outlives it
 *
 * Context: Task.
 */
void gprof_members_init(struct gprof_members *set, const struct gprof_target *target)
{
	set->target = target;
	INIT_LIST_HEAD(&set->all);
	INIT_LIST_HEAD(&set->spare);
	INIT_WORK(&set->refill, refill);
}

/**
 * gprof_members_enter() - take the target in
 * @set: set without members
 * @nr_tasks: gets the number of its threads
 *
 * Forks must be told to gprof_members_forked() already.
 *
 * Context: Task.
 * Return: 0; -ESRCH: it has ended; -EPERM: not for the owner; -ENOMEM; -EINTR: the
 * caller is being killed.
 */
int gprof_members_enter(struct gprof_members *set, u32 *nr_tasks)
{
	const struct gprof_target *t = set->target;
	int ret = make_spare(set, nr_spare_of(t));

	if (ret)
		return ret;
	ret = gprof_target_hold(t);
	if (ret)
		return ret;
	ret = gprof_target_threads(t);
	if (ret > 0) {
		raw_spin_lock_irq(&members_lock);
		add(set, t->task, t->on_exec);
		raw_spin_unlock_irq(&members_lock);
		*nr_tasks = ret;
	}
	gprof_target_release(t);
	return min(ret, 0);
}

static void free_list(struct list_head *list)
{
	struct gprof_member *m, *next;

	list_for_each_entry_safe(m, next, list, own)
		kfree_rcu(m, rcu);
	INIT_LIST_HEAD(list);
}

/**
 * gprof_members_leave() - let all members go
 * @set: set of which no probe is told any more
 *
 * Readers of the table may see them for one more grace period.
 *
 * Context: Task.
 */
void gprof_members_leave(struct gprof_members *set)
{
	struct gprof_member *m;

	cancel_work_sync(&set->refill);
	raw_spin_lock_irq(&members_lock);
	list_for_each_entry(m, &set->all, own)
		hlist_del_rcu(&m->node);
	raw_spin_unlock_irq(&members_lock);
	free_list(&set->all);
	free_list(&set->spare);
	set->nr_spare = 0;
}

/**
 * gprof_members_forked() - current has forked a task
 * @set: set
 * @child: has not run yet
 *
 * Context: Preemption off.
 * Return: false: it belongs, but there was no spare member for it.
 */
bool gprof_members_forked(struct gprof_members *set, const struct task_struct *child)
{
	struct gprof_member *parent;
	unsigned long flags;
	bool added = true, short_of = false;

	if (child->signal == current->signal || set->target->type == GPROF_TARGET_THREAD)
		return true;
	raw_spin_lock_irqsave(&members_lock, flags);
	parent = find(set, current);
	if (parent) {
		added = add(set, child, parent->waiting);
		short_of = set->nr_spare < SPARE / 2;
	}
	raw_spin_unlock_irqrestore(&members_lock, flags);
	if (short_of)
		schedule_work(&set->refill);
	return added;
}

/**
 * gprof_members_executed() - current has executed a program
 * @set: set
 *
 * Who is not privileged loses a task that has become more than the owner.
 *
 * Context: Preemption off.
 * Return: does current belong now where it did not, or the other way round?
 */
bool gprof_members_executed(struct gprof_members *set)
{
	bool lost = !gprof_current_allowed(set->target->owner);
	struct gprof_member *m;
	unsigned long flags;
	bool changed = false;

	raw_spin_lock_irqsave(&members_lock, flags);
	m = find(set, current);
	if (m && lost) {
		drop(m);
		changed = true;
	} else if (m) {
		changed = m->waiting;
		WRITE_ONCE(m->waiting, false);
		m = NULL;
	}
	raw_spin_unlock_irqrestore(&members_lock, flags);
	if (m)
		kfree_rcu(m, rcu);
	return changed;
}

/**
 * gprof_members_freed() - a task has ended for good
 * @set: set
 * @task: of a process that may have other tasks
 *
 * Context: Any but NMI.
 */
void gprof_members_freed(struct gprof_members *set, const struct task_struct *task)
{
	struct gprof_member *m;
	unsigned long flags;

	/* Others may run still, or be on their way out. */
	if (atomic_read(&task->signal->live))
		return;
	raw_spin_lock_irqsave(&members_lock, flags);
	hlist_for_each_entry(m, gprof_member_bucket(task), node) {
		if (m->set == set && m->group == task->signal) {
			drop(m);
			break;
		}
	}
	raw_spin_unlock_irqrestore(&members_lock, flags);
	if (m)
		kfree_rcu(m, rcu);
}
