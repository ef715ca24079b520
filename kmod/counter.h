/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * counter: perf's counters, attached to whatever a recorder's target is.
 */
#ifndef GPROF_COUNTER_H
#define GPROF_COUNTER_H

#include "task_watch.h"

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/perf_event.h>
#include <linux/types.h>
#include <linux/workqueue.h>

struct gprof_sampler;
struct gprof_stats;
struct gprof_target;

#define GPROF_STRIPPED	64	/* tasks that may wait for a new counter */

/**
 * struct gprof_counters - counters of one event on all of a target
 * @attr: what they count
 * @target: where; outlives this
 * @sampler: who takes the samples; outlives this
 * @with_idle: the idle task belongs to the target
 * @user_only: overflows in kernel mode are no samples, though they are counted
 * @addr: record the data address
 * @lock: protects all below; taken inside the recorder's lock
 * @tasks: list of struct attached_task
 * @by_cpu: counter of each CPU, for targets made of CPUs
 * @attached: number of counters
 * @count: events of counters that are gone
 * @enabled: their time, ns
 * @running: their time on the PMU, ns
 * @node: in the list of those that follow CPUs going on and off
 * @refresh: attaches to CPUs that came, and again to tasks that lost their counter
 * @came: CPUs that came since the last refresh
 * @watch: tells of tasks that inherited a counter, or lost it by an exec
 * @stripped: ids of such processes, 0: free
 * @start_boottime: CLOCK_BOOTTIME at START, ns
 */
struct gprof_counters {
	struct perf_event_attr attr;
	const struct gprof_target *target;
	struct gprof_sampler *sampler;
	bool with_idle;
	bool user_only;
	bool addr;

	struct mutex lock;		/* protects the members below */
	struct list_head tasks;
	struct perf_event **by_cpu;
	u32 attached;
	u64 count;
	u64 enabled;
	u64 running;

	struct list_head node;
	struct work_struct refresh;
	cpumask_var_t came;
	struct gprof_task_watch watch;
	atomic_t stripped[GPROF_STRIPPED];
	u64 start_boottime;
};

int gprof_counter_hotplug_init(void);
void gprof_counter_hotplug_exit(void);

struct gprof_counters *gprof_counters_new(const struct perf_event_attr *attr,
					  const struct gprof_target *target,
					  struct gprof_sampler *sampler);
int gprof_counters_try(struct gprof_counters *c);

/* These four fit struct gprof_source, whose state is then struct gprof_counters. */
int gprof_counters_start(void *state, u32 *attached);
void gprof_counters_stop(void *state);
void gprof_counters_stats(void *state, struct gprof_stats *stats);
void gprof_counters_destroy(void *state);

#endif /* GPROF_COUNTER_H */
