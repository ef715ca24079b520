/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * gprof/count.h: how often events happened, without a sample of them, as perf stat
 * tells.
 *
 *	const char *const events[] = { "cycles", "instructions", "sched:sched_switch" };
 *	struct gprof_count_config cfg = {
 *		.sz = sizeof(cfg), .target = { GPROF_SELF },
 *		.events = events, .nr_events = 3,
 *	};
 *	struct gprof_counting *c = gprof_counting_new(&cfg);
 *	struct gprof_count n = { .sz = sizeof(n) };
 *
 *	if (!c || gprof_counting_start(c))
 *		errx(1, "%s", gprof_error());
 *	work();
 *	if (gprof_counting_stop(c) || gprof_counting_read(c, 0, &n))
 *		errx(1, "%s", gprof_error());
 *	gprof_counting_free(c);
 *
 * The cost is that of perf's counters. Of a process: all its threads and all that they fork.
 * Errors, threads, growth and fork are as in gprof/recorder.h. Privileges are those of recorders:
 * one's own tasks in user mode, all else with CAP_PERFMON.
 */
#ifndef GPROF_COUNT_H
#define GPROF_COUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <gprof/base.h>
#include <gprof/recorder.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gprof_counting;

/* flags of struct gprof_count_config */
#define GPROF_COUNT_USER	(1U << 0)	/* user mode alone */
#define GPROF_COUNT_KERNEL	(1U << 1)	/* fail where the kernel may not be counted */
#define GPROF_COUNT_PARTIAL	(1U << 2)	/* leave out events that this host does not count */

/**
 * struct gprof_count_config - events and target
 * @sz: sizeof(struct gprof_count_config)
 * @target: tasks or CPUs
 * @events: names, as in struct gprof_cpu_event, or tracepoints, "CATEGORY:NAME"
 * @nr_events: number of @events, 1 to 64
 * @flags: GPROF_COUNT_*; with neither of the first two the kernel is counted where the
 *	caller may, and else user mode alone
 * @on_exec: count from the target's next exec on
 */
struct gprof_count_config {
	size_t sz;
	struct gprof_target target;
	const char *const *events;
	size_t nr_events;
	unsigned int flags;
	bool on_exec;
};

/**
 * struct gprof_count - counts of one event since the last start
 * @sz: sizeof(struct gprof_count), set by the caller
 * @event: its name; lives as long as the counting
 * @error: 0, or why it was not counted (an errno); the rest is 0 then
 * @reason: a sentence on @error, or ""; lives as long as the counting
 * @count: events while the counter ran; ns of CPU time for the timer
 * @time_enabled_ns: time in which it was to count, summed over threads or CPUs
 * @time_running_ns: time of that in which it did; less where the CPU has too few
 *	counters. @count * @time_enabled_ns / @time_running_ns is the best guess then
 * @user_only: the kernel was left out
 *
 * The timer of a thread or process always tells its CPU time in both modes. Of CPUs and
 * of the system it is the time that passed, once for each CPU, idle or not.
 */
struct gprof_count {
	size_t sz;
	const char *event;
	int error;
	const char *reason;
	uint64_t count;
	uint64_t time_enabled_ns;
	uint64_t time_running_ns;
	bool user_only;
};

/**
 * gprof_counting_new() - prepare to count
 * @cfg: configuration; copied
 *
 * The counters of a cgroup are perf's own, of CPUs that are online now; all others are
 * the module's.
 *
 * Return: for gprof_counting_free(), or NULL with errno. With GPROF_COUNT_PARTIAL only
 * where not one event can be counted.
 */
GPROF_API struct gprof_counting *gprof_counting_new(const struct gprof_count_config *cfg);

/**
 * gprof_counting_start() - count from now on
 * @c: counting
 *
 * Return: 0 or -errno; -EBUSY when it is started.
 */
GPROF_API int gprof_counting_start(struct gprof_counting *c);

/**
 * gprof_counting_stop() - count no more
 * @c: started counting, which may be started again
 *
 * Return: 0 or -errno; -EINVAL when it is not started.
 */
GPROF_API int gprof_counting_stop(struct gprof_counting *c);

/**
 * gprof_counting_read() - counts so far, or until the stop
 * @c: counting, in any state
 * @event: number of the event
 * @n: where to; @n->sz must be set
 *
 * Return: 0 or -errno; an event that is not counted is no failure, but in @n->error.
 */
GPROF_API int gprof_counting_read(struct gprof_counting *c, size_t event, struct gprof_count *n);

/**
 * gprof_counting_free() - stop and free
 * @c: counting or NULL
 */
GPROF_API void gprof_counting_free(struct gprof_counting *c);

#ifdef __cplusplus
}
#endif

#endif /* GPROF_COUNT_H */
