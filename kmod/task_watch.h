/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * task_watch: tell who wants to know that a task was forked, has executed a
 * program, or has ended.
 */
#ifndef GPROF_TASK_WATCH_H
#define GPROF_TASK_WATCH_H

#include <linux/list.h>
#include <linux/types.h>

struct task_struct;

/**
 * struct gprof_task_watch - someone who wants to know
 * @forked: called in the parent; @child has not run yet
 * @executed: called with current past its exec
 * @freed: called with a task that has ended and been reaped, before it is freed, in
 *	task or softirq context; or NULL
 * @node: in the list of watches
 *
 * All are called with preemption off and under RCU.
 */
struct gprof_task_watch {
	void (*forked)(struct gprof_task_watch *w, struct task_struct *child);
	void (*executed)(struct gprof_task_watch *w);
	void (*freed)(struct gprof_task_watch *w, struct task_struct *task);
	struct list_head node;
};

int gprof_task_watch(struct gprof_task_watch *w);
void gprof_task_unwatch(struct gprof_task_watch *w);

#endif /* GPROF_TASK_WATCH_H */
