/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * target_match: whose event is this? For sources that ask at every switch: a bit for each
 * process, which task_set.c keeps; or the task's cgroup.
 */
#ifndef GPROF_TARGET_MATCH_H
#define GPROF_TARGET_MATCH_H

#include "target.h"
#include "task/cgroups.h"

#include <linux/bitops.h>
#include <linux/sched.h>

/**
 * struct gprof_target_match - which tasks belong to a target
 * @tgids: processes, by id, where the target is made of tasks; else NULL
 * @thread: the only thread of them that is meant, or NULL
 * @cgroup: whose tasks, with descendants; NULL: all
 * @target: the target
 */
struct gprof_target_match {
	unsigned long *tgids;
	const struct task_struct *thread;
	struct cgroup *cgroup;
	const struct gprof_target *target;
};

/**
 * gprof_target_matches() - does a task belong to the target?
 * @m: target match
 * @task: current, or a task that does not run and cannot begin to
 *
 * Amid an exec it may have other rights by now, of which the task set is told at its end.
 *
 * Context: Any but NMI.
 */
static inline bool gprof_target_matches(const struct gprof_target_match *m,
					struct task_struct *task)
{
	bool matches;

	if (m->tgids) {
		if (!test_bit(task->tgid, m->tgids) || unlikely(m->thread && m->thread != task))
			return false;
		return likely(!task->in_execve) ||
		       gprof_task_seems_allowed(task, m->target->owner);
	}
	if (!m->cgroup)
		return true;
	rcu_read_lock();
	matches = gprof_cgroup_has(m->cgroup, task);
	rcu_read_unlock();
	return matches;
}

/**
 * gprof_target_inherits() - does a task that current has made belong?
 * @m: target match
 * @child: has not run yet; it may not be told to the task set yet
 *
 * Context: Task.
 */
static inline bool gprof_target_inherits(const struct gprof_target_match *m,
					 struct task_struct *child)
{
	if (!m->tgids)
		return gprof_target_matches(m, child);
	return !m->thread && gprof_target_matches(m, current);
}

#endif /* GPROF_TARGET_MATCH_H */
