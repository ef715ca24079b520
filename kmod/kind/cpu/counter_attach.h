/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * counter_attach: counters on all of a target of any type.
 */
#ifndef GPROF_COUNTER_ATTACH_H
#define GPROF_COUNTER_ATTACH_H

#include "counter.h"

#include <linux/atomic.h>
#include <linux/cpumask.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#define GPROF_NR_LOST_ON_EXEC	64	/* tasks that may wait for a new counter */

/**
 * struct gprof_counts - counts of counters
 * @count: events
 * @enabled: time that they were enabled, ns
 * @running: time that they ran on the PMU, ns
 */
struct gprof_counts {
	u64 count;
	u64 enabled;
	u64 running;
};

/**
 * struct gprof_attached - the events of one counter on all of a target
 * @counter: the counted event, and its consumers
 * @target: of all of them; that of a recorder that is among them
 * @lock: protects the members that follow, and the counter; taken inside the recorder's lock
 * @tasks: list of struct attached_task
 * @by_cpu: event of each CPU, for targets made of CPUs
 * @nr: number of events
 * @gone: counts of events that are gone
 * @over: the last recorder has left, or is leaving; none may join
 * @closed: none may join, since it would get events of processes forked before it came
 * @node: in the list of those that follow CPUs going on and off
 * @refresh: attaches to CPUs that came, and again to tasks that lost their event
 * @came: CPUs that came since the last refresh
 * @lost_on_exec: ids of such processes, 0: free
 * @list: in the list of those that can be joined
 * @refs: recorders, and readers
 */
struct gprof_attached {
	struct gprof_counter counter;
	const struct gprof_target *target;

	struct mutex lock;		/* protects the members below */
	struct list_head tasks;
	struct perf_event **by_cpu;
	u32 nr;
	struct gprof_counts gone;
	bool over;
	bool closed;

	struct list_head node;
	struct work_struct refresh;
	cpumask_var_t came;
	atomic_t lost_on_exec[GPROF_NR_LOST_ON_EXEC];

	struct list_head list;
	refcount_t refs;
};

int gprof_counter_attach_init(void);
void gprof_counter_attach_exit(void);

struct gprof_attached *gprof_attached_new(const struct gprof_counter_spec *spec);
void gprof_attached_free(struct gprof_attached *a);

int gprof_attached_begin(struct gprof_attached *a);
void gprof_attached_end(struct gprof_attached *a);
void gprof_attached_flush(struct gprof_attached *a);
struct gprof_counts gprof_attached_read(struct gprof_attached *a);

void gprof_attached_close(struct gprof_attached *a);
void gprof_attached_forked(struct gprof_attached *a, struct task_struct *child);
void gprof_attached_executed(struct gprof_attached *a);

#endif /* GPROF_COUNTER_ATTACH_H */
