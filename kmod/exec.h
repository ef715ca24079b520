/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * exec: tell who wants to know that a task has executed a program.
 */
#ifndef GPROF_EXEC_H
#define GPROF_EXEC_H

#include <linux/list.h>
#include <linux/types.h>

/**
 * struct gprof_exec_watch - someone who wants to know
 * @executed: called with current past its exec, preemption off, under RCU
 * @node: in the list of watches
 */
struct gprof_exec_watch {
	void (*executed)(struct gprof_exec_watch *w);
	struct list_head node;
};

int gprof_exec_watch(struct gprof_exec_watch *w);
void gprof_exec_unwatch(struct gprof_exec_watch *w);

#endif /* GPROF_EXEC_H */
