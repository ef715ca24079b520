/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * gprof/utilization.h: how much of the machine was left to the program.
 *
 *	struct gprof_utilization *u = gprof_utilization_new(GPROF_UTIL_STW | GPROF_UTIL_ASSIST);
 *	const struct gprof_util_function *functions;
 *	struct gprof_trace_event ev;
 *	struct gprof_mmu *m;
 *	size_t nr;
 *
 *	if (!u)
 *		err(1, "utilization");
 *	while (gprof_trace_next(trace, &ev) > 0)
 *		gprof_utilization_add(u, &ev);
 *	if (gprof_utilization_finish(u, &functions, &nr))
 *		err(1, "utilization");
 *	m = gprof_mmu_new(functions, nr);
 *	if (!m)
 *		err(1, "utilization");
 *	printf("in 10 ms at least %g\n", gprof_mmu_at(m, 10000000));
 *	gprof_mmu_free(m);
 *	gprof_utilization_free(u);
 *
 * A utilization function says for each moment which share of the processors the
 * program itself (the "mutator") had, from 0 to 1; the rest went to the garbage
 * collector, or in gprof's own traces to the kernel's housekeeping. The mean of
 * it over a window of time is the window's utilization. The lowest of all windows
 * of one length is the minimum mutator utilization (MMU) for that length: a
 * program whose MMU for 10 ms is 0.7 always gets 7 ms of work done in 10 ms.
 * How the means of all windows of one length are distributed is the mutator
 * utilization distribution, of which the MMU is the quantile 0.
 *
 * The numbers are those of Go's own code (internal/trace, gc.go), computed without its rounding
 * errors; Documentation/utilization.rst lists intended differences.
 *
 * Times and lengths are nanoseconds. Threads: an object is used by one thread at a
 * time; a struct gprof_mmu, once made, is only read, by any number of threads. Fork:
 * all of it is plain memory, and each process frees its own. Growth: the structs
 * without sz are closed, see gprof/recorder.h.
 */
#ifndef GPROF_UTILIZATION_H
#define GPROF_UTILIZATION_H

#include <stddef.h>
#include <stdint.h>
#include <gprof/recorder.h>
#include <gprof/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct gprof_util_change - the utilization changes
 * @time: from when on
 * @util: utilization from then on, 0 to 1
 */
struct gprof_util_change {
	int64_t time;
	double util;
};

/**
 * struct gprof_util_function - a utilization over time
 * @changes: in the order of their times. The first and the last bound the
 *	function, which is undefined outside; the last one's utilization
 *	has no duration
 * @nr: how many
 * @id: number of the processor, of the task (goroutine), of the group, or -1 for all processors
 *	together
 */
struct gprof_util_function {
	const struct gprof_util_change *changes;
	size_t nr;
	int64_t id;
};

/*
 * Time that counts as taken from the program; the first five are Go's UtilFlags. In brackets: the
 * cause in gprof's own traces.
 */
#define GPROF_UTIL_STW		(1U << 0)	/* the world stopped for the collector (stop_machine, throttling) */
#define GPROF_UTIL_BACKGROUND	(1U << 1)	/* background mark workers (kswapd, kworkers, ...) */
#define GPROF_UTIL_ASSIST	(1U << 2)	/* mark assists (direct reclaim and compaction) */
#define GPROF_UTIL_SWEEP	(1U << 3)	/* sweeping (interrupts and softirqs) */
/*
 * A function for each processor, instead of one for all together. Dedicated mark
 * workers are left out then: they drive the program off to other processors.
 */
#define GPROF_UTIL_PER_PROC	(1U << 4)
/*
 * A function for each task (goroutine): 0 while it waits for a processor, while it
 * assists, and while it runs on a processor that one of the above has; else 1.
 */
#define GPROF_UTIL_PER_TASK	(1U << 5)
/*
 * A function for each group of tasks, such as a process: which share of its tasks that want
 * a processor nothing keeps from it, by the same rules; 1 while none wants one.
 */
#define GPROF_UTIL_PER_GROUP	(1U << 6)
#define GPROF_UTIL_ALL		((1U << 7) - 1)

struct gprof_utilization;

/**
 * struct gprof_utilization_opts - options; sz alone is needed
 * @sz: sizeof(struct gprof_utilization_opts)
 * @flags: GPROF_UTIL_*; at most one of PER_PROC, PER_TASK and PER_GROUP
 * @memory_max: bytes that it may take, -EFBIG beyond; 0: 1 GiB. Of it, 64 MiB and
 *	1 KiB for each event may be used, so that a short trace takes little
 * @group_of: with PER_GROUP, called for a task (goroutine) as it begins: the number of its
 *	group, which is its function's @id; NULL: all tasks are one group, -1. A group whose
 *	tasks all ended begins with a function of its own when it has one again
 * @ctx: for it
 */
struct gprof_utilization_opts {
	size_t sz;
	unsigned int flags;
	uint64_t memory_max;
	int64_t (*group_of)(void *ctx, int64_t task);
	void *ctx;
};

/**
 * gprof_utilization_new() - begin to compute utilization functions
 * @flags: GPROF_UTIL_*; at most one of PER_PROC, PER_TASK and PER_GROUP
 *
 * Return: for gprof_utilization_free(), or NULL with errno (EINVAL, ENOMEM).
 */
GPROF_API struct gprof_utilization *gprof_utilization_new(unsigned int flags);

/** gprof_utilization_new_opts() - likewise; E2BIG: options that this library does not know */
GPROF_API struct gprof_utilization *
gprof_utilization_new_opts(const struct gprof_utilization_opts *opts);

/** gprof_utilization_free() - free it and its functions; NULL is fine */
GPROF_API void gprof_utilization_free(struct gprof_utilization *u);

/**
 * gprof_utilization_add() - take the next event of a trace
 * @u: utilization so far
 * @ev: the event, from gprof_trace_next(); all of them have to come, in order
 *
 * Memory grows with the changes of utilization, and with the tasks that assist,
 * not with the events. One reader may feed several objects.
 *
 * Return: 0, -ENOMEM, -EFBIG beyond the memory that the options allow, or -ERANGE
 * when the trace has more than GPROF_UTIL_PROCS_MAX processors. An error is final.
 */
GPROF_API int gprof_utilization_add(struct gprof_utilization *u,
				    const struct gprof_trace_event *ev);

#define GPROF_UTIL_PROCS_MAX	65536U

/**
 * gprof_utilization_finish() - the trace has ended: get the functions
 * @u: utilization; takes no more events
 * @functions: gets them, sorted by nothing; alive until gprof_utilization_free()
 * @nr: gets their number; 0 for a trace that does not tell its processors
 *
 * Without PER_PROC, PER_TASK and PER_GROUP there is one function. Each ends with utilization
 * 0 at the last event, or when its processor or task is gone. A processor that comes
 * back gets another function.
 *
 * Return: 0, or an error of gprof_utilization_add() again.
 */
GPROF_API int gprof_utilization_finish(struct gprof_utilization *u,
				       const struct gprof_util_function **functions, size_t *nr);

struct gprof_mmu;

/**
 * gprof_mmu_new() - prepare functions for questions about windows
 * @functions: borrowed until gprof_mmu_free(), with their changes
 * @nr: how many; a window lies in one of them, as processors are looked at one by one
 *
 * Functions without duration have no windows and are left out. Memory: half a
 * byte for each change.
 *
 * Return: for gprof_mmu_free(), or NULL with errno (EINVAL: times go back, or a
 * utilization is not within 0 to 1; ENOMEM).
 */
GPROF_API struct gprof_mmu *gprof_mmu_new(const struct gprof_util_function *functions, size_t nr);

/** gprof_mmu_free() - free it; NULL is fine */
GPROF_API void gprof_mmu_free(struct gprof_mmu *m);

/**
 * gprof_mmu_at() - minimum mutator utilization
 * @m: the functions
 * @window: length of the windows; 0 or less gives 0. A function that is shorter
 *	is one window as a whole
 *
 * Return: utilization of the worst window, 0 to 1; 1 when there are no functions.
 */
GPROF_API double gprof_mmu_at(const struct gprof_mmu *m, int64_t window);

/**
 * struct gprof_util_window - a window
 * @time: its begin
 * @length: as asked for, or less in a function that is shorter
 * @util: mean utilization
 * @id: of the function that it lies in
 */
struct gprof_util_window {
	int64_t time;
	int64_t length;
	double util;
	int64_t id;
};

/**
 * gprof_mmu_worst() - the worst windows that do not overlap
 * @m: the functions
 * @window: length
 * @worst: gets them, worst first
 * @max: at most how many
 *
 * The first is the worst of all, each further one the worst of those that overlap
 * none before it, in whichever function; of equals the earliest. Windows with
 * utilization 1 are not listed.
 *
 * Return: how many, or -ENOMEM.
 */
GPROF_API int gprof_mmu_worst(const struct gprof_mmu *m, int64_t window,
			      struct gprof_util_window *worst, size_t max);

/**
 * gprof_mmu_quantiles() - quantiles of the mutator utilization distribution
 * @m: the functions
 * @window: length
 * @q: quantiles, each from 0 to 1
 * @nr: how many
 * @util: gets for each the utilization below which (or at which) a share @q
 *	of all windows lies
 *
 * Where no function is longer than @window there is no distribution, and all
 * quantiles are the MMU.
 *
 * Return: 0, -EINVAL for a quantile that is none, or -ENOMEM.
 */
GPROF_API int gprof_mmu_quantiles(const struct gprof_mmu *m, int64_t window, const double *q,
				  size_t nr, double *util);

#ifdef __cplusplus
}
#endif

#endif /* GPROF_UTILIZATION_H */
