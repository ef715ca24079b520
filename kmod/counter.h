/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * counter: one kernel counter of perf, whose overflows become samples.
 */
#ifndef GPROF_COUNTER_H
#define GPROF_COUNTER_H

#include <linux/perf_event.h>
#include <linux/types.h>

struct gprof_sampler;
struct gprof_target;
struct task_struct;

/**
 * struct gprof_counter_spec - what a counter counts, and who takes the samples
 * @attr: for perf; inherit, disabled and enable_on_exec are set by
 *	gprof_counter_create()
 * @target: whose events are samples
 * @sampler: who takes them
 * @with_idle: the idle task belongs to the target
 * @user_only: overflows in kernel mode are no samples, though they are counted
 * @addr: record the data address
 */
struct gprof_counter_spec {
	struct perf_event_attr attr;
	const struct gprof_target *target;
	struct gprof_sampler *sampler;
	bool with_idle;
	bool user_only;
	bool addr;
};

enum gprof_enable {
	GPROF_NOW,
	GPROF_ON_EXEC,
	GPROF_NEVER,
};

struct perf_event *gprof_counter_create(struct gprof_counter_spec *c, int cpu,
					struct task_struct *task, enum gprof_enable enable);
int gprof_counter_try(struct gprof_counter_spec *c);

#endif /* GPROF_COUNTER_H */
