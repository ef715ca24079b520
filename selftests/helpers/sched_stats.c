// SPDX-License-Identifier: GPL-2.0-only
/* sched_stats.c: scheduler statistics without the library. */
#include <errno.h>
#include <string.h>
#include "sched_stats.h"

int sched_setup(struct sched_recorder *r, uint32_t target, int32_t id, uint32_t flags,
		uint32_t hz)
{
	struct gprof_sched_params params = { .size = sizeof(params), .flags = flags, .hz = hz };
	struct gprof_setup setup = {
		.size = sizeof(setup), .kind = GPROF_KIND_SCHED, .target = target, .id = id,
		.params = (uintptr_t)&params,
	};
	int ret;

	r->dev.fd = -1;
	ret = genl_open(&r->genl);
	if (ret)
		return ret;
	ret = device_setup(&r->dev, &setup);
	if (ret)
		genl_close(&r->genl);
	r->id = setup.out_id;
	return ret;
}

static void take_histogram(const struct nlattr *nest, struct sched_histogram *h)
{
	const struct nlattr *a[GENL_ATTRS];
	uint32_t first;
	size_t bytes;

	if (!nest)
		return;
	genl_parse(genl_data(nest), genl_size(nest), a);
	h->count = genl_u64(a[GPROF_A_HISTOGRAM_COUNT]);
	h->sum = genl_u64(a[GPROF_A_HISTOGRAM_SUM]);
	h->largest = genl_u64(a[GPROF_A_HISTOGRAM_LARGEST]);
	first = genl_u32(a[GPROF_A_HISTOGRAM_FIRST]);
	bytes = genl_size(a[GPROF_A_HISTOGRAM_BUCKETS]);
	if (bytes && first * 8 + bytes <= sizeof(h->buckets))
		memcpy(&h->buckets[first], genl_data(a[GPROF_A_HISTOGRAM_BUCKETS]), bytes);
}

int sched_read(struct sched_recorder *r, struct sched_stats *st)
{
	const struct nlattr **a = r->genl.attrs;
	int ret = genl_ask(&r->genl, GPROF_CMD_SCHED_STATS_GET, GPROF_A_SCHED_STATS_ID, r->id);

	if (ret != 1)
		return ret ?: -ENODATA;
	*st = (struct sched_stats){
		.time_ns = genl_u64(a[GPROF_A_SCHED_STATS_TIME_NS]),
		.started_ns = genl_u64(a[GPROF_A_SCHED_STATS_STARTED_NS]),
		.total_exec = genl_u64(a[GPROF_A_SCHED_STATS_TOTAL_TASK_EXEC]),
		.num_exec = genl_u64(a[GPROF_A_SCHED_STATS_NUM_TASK_EXEC]),
		.total_sched = genl_u64(a[GPROF_A_SCHED_STATS_TOTAL_TASK_SCHED]),
		.num_sched = genl_u64(a[GPROF_A_SCHED_STATS_NUM_TASK_SCHED]),
		.total_task = genl_u64(a[GPROF_A_SCHED_STATS_TOTAL_TASK]),
		.num_task = genl_u64(a[GPROF_A_SCHED_STATS_NUM_TASK]),
		.total_faults = genl_u64(a[GPROF_A_SCHED_STATS_TOTAL_FAULTS]),
		.num_faults = genl_u64(a[GPROF_A_SCHED_STATS_NUM_FAULTS]),
		.total_calls = genl_u64(a[GPROF_A_SCHED_STATS_TOTAL_SYS_CALLS]),
		.num_calls = genl_u64(a[GPROF_A_SCHED_STATS_NUM_SYS_CALLS]),
		.max_procs = genl_u64(a[GPROF_A_SCHED_STATS_MAX_PROCS]),
		.num_procs = genl_u64(a[GPROF_A_SCHED_STATS_NUM_PROCS]),
		.total_starts = genl_u64(a[GPROF_A_SCHED_STATS_TOTAL_THREAD_STARTS]),
		.num_threads = genl_u64(a[GPROF_A_SCHED_STATS_NUM_THREADS]),
		.total_switches = genl_u64(a[GPROF_A_SCHED_STATS_TOTAL_SWITCHES]),
		.has_stall = a[GPROF_A_SCHED_STATS_STALL_NS],
		.stall_ns = genl_u64(a[GPROF_A_SCHED_STATS_STALL_NS]),
		.num_samples = genl_u64(a[GPROF_A_SCHED_STATS_NUM_SAMPLES]),
		.hz = genl_u32(a[GPROF_A_SCHED_STATS_SAMPLE_HZ]),
		.missed = genl_u64(a[GPROF_A_SCHED_STATS_MISSED]),
		.faults_missed = genl_u64(a[GPROF_A_SCHED_STATS_FAULTS_MISSED]),
		.doubtful = a[GPROF_A_SCHED_STATS_CLOCK_DOUBTFUL],
	};
	take_histogram(a[GPROF_A_SCHED_STATS_DELAY], &st->delay);
	take_histogram(a[GPROF_A_SCHED_STATS_ON_CPU], &st->on_cpu);
	if (genl_size(a[GPROF_A_SCHED_STATS_SAMPLES]) == sizeof(st->samples))
		memcpy(st->samples, genl_data(a[GPROF_A_SCHED_STATS_SAMPLES]), sizeof(st->samples));
	return 0;
}

void sched_close(struct sched_recorder *r)
{
	if (r->dev.fd < 0)
		return;
	genl_close(&r->genl);
	device_close(&r->dev);
	r->dev.fd = -1;
}
