/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tracked: might this be a task of anybody's target? One bit for each number of a
 * process, so that tasks outside the target, which most are, pay for no more than its test, for any
 * number of recorders and any size of their targets.
 */
#ifndef GPROF_TRACKED_H
#define GPROF_TRACKED_H

#include <linux/bitops.h>
#include <linux/sched.h>
#include <linux/types.h>

/* Made before the first process is added; stays, since its readers have no lock. */
extern unsigned long *gprof_tracked_tgids;

int gprof_tracked_init(void);
void gprof_tracked_exit(void);
void gprof_tracked_add(pid_t tgid);
void gprof_tracked_forget(pid_t tgid);
void gprof_tracked_set_callback(void (*forgotten)(void));

/**
 * gprof_tracked() - might the task be of a target?
 * @task: task
 *
 * True from when its process is added, for all that happens afterwards to the adding task
 * or to tasks that it wakes; false again some time after it was forgotten, and not before all
 * tasks that ran, or waited for a CPU, amid their end have given it up.
 *
 * Context: Any; gprof_tracked_init() was called.
 */
static __always_inline bool gprof_tracked(const struct task_struct *task)
{
	/* After the list that sends us here, also for the compiler: see gprof_tracked_init(). */
	return test_bit(task->tgid, READ_ONCE(gprof_tracked_tgids));
}

#endif /* GPROF_TRACKED_H */
