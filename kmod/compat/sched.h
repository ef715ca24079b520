/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The scheduler.
 *
 * se.sched_delayed: 6.12; a task that sleeps may stay on its run queue for a while.
 * sched_switch has the previous task's state since 5.18. The state in the task itself may
 * be newer, as a waker changes it. Its member was renamed in 5.14.
 * TASK_FROZEN: 6.1; before, PF_FROZEN. TASK_RTLOCK_WAIT: 5.15. PF_POSTCOREDUMP: 5.16.
 * task_newtask has flags of 64 bits since 7.x, and sched_process_exit has the state of the
 * group since then. 5.11 removed the pointer from a return probe's instance to the probe.
 */
#ifndef GPROF_COMPAT_SCHED_H
#define GPROF_COMPAT_SCHED_H

#include <linux/kprobes.h>
#include <linux/sched.h>

/* Tasks that never run in user mode, also with an mm. PF_USER_WORKER: 6.4, io workers too. */
#ifdef PF_USER_WORKER
#define GPROF_PF_WORKER	(PF_KTHREAD | PF_IO_WORKER | PF_USER_WORKER)
#else
#define GPROF_PF_WORKER	(PF_KTHREAD | PF_IO_WORKER)
#endif

/* Is the task, which does not run, runnable? Under its queue's lock. */
static __always_inline bool gprof_task_queued(const struct task_struct *task)
{
#ifdef GPROF_HAVE_SCHED_DELAYED
	if (task->se.sched_delayed)
		return false;
#endif
	return task->on_rq;
}

/* Is it on a CPU, still or already? Under its queue's lock. */
static __always_inline bool gprof_task_on_cpu(const struct task_struct *task)
{
#ifdef CONFIG_SMP
	return READ_ONCE(task->on_cpu);
#else
	return task == current;
#endif
}

#ifdef GPROF_HAVE_TASK_STATE_UNDERSCORES
#define GPROF_TASK_STATE(_task)	READ_ONCE((_task)->__state)
#else
#define GPROF_TASK_STATE(_task)	((unsigned int)READ_ONCE((_task)->state))
#endif

#ifndef TASK_FROZEN
#define TASK_FROZEN		0
#endif
#ifndef TASK_RTLOCK_WAIT
#define TASK_RTLOCK_WAIT	0
#endif

/* Tasks that end, or write a core file, in the middle of any system call. */
#ifdef PF_POSTCOREDUMP
#define GPROF_PF_ENDS	(PF_EXITING | PF_DUMPCORE | PF_POSTCOREDUMP)
#else
#define GPROF_PF_ENDS	(PF_EXITING | PF_DUMPCORE)
#endif

/**
 * gprof_task_frozen() - does the task wait until its cgroup, or the host, is thawed?
 * @task: sleeps, or is about to
 * @state: its state
 *
 * The kernel also sets task->frozen of a stopped task, and of one that waits for its vfork() child.
 *
 * Return: whether it does.
 */
static __always_inline bool gprof_task_frozen(const struct task_struct *task, unsigned int state)
{
#ifdef PF_FROZEN
	if (unlikely(task->flags & PF_FROZEN))
		return true;
#endif
#ifdef CONFIG_CGROUPS
	if (unlikely(task->frozen) && state & TASK_INTERRUPTIBLE)
		return true;
#endif
	return unlikely(state & TASK_FROZEN);
}

/**
 * gprof_state_it_left_in() - the state of a switched-out task before a waker changed it
 * @task: has been switched out
 * @state: state from the switch
 *
 * Return: that state.
 */
static __always_inline unsigned int gprof_state_it_left_in(const struct task_struct *task,
							   unsigned int state)
{
#ifndef GPROF_HAVE_SWITCH_PREV_STATE
	if (state == TASK_WAKING)
		return task->sched_contributes_to_load ? TASK_UNINTERRUPTIBLE : TASK_INTERRUPTIBLE;
#endif
	return state;
}

#ifdef GPROF_HAVE_SWITCH_PREV_STATE
#define GPROF_PREV_STATE	prev_state
#else
#define GPROF_PREV_STATE	GPROF_TASK_STATE(prev)
#endif

#ifdef GPROF_HAVE_SWITCH_PREV_STATE
#define GPROF_SWITCH_ARGS \
	void *data, bool preempt, struct task_struct *prev, struct task_struct *next, \
	unsigned int prev_state
#else
#define GPROF_SWITCH_ARGS \
	void *data, bool preempt, struct task_struct *prev, struct task_struct *next
#endif

#ifdef GPROF_HAVE_CLONE_FLAGS_64
#define GPROF_NEWTASK_ARGS	void *data, struct task_struct *task, u64 clone_flags
#else
#define GPROF_NEWTASK_ARGS	void *data, struct task_struct *task, unsigned long clone_flags
#endif

#ifdef GPROF_HAVE_EXIT_GROUP_DEAD
#define GPROF_EXIT_ARGS		void *data, struct task_struct *task, bool group_dead
#else
#define GPROF_EXIT_ARGS		void *data, struct task_struct *task
#endif

#ifdef CONFIG_KRETPROBES
static __always_inline struct kretprobe *gprof_kretprobe_of(struct kretprobe_instance *ri)
{
#ifdef GPROF_HAVE_GET_KRETPROBE
	return get_kretprobe(ri);
#else
	return ri->rp;
#endif
}
#endif

#endif /* GPROF_COMPAT_SCHED_H */
