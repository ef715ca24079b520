/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tasks.
 *
 * May the task's owner dump and trace it? A property of the mm until some 7.x,
 * then of a structure of its own that exec replaces.
 */
#ifndef GPROF_COMPAT_TASK_H
#define GPROF_COMPAT_TASK_H

#include <linux/sched.h>
#include <linux/sched/coredump.h>
#include <linux/sched/task.h>

#ifdef GPROF_HAVE_EXEC_STATE
#include <linux/sched/exec_state.h>

/* Under RCU; @mm is that of @task. */
static inline bool gprof_task_dumpable(struct task_struct *task, struct mm_struct *mm)
{
	struct task_exec_state *state = rcu_dereference(task->exec_state);

	return state && READ_ONCE(state->dumpable) == TASK_DUMPABLE_OWNER;
}
#else
static inline bool gprof_task_dumpable(struct task_struct *task, struct mm_struct *mm)
{
	return get_dumpable(mm) == SUID_DUMP_USER;
}
#endif

#endif /* GPROF_COMPAT_TASK_H */
