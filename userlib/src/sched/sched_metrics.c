// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * sched_metrics.c: names of scheduler statistics, and where in a reading they are.
 */
#include <errno.h>
#include <gprof/sched_stats.h>
#include <string.h>

#include "base/error.h"

#define NR(a)		(sizeof(a) / sizeof((a)[0]))
#define OFFSET(member)	offsetof(struct gprof_sched_stats, member)
#define SIZE(member)	sizeof(((struct gprof_sched_stats *)0)->member)
#define AT(member)	{ OFFSET(member), SIZE(member), 0 }
/* There only when @has says so. */
#define IF(has, member)	{ OFFSET(member), SIZE(member), OFFSET(has) }

static const struct gprof_sched_metric metrics[] = {
	{ "total_task_exec", GPROF_METRIC_COUNTER, "count", true,
	  "Times a task was switched in." },
	{ "num_task_exec", GPROF_METRIC_GAUGE, "count", true, "Tasks on a CPU." },
	{ "total_task_sched", GPROF_METRIC_COUNTER, "count", true,
	  "Times a task became runnable." },
	{ "num_task_sched", GPROF_METRIC_GAUGE, "count", true,
	  "Runnable tasks that wait for a CPU." },
	{ "total_task", GPROF_METRIC_COUNTER, "count", true, "Tasks created." },
	{ "num_task", GPROF_METRIC_GAUGE, "count", true, "Tasks alive." },
	{ "total_faults", GPROF_METRIC_COUNTER, "count", true, "User page faults." },
	{ "num_faults", GPROF_METRIC_GAUGE, "count", true, "Tasks in a user page fault." },
	{ "total_sys_calls", GPROF_METRIC_COUNTER, "count", true, "System calls entered." },
	{ "num_sys_calls", GPROF_METRIC_GAUGE, "count", true,
	  "Tasks in a system call that was entered since counting began." },
	{ "max_procs", GPROF_METRIC_GAUGE, "count", true, "CPUs that the target may use." },
	{ "num_procs", GPROF_METRIC_GAUGE, "count", true, "CPUs online." },
	{ "total_thread_starts", GPROF_METRIC_COUNTER, "count", false,
	  "Times a CPU left idle for a task." },
	{ "num_threads", GPROF_METRIC_GAUGE, "count", false, "CPUs that are not idle." },
	{ "total_switches", GPROF_METRIC_COUNTER, "count", true, "Times a task left a CPU." },
	{ "stall_ns", GPROF_METRIC_COUNTER, "nanoseconds", true,
	  "Time in which at least one task waited for a CPU." },
	{ "sched_delay_ns", GPROF_METRIC_SAMPLES, "nanoseconds", true,
	  "Sampled delays from runnable to running." },
	{ "num_samples", GPROF_METRIC_COUNTER, "count", true, "Delays that were sampled." },
	{ "sample_hz", GPROF_METRIC_GAUGE, "hertz", true,
	  "Delays that are sampled in a second at most." },
	{ "missed", GPROF_METRIC_COUNTER, "count", false, "Delays that were not measured." },
	{ "faults_missed", GPROF_METRIC_COUNTER, "count", false,
	  "User page faults of any task that were not counted." },
	{ "delay_ns", GPROF_METRIC_HISTOGRAM, "nanoseconds", true,
	  "Delays from runnable to running." },
	{ "on_cpu_ns", GPROF_METRIC_HISTOGRAM, "nanoseconds", true,
	  "Times from switched in to switched out." },
};

/* In the order of the metrics. */
static const struct {
	size_t offset;
	size_t size;
	size_t has;
} places[] = {
	AT(total_task_exec), AT(num_task_exec),
	AT(total_task_sched), AT(num_task_sched),
	AT(total_task), AT(num_task),
	IF(has_faults, total_faults), IF(has_faults, num_faults),
	IF(has_sys_calls, total_sys_calls), IF(has_sys_calls, num_sys_calls),
	AT(max_procs), AT(num_procs),
	AT(total_thread_starts), AT(num_threads),
	AT(total_switches), IF(has_stall, stall_ns),
	AT(sched_delay_ns), AT(num_samples), AT(sample_hz), AT(missed),
	IF(has_faults, faults_missed),
	AT(delay), AT(on_cpu),
};

_Static_assert(NR(metrics) == NR(places), "a place for each metric");

size_t gprof_sched_metrics(const struct gprof_sched_metric **m)
{
	*m = metrics;
	return NR(metrics);
}

int gprof_sched_stats_get(const struct gprof_sched_stats *st, const char *name,
			  struct gprof_sched_value *value)
{
	const char *base = (const char *)st;
	size_t i;

	for (i = 0; i < NR(metrics); i++)
		if (!strcmp(metrics[i].name, name))
			break;
	/* Beyond the end of the caller's struct, it is a metric that the caller cannot know. */
	if (i == NR(metrics) || places[i].offset + places[i].size > st->sz)
		return gprof_error_set(NULL, ENOENT, "there are no statistics \"%s\"", name);
	if (places[i].has && !*(const bool *)(base + places[i].has))
		return gprof_error_set(NULL, ENODATA, "%s was not counted", name);
	*value = (struct gprof_sched_value){ .metric = &metrics[i] };
	switch (metrics[i].type) {
	case GPROF_METRIC_COUNTER:
	case GPROF_METRIC_GAUGE:
		value->number = *(const uint64_t *)(base + places[i].offset);
		break;
	case GPROF_METRIC_SAMPLES:
		value->samples = (const uint64_t *)(base + places[i].offset);
		break;
	case GPROF_METRIC_HISTOGRAM:
		value->histogram = (const struct gprof_histogram *)(base + places[i].offset);
		break;
	}
	return 0;
}
