/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * counter: a kernel counter of perf, whose overflows become samples of all recorders that
 * ask for it.
 */
#ifndef GPROF_COUNTER_H
#define GPROF_COUNTER_H

#include "probe/subsample.h"

#include <linux/list.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/rcupdate.h>
#include <linux/types.h>

struct gprof_filter;
struct gprof_sampler;
struct gprof_target;
struct task_struct;

/**
 * struct gprof_counter_spec - the request of a recorder
 * @attr: for perf; inherit, disabled and enable_on_exec are set by
 *	gprof_counter_create(); sample_period is the recorder's
 * @target: whose events are samples
 * @sampler: takes them
 * @filter: which of a tracepoint's hits are events; outlives it. NULL: all. Another one
 *	does not keep recorders from sharing the counter
 * @passed: is told of each hit that passes @filter, in place of @sampler, with preemption
 *	off and from any context; NULL: they are samples
 * @ctx: passed on to it
 * @with_idle: the idle task belongs to the target
 * @user_only: overflows in kernel mode are no samples, though they are counted
 */
struct gprof_counter_spec {
	struct perf_event_attr attr;
	const struct gprof_target *target;
	struct gprof_sampler *sampler;
	const struct gprof_filter *filter;
	void (*passed)(void *ctx);
	void *ctx;
	bool with_idle;
	bool user_only;
};

/**
 * struct gprof_counter_share - how large a part of the overflows a recorder takes
 * @subsampling: with which probability
 * @number: of @subsampling, another one each time
 * @rcu: for freeing
 */
struct gprof_counter_share {
	struct gprof_subsampling subsampling;
	u32 number;
	struct rcu_head rcu;
};

/**
 * struct gprof_consumer - a recorder, as the handler of a counter sees it
 * @node: in the counter's list; read under RCU
 * @spec: its request
 * @since: number of the counter's change by which it came
 * @share: while the counter is faster than it asked for; read under RCU. NULL, or for
 *	another period than an overflow's: each is decided on its own
 * @subsample: on each CPU
 */
struct gprof_consumer {
	struct list_head node;
	struct gprof_counter_spec spec;
	u64 since;
	struct gprof_counter_share __rcu *share;
	struct gprof_subsample __percpu *subsample;
};

/**
 * struct gprof_counter - the part that recorders share; the context of the handler
 * @attr: for perf; sample_period is the shortest that a consumer wants
 * @inherit: forked tasks are counted too
 * @changes: how often consumers came
 * @consumers: list of struct gprof_consumer; read under RCU
 */
struct gprof_counter {
	struct perf_event_attr attr;
	bool inherit;
	u64 changes;
	struct list_head consumers;
};

enum gprof_enable {
	GPROF_NOW,
	GPROF_ON_EXEC,
	GPROF_NEVER,
};

/* How often the counter has to overflow for it: a filter is to see each event. */
static inline u64 gprof_consumer_pace(const struct gprof_consumer *t)
{
	return t->spec.filter ? 1 : t->spec.attr.sample_period;
}

struct perf_event *gprof_counter_create(struct gprof_counter *c, int cpu,
					struct task_struct *task, enum gprof_enable enable);
void gprof_counter_flush(struct gprof_counter *c, struct perf_event *event);
int gprof_counter_try(struct gprof_counter_spec *c);

#endif /* GPROF_COUNTER_H */
