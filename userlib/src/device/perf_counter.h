/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * perf_counter.h: perf's own counters of a cgroup, which a module cannot make.
 */
#ifndef GPROF_PERF_COUNTER_H
#define GPROF_PERF_COUNTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/own_fd.h"
#include "pmu.h"

/**
 * struct gprof_perf_counter - one event of one cgroup
 * @fds: a counter for each CPU that was online
 * @nr: how many
 */
struct gprof_perf_counter {
	struct gprof_own_fd *fds;
	size_t nr;
};

/**
 * struct gprof_perf_count - a reading of counters
 * @count: events
 * @enabled: ns that they were to count
 * @running: ns that they did
 */
struct gprof_perf_count {
	uint64_t count;
	uint64_t enabled;
	uint64_t running;
};

/**
 * gprof_perf_counter_open() - make the counters, which do not count yet
 * @c: result for gprof_perf_counter_close(), also on failure
 * @event: event to count
 * @cgroup: descriptor of a cgroup v2 directory
 * @kernel: count the kernel too
 * @name: of the event, for the sentence
 * @e: sentence
 *
 * Return: 0 or -errno; -EPERM where the caller may not.
 */
int gprof_perf_counter_open(struct gprof_perf_counter *c, const struct gprof_pmu_event *event,
			    int cgroup, bool kernel, const char *name, struct gprof_error *e);
void gprof_perf_counter_close(struct gprof_perf_counter *c);

/** gprof_perf_counter_enable() - count, or stop counting; 0 or -errno */
int gprof_perf_counter_enable(struct gprof_perf_counter *c, bool on);

/** gprof_perf_counter_read() - since it was made; 0 or -errno */
int gprof_perf_counter_read(const struct gprof_perf_counter *c, struct gprof_perf_count *sum);

#endif /* GPROF_PERF_COUNTER_H */
