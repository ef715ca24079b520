/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * process: which program run a task belongs to.
 */
#ifndef GPROF_PROCESS_H
#define GPROF_PROCESS_H

#include <linux/gprof.h>
#include <linux/pid.h>
#include <linux/sched.h>

struct task_struct *gprof_leader_otherwise(struct task_struct *task);

/**
 * gprof_process_of() - which program run a task belongs to
 * @process: where to
 * @task: current, or a task that cannot go away
 *
 * Context: Any incl. NMI, preemption off.
 */
static inline void gprof_process_of(struct gprof_process *process, struct task_struct *task)
{
	struct task_struct *leader;

	process->pid = task->tgid;
	process->exec_id = (u32)READ_ONCE(task->self_exec_id);
	/* RCU keeps a leader that exec replaces, as preemption is off. */
	leader = likely(pid_alive(task)) ? READ_ONCE(task->group_leader) :
					   gprof_leader_otherwise(task);
	process->start_ns = leader->start_boottime;
}

static inline bool gprof_same_process(const struct gprof_process *a,
				      const struct gprof_process *b)
{
	return a->start_ns == b->start_ns && a->pid == b->pid && a->exec_id == b->exec_id;
}

#endif /* GPROF_PROCESS_H */
