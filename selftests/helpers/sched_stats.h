/* SPDX-License-Identifier: GPL-2.0-only */
/* sched_stats.h: a recorder of scheduler statistics, and what it has counted. */
#ifndef GPROF_TEST_SCHED_STATS_H
#define GPROF_TEST_SCHED_STATS_H

#include <stdint.h>
#include "device.h"
#include "genl.h"

struct sched_histogram {
	uint64_t count, sum, largest;
	uint64_t buckets[GPROF_HISTOGRAM_BUCKETS];
};

/* As GPROF_A_SCHED_STATS_*, without what no test looks at. */
struct sched_stats {
	uint64_t time_ns, started_ns;
	uint64_t total_exec, num_exec;
	uint64_t total_sched, num_sched;
	uint64_t total_task, num_task;
	uint64_t total_faults, num_faults;
	uint64_t total_calls, num_calls;
	uint64_t max_procs, num_procs;
	uint64_t total_starts, num_threads;
	uint64_t total_switches;
	uint64_t stall_ns;
	uint64_t num_samples;
	uint32_t hz;
	uint64_t missed;
	uint64_t faults_missed;
	bool doubtful;
	bool has_stall;
	struct sched_histogram delay, on_cpu;
	uint64_t samples[GPROF_SCHED_SAMPLES];
};

struct sched_recorder {
	struct device dev;
	uint64_t id;
	struct genl genl;
};

/* All return 0 or -errno. */
int sched_setup(struct sched_recorder *r, uint32_t target, int32_t id, uint32_t flags,
		uint32_t hz);
int sched_read(struct sched_recorder *r, struct sched_stats *st);
void sched_close(struct sched_recorder *r);

#endif
