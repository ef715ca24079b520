/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * counter_share: a recorder's counters, which it may share with others.
 */
#ifndef GPROF_COUNTER_SHARE_H
#define GPROF_COUNTER_SHARE_H

#include "counter_attach.h"
#include "target/task_set.h"

struct gprof_charge;
struct gprof_stats;

/**
 * struct gprof_counters - a recorder's part of counters
 * @consumer: its request
 * @attached: the events, while it is started; probes read it too
 * @before: their counts when it joined
 * @counts: counts for it until it left, each time
 * @task_set: tells of tasks that inherited an event, or lost it by an exec
 */
struct gprof_counters {
	struct gprof_consumer consumer;
	struct gprof_attached *attached;
	struct gprof_counts before;
	struct gprof_counts counts;
	struct gprof_task_set task_set;
};

u64 gprof_counters_bytes(const struct gprof_target *target);
struct gprof_counters *gprof_counters_new(const struct gprof_counter_spec *spec,
					  struct gprof_charge *charge);

/* These four fit struct gprof_source_ops, whose state is then struct gprof_counters. */
int gprof_counters_start(void *state, u32 *attached);
void gprof_counters_stop(void *state);
void gprof_counters_stats(void *state, struct gprof_stats *stats);
void gprof_counters_destroy(void *state);

#endif /* GPROF_COUNTER_SHARE_H */
