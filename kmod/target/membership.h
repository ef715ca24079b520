/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * membership: whose event is this? For sources that ask at every switch: a bit for each
 * process, which scope.c keeps; or the task's cgroup.
 */
#ifndef GPROF_MEMBERSHIP_H
#define GPROF_MEMBERSHIP_H

#include "target.h"
#include "task/cgroups.h"

#include <linux/bitops.h>
#include <linux/sched.h>

/**
 * struct gprof_membership - which tasks belong to a target
 * @tgids: processes, by id, where the target is made of tasks; else NULL
 * @thread: the only thread of them that is meant, or NULL
 * @cgroup: whose tasks, with descendants; NULL: all
 * @target: the target
 */
struct gprof_membership {
	unsigned long *tgids;
	const struct task_struct *thread;
	struct cgroup *cgroup;
	const struct gprof_target *target;
};

/**
 * gprof_is_member() - does a task belong to the target?
 * @m: membership
 * @task: current, or a task that does not run and cannot begin to
 *
 * Amid an exec it may have other rights by now, of which the scope is told at its end.
 *
 * Context: Any but NMI.
 */
static __always_inline bool gprof_is_member(const struct gprof_membership *m,
					    struct task_struct *task)
{
	bool member;

	if (m->tgids) {
		if (!test_bit(task->tgid, m->tgids) || unlikely(m->thread && m->thread != task))
			return false;
		return likely(!task->in_execve) ||
		       gprof_task_seems_allowed(task, m->target->owner);
	}
	if (!m->cgroup)
		return true;
	rcu_read_lock();
	member = gprof_cgroup_has(m->cgroup, task);
	rcu_read_unlock();
	return member;
}

/**
 * gprof_inherits_membership() - does a task that current has made belong?
 * @m: membership
 * @child: has not run yet; it may not be told to the scope yet
 *
 * Context: Task.
 */
static inline bool gprof_inherits_membership(const struct gprof_membership *m,
					     struct task_struct *child)
{
	if (!m->tgids)
		return gprof_is_member(m, child);
	return !m->thread && gprof_is_member(m, current);
}

#endif /* GPROF_MEMBERSHIP_H */
