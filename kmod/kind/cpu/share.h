/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * share: a recorder's counters, which it may share with others.
 */
#ifndef GPROF_SHARE_H
#define GPROF_SHARE_H

#include "attach.h"
#include "target/scope.h"

struct gprof_charge;
struct gprof_stats;

/**
 * struct gprof_counters - a recorder's part of counters
 * @taker: its request
 * @attached: the events, while it is started; probes read it too
 * @before: their counts when it joined
 * @counts: counts for it until it left, each time
 * @scope: tells of tasks that inherited an event, or lost it by an exec
 */
struct gprof_counters {
	struct gprof_taker taker;
	struct gprof_attached *attached;
	struct gprof_counts before;
	struct gprof_counts counts;
	struct gprof_scope scope;
};

u64 gprof_counters_bytes(const struct gprof_target *target);
struct gprof_counters *gprof_counters_new(const struct gprof_counter_spec *spec,
					  struct gprof_charge *charge);

/* These four fit struct gprof_source, whose state is then struct gprof_counters. */
int gprof_counters_start(void *state, u32 *attached);
void gprof_counters_stop(void *state);
void gprof_counters_stats(void *state, struct gprof_stats *stats);
void gprof_counters_destroy(void *state);

#endif /* GPROF_SHARE_H */
