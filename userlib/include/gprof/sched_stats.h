/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * gprof/sched_stats.h: counters of the scheduler for a thread, a process, a cgroup or the whole
 * host, cheap enough to be always on.
 *
 *	struct gprof_sched_config cfg = {
 *		.sz = sizeof(cfg), .target = { GPROF_SYSTEM }, .sample_hz = 100,
 *	};
 *	struct gprof_sched *s = gprof_sched_stats_new(&cfg);
 *	struct gprof_sched_stats st = { .sz = sizeof(st) };
 *
 *	if (!s || gprof_sched_stats_read(s, &st))
 *		fprintf(stderr, "%s\n", gprof_error());
 *	else
 *		printf("%" PRIu64 " switches\n", st.total_switches);
 *	gprof_sched_stats_free(s);
 *
 * The shape is that of SchedStats, ReadSchedStats, GetMetric and
 * SetSchedulerProfileRate proposed for Go's runtime (golang/go 15490), with
 * tasks for goroutines and CPUs for procs.
 *
 * Totals are counted, never sampled, and since open; the kernel counts only while statistics are
 * open. Errors and growth are as in gprof/recorder.h.
 *
 * Threads. Statistics are used by one thread at a time; a reading is the caller's
 * own. Fork. A child shares the socket that the module is asked through: one of the
 * two has to leave the statistics alone, and counting ends when both have closed
 * them.
 */
#ifndef GPROF_SCHED_STATS_H
#define GPROF_SCHED_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <gprof/histogram.h>
#include <gprof/recorder.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gprof_sched;

/* flags of struct gprof_sched_config; the first two slow down every task, and need CAP_PERFMON */
#define GPROF_SCHED_SYS_CALLS	(1U << 0)	/* count system calls */
#define GPROF_SCHED_FAULTS	(1U << 1)	/* count user page faults */
#define GPROF_SCHED_STALL	(1U << 2)	/* time in which some task waited */

/**
 * struct gprof_sched_config - target and options
 * @sz: sizeof(struct gprof_sched_config)
 * @target: a thread, a process, a cgroup or the system, not CPUs. Of a process: all threads that
 *	it has now, and all they fork from now on.
 * @sample_hz: delays to sample in a second; 0: none
 * @flags: GPROF_SCHED_*
 */
struct gprof_sched_config {
	size_t sz;
	struct gprof_target target;
	unsigned int sample_hz;
	unsigned int flags;
};

#define GPROF_SCHED_DELAYS	256

/**
 * struct gprof_sched_stats - a reading
 * @sz: sizeof(struct gprof_sched_stats), set by the caller
 * @time_ns: when this was read; CLOCK_MONOTONIC. @stall_ns at that moment, all else
 *	soon before or after
 * @started_ns: since when is counted
 * @total_task_exec: times a task was switched in
 * @num_task_exec: tasks on a CPU
 * @total_task_sched: times a task became runnable
 * @num_task_sched: runnable tasks that wait for a CPU
 * @total_task: tasks created
 * @num_task: tasks alive
 * @total_faults: user page faults; 0 unless @has_faults
 * @num_faults: tasks in one; 0 unless @has_faults
 * @total_sys_calls: system calls entered; 0 unless @has_sys_calls
 * @num_sys_calls: tasks in one; 0 unless @has_sys_calls
 * @max_procs: CPUs that the target may use
 * @num_procs: CPUs online
 * @total_thread_starts: times a CPU left idle for a task (unstable)
 * @num_threads: CPUs that are not idle (unstable)
 * @total_switches: times a task left a CPU; of the system all switches, as ctxt
 *	in /proc/stat
 * @stall_ns: time in which at least one task waited for a CPU; 0 unless @has_stall
 * @num_samples: delays that were sampled
 * @sample_hz: rate of that
 * @missed: delays that were not measured (unstable)
 * @has_faults: page faults are counted
 * @has_sys_calls: system calls are counted
 * @clock_doubtful: times are not to be trusted, as the CPUs' clocks disagree;
 *	counts are
 * @has_stall: the stall is counted
 * @sched_delay_ns: sampled delays from runnable to running, the most recent at
 *	[(num_samples + 255) % 256]
 * @delay: every delay from runnable to running, ns
 * @on_cpu: every time from switched in to switched out, ns
 * @faults_missed: user page faults, of any task, that were not counted, for too many were under
 *	way: @total_faults is too small by so many at most (unstable); 0 unless @has_faults
 *
 * No total ever becomes smaller, nor smaller than a part of it.
 */
struct gprof_sched_stats {
	size_t sz;
	uint64_t time_ns;
	uint64_t started_ns;
	uint64_t total_task_exec;
	uint64_t num_task_exec;
	uint64_t total_task_sched;
	uint64_t num_task_sched;
	uint64_t total_task;
	uint64_t num_task;
	uint64_t total_faults;
	uint64_t num_faults;
	uint64_t total_sys_calls;
	uint64_t num_sys_calls;
	uint64_t max_procs;
	uint64_t num_procs;
	uint64_t total_thread_starts;
	uint64_t num_threads;
	uint64_t total_switches;
	uint64_t stall_ns;
	uint64_t num_samples;
	uint64_t sample_hz;
	uint64_t missed;
	bool has_faults;
	bool has_sys_calls;
	bool clock_doubtful;
	bool has_stall;
	uint64_t sched_delay_ns[GPROF_SCHED_DELAYS];
	struct gprof_histogram delay;
	struct gprof_histogram on_cpu;
	uint64_t faults_missed;
};

/**
 * gprof_sched_stats_new() - count from now on
 * @cfg: configuration; copied
 *
 * The system, cgroups, others' tasks, GPROF_SCHED_SYS_CALLS and GPROF_SCHED_FAULTS need
 * CAP_PERFMON.
 *
 * Return: statistics for gprof_sched_stats_free(), or NULL with errno.
 */
GPROF_API struct gprof_sched *gprof_sched_stats_new(const struct gprof_sched_config *cfg);

/**
 * gprof_sched_stats_read() - read all counters at once
 * @s: from gprof_sched_stats_new()
 * @st: where to; @st->sz must be set
 *
 * Return: 0 or -errno. The statistics of a process that has ended stay readable.
 */
GPROF_API int gprof_sched_stats_read(struct gprof_sched *s, struct gprof_sched_stats *st);

/**
 * gprof_sched_profile_rate_set() - sample more or fewer delays from now on
 * @s: from gprof_sched_stats_new()
 * @hz: delays in a second; 0: none
 *
 * Return: 0 or -errno; -EINVAL above 100000.
 */
GPROF_API int gprof_sched_profile_rate_set(struct gprof_sched *s, unsigned int hz);

/** gprof_sched_stats_free() - count no more; NULL is fine */
GPROF_API void gprof_sched_stats_free(struct gprof_sched *s);

/* Kinds of metrics. */
enum gprof_metric_type {
	GPROF_METRIC_COUNTER,	/* a number that only grows */
	GPROF_METRIC_GAUGE,	/* a number as it is now */
	GPROF_METRIC_SAMPLES,	/* the last values, GPROF_SCHED_DELAYS of them */
	GPROF_METRIC_HISTOGRAM,	/* all values, in buckets */
};

/**
 * struct gprof_sched_metric - a metric by name
 * @name: such as "total_task_exec"
 * @type: kind of metric
 * @unit: "count", "nanoseconds" or "hertz"
 * @stable: keeps its name and meaning in all versions to come; the others may
 *	change or go as schedulers do
 * @help: its meaning, as a sentence
 */
struct gprof_sched_metric {
	const char *name;
	enum gprof_metric_type type;
	const char *unit;
	bool stable;
	const char *help;
};

/** gprof_sched_metrics() - all metrics, in the order of the struct; returns their number */
GPROF_API size_t gprof_sched_metrics(const struct gprof_sched_metric **metrics);

/**
 * struct gprof_sched_value - a metric's value in one reading
 * @metric: which
 * @number: of a counter or gauge
 * @samples: of the samples, GPROF_SCHED_DELAYS of them, else NULL
 * @histogram: of a histogram, else NULL
 *
 * Pointers lead into the reading. Closed.
 */
struct gprof_sched_value {
	const struct gprof_sched_metric *metric;
	uint64_t number;
	const uint64_t *samples;
	const struct gprof_histogram *histogram;
};

/**
 * gprof_sched_stats_get() - look a metric up by name
 * @st: a reading
 * @name: stable or unstable
 * @value: result
 *
 * Return: 0, -ENOENT for an unknown name, -ENODATA for one that is not counted
 * without a flag of struct gprof_sched_config.
 */
GPROF_API int gprof_sched_stats_get(const struct gprof_sched_stats *st, const char *name,
				    struct gprof_sched_value *value);

#ifdef __cplusplus
}
#endif

#endif /* GPROF_SCHED_STATS_H */
