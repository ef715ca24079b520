/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * attach: counters on all of a target, whatever it is made of.
 */
#ifndef GPROF_ATTACH_H
#define GPROF_ATTACH_H

#include "counter.h"
#include "scope.h"

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/types.h>
#include <linux/workqueue.h>

struct gprof_charge;
struct gprof_stats;

#define GPROF_STRIPPED	64	/* tasks that may wait for a new counter */

/**
 * struct gprof_counters - counters of one event on all of a target
 * @spec: what they count; also the context of their handler
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
 * @scope: tells of tasks that inherited a counter, or lost it by an exec
 * @stripped: ids of such processes, 0: free
 */
struct gprof_counters {
	struct gprof_counter_spec spec;

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
	struct gprof_scope scope;
	atomic_t stripped[GPROF_STRIPPED];
};

int gprof_attach_init(void);
void gprof_attach_exit(void);

struct gprof_counters *gprof_counters_new(const struct gprof_counter_spec *spec,
					  struct gprof_charge *charge);

/* These four fit struct gprof_source, whose state is then struct gprof_counters. */
int gprof_counters_start(void *state, u32 *attached);
void gprof_counters_stop(void *state);
void gprof_counters_stats(void *state, struct gprof_stats *stats);
void gprof_counters_destroy(void *state);

#endif /* GPROF_ATTACH_H */
