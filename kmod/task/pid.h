/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pid: ids of tasks, as the pid namespace of a recorder's opener has them.
 *
 * Ids within the module are those of the initial namespace; they are translated for records
 * alone.
 */
#ifndef GPROF_PID_H
#define GPROF_PID_H

#include <linux/compiler.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>

static noinline u32 __maybe_unused gprof_pid_translate(struct pid_namespace *ns, u32 id)
{
	u32 other;

	rcu_read_lock();
	other = pid_nr_ns(find_pid_ns(id, &init_pid_ns), ns);
	rcu_read_unlock();
	return other;
}

/**
 * gprof_pid_in() - the id of a task or a process in another pid namespace
 * @ns: namespace; NULL: the initial one
 * @id: id in the initial one, of a task that is not released meanwhile
 *
 * Context: Any incl. NMI.
 * Return: id; 0: it has none there, or has been released.
 */
static inline u32 gprof_pid_in(struct pid_namespace *ns, u32 id)
{
	return likely(!ns) ? id : gprof_pid_translate(ns, id);
}

/* That of current, with a reference for gprof_pid_ns_put(); NULL: the initial one. */
static inline struct pid_namespace *gprof_pid_ns_get(void)
{
	struct pid_namespace *ns = task_active_pid_ns(current);

	return ns == &init_pid_ns ? NULL : get_pid_ns(ns);
}

static inline void gprof_pid_ns_put(struct pid_namespace *ns)
{
	if (ns)
		put_pid_ns(ns);
}

#endif /* GPROF_PID_H */
