/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tasks.
 *
 * Whether the task's owner may dump and trace it is a property of the mm until some 7.x,
 * then of a structure of its own, which exec replaces.
 *
 * An exec changes the task's properties under signal->exec_update_lock: since 5.11, and in
 * stable kernels with its backport; before, a mutex.
 */
#ifndef GPROF_COMPAT_TASK_H
#define GPROF_COMPAT_TASK_H

#include <linux/sched.h>
#include <linux/sched/coredump.h>
#include <linux/sched/signal.h>
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

/* Returns 0, or -EINTR when the caller is being killed. */
static inline int gprof_exec_lock(struct signal_struct *signal)
{
#ifdef GPROF_HAVE_EXEC_UPDATE_LOCK
	return down_read_killable(&signal->exec_update_lock);
#else
	return mutex_lock_killable(&signal->exec_update_mutex);
#endif
}

static inline bool gprof_exec_trylock(struct signal_struct *signal)
{
#ifdef GPROF_HAVE_EXEC_UPDATE_LOCK
	return down_read_trylock(&signal->exec_update_lock);
#else
	return mutex_trylock(&signal->exec_update_mutex);
#endif
}

static inline void gprof_exec_unlock(struct signal_struct *signal)
{
#ifdef GPROF_HAVE_EXEC_UPDATE_LOCK
	up_read(&signal->exec_update_lock);
#else
	mutex_unlock(&signal->exec_update_mutex);
#endif
}

#endif /* GPROF_COMPAT_TASK_H */
