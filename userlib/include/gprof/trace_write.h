/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * gprof/trace_write.h: write execution traces of a host that Go's tools open.
 *
 *	struct gprof_trace_writer *w = gprof_trace_writer_new(fd, NULL);
 *	struct gprof_trace_point p = {
 *		.time = 1000000, .cpu = 2, .type = GPROF_TRACE_POINT_SWITCH,
 *		.why = GPROF_TRACE_WHY_SLEEPS, .tid = 4711, .other = 0,
 *	};
 *
 *	if (!w)
 *		errx(1, "%s", gprof_error());
 *	gprof_trace_writer_name(w, 4711, "sshd");
 *	gprof_trace_writer_add(w, &p);
 *	gprof_trace_writer_cut(w, p.time + 1, NULL);
 *	gprof_trace_writer_close(w);
 *
 * A CPU is a proc (P) and, as the stream of its events, a thread (M); a task is a goroutine (G) of
 * its tid. Points may come in any order of CPUs; those of one CPU should come in theirs. A
 * contradiction, as after losses or when the clocks of CPUs differ, is repaired with a reason that
 * says so, and counted: any sequence of points makes a trace that Go's readers take.
 *
 * Memory. The points of one generation are held until it is cut, and a few words for
 * each task that lives. Threads. A writer is used by one thread at a time. Growth:
 * see gprof/recorder.h.
 */
#ifndef GPROF_TRACE_WRITE_H
#define GPROF_TRACE_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <gprof/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where it is not known which task it was. */
#define GPROF_TRACE_NO_TID	UINT32_MAX
/* Tids are below this, as the kernel's own limit says; 0 is an idle CPU, or a stranger. */
#define GPROF_TRACE_TIDS	(1U << 22)
#define GPROF_TRACE_CPUS	(1U << 13)
#define GPROF_TRACE_TRIGGERS	256
/* Of a syscall's end: which one it was is not known. */
#define GPROF_TRACE_NO_CALL	UINT64_MAX
/* Set in the number of a syscall: one of 32-bit code, whose numbers are others. */
#define GPROF_TRACE_CALL_32	(UINT64_C(1) << 32)
/* Set in the number of an interrupt: a vector of the CPU. */
#define GPROF_TRACE_IRQ_VECTOR	(UINT64_C(1) << 32)
/* Set in the duration of a trigger event: the operation was still pending. */
#define GPROF_TRACE_GOES_ON	(UINT64_C(1) << 63)
/* @other of a page fault. */
#define GPROF_TRACE_POINT_FAULT_WRITE	(1U << 0)
#define GPROF_TRACE_POINT_FAULT_EXEC	(1U << 1)
#define GPROF_TRACE_POINT_FAULT_AGAIN	(1U << 2)	/* the second try of one that had to wait */
/* The experiment that facts of gprof's own are given as; see struct gprof_trace_batch. */
#define GPROF_TRACE_EXPERIMENT	200U

/* Types of points; see struct gprof_trace_point. */
enum gprof_trace_point_type {
	GPROF_TRACE_POINT_SWITCH = 1,	/* @tid left the CPU (@why), @other has it; see @arg */
	GPROF_TRACE_POINT_WAKING,	/* @tid (NO_TID: an interrupt) woke @other */
	GPROF_TRACE_POINT_FORK,	/* @tid made @other */
	GPROF_TRACE_POINT_EXEC,	/* @tid runs another program, as @other unless that is 0 */
	GPROF_TRACE_POINT_EXIT,	/* @tid is about to end; a switch says when it did */
	GPROF_TRACE_POINT_MIGRATE,	/* @other is to run on CPU @arg */
	GPROF_TRACE_POINT_ENTER,	/* @tid entered syscall @arg */
	GPROF_TRACE_POINT_LEAVE,	/* @tid left syscall @arg, or NO_CALL; @other: errno */
	GPROF_TRACE_POINT_SAMPLE,	/* a CPU sample of @tid, of @arg events (0: a period) */
	GPROF_TRACE_POINT_LOST,	/* @arg events of this CPU were lost before this */
	GPROF_TRACE_POINT_CPU_ON,	/* the CPU came */
	GPROF_TRACE_POINT_CPU_OFF,	/* the CPU went */
	GPROF_TRACE_POINT_RUNNING,	/* @other has the CPU, since whenever */
	GPROF_TRACE_POINT_IRQ_ENTER,	/* interrupt @arg, perhaps with IRQ_VECTOR */
	GPROF_TRACE_POINT_IRQ_LEAVE,
	GPROF_TRACE_POINT_SOFTIRQ_ENTER,	/* softirq @arg */
	GPROF_TRACE_POINT_SOFTIRQ_LEAVE,
	GPROF_TRACE_POINT_FAULT,	/* of @tid at page @arg; @other: POINT_FAULT_* */
	GPROF_TRACE_POINT_RECLAIM_BEGIN,	/* by @tid; @arg 1: for a cgroup's limit */
	GPROF_TRACE_POINT_RECLAIM_END,
	GPROF_TRACE_POINT_COMPACT_BEGIN,	/* of memory, by @tid */
	GPROF_TRACE_POINT_COMPACT_END,
	GPROF_TRACE_POINT_FREQ,		/* CPU @other goes at @arg kHz */
	GPROF_TRACE_POINT_THROTTLE,	/* a cgroup has used up its time; @other: number, or 0 */
	GPROF_TRACE_POINT_UNTHROTTLE,	/* @other: and has got some more, from this CPU */
	GPROF_TRACE_POINT_FIRED,	/* trigger @why fired for @other, after @arg ns */
	GPROF_TRACE_POINT_ANNOTATION,	/* of @tid; of recorders alone */
	GPROF_TRACE_NR_POINTS,
};

/* Why a task left its CPU. */
enum gprof_trace_why {
	GPROF_TRACE_WHY_PREEMPTED,	/* it would have gone on */
	GPROF_TRACE_WHY_SLEEPS,		/* interruptibly */
	GPROF_TRACE_WHY_WAITS,		/* uninterruptibly */
	GPROF_TRACE_WHY_STOPPED,	/* by a signal or a tracer */
	GPROF_TRACE_WHY_DEAD,
	GPROF_TRACE_WHY_YIELDED,	/* it would have gone on, but asked for this itself */
	GPROF_TRACE_NR_WHYS,
};

/**
 * struct gprof_trace_point - something that happened on a CPU
 * @time: ns of CLOCK_MONOTONIC, below 2^62
 * @cpu: where, below GPROF_TRACE_CPUS
 * @type: enum gprof_trace_point_type
 * @why: enum gprof_trace_why, of a switch; number of a trigger, below GPROF_TRACE_TRIGGERS
 * @tid: the task that was on the CPU; 0: none; GPROF_TRACE_NO_TID: not known
 * @other: the other task
 * @stack: of @tid: where it waits at a switch, the waker's at a waking; 0: none. An id from
 *	gprof_trace_writer_stack(), since the last cut. Begins of intervals have one, ends and
 *	interrupts none
 * @arg: as said at each type; of a switch from a task that waits 1 + GPROF_WAIT_FOR_*, the reason, or
 *	0: not known; GPROF_TRACE_GOES_ON may be set where a trigger fired
 *
 * Closed.
 */
struct gprof_trace_point {
	uint64_t time;
	uint32_t cpu;
	uint16_t type;
	uint16_t why;
	uint32_t tid;
	uint32_t other;
	uint64_t stack;
	uint64_t arg;
};

/**
 * struct gprof_trace_writer_opts - options of a writer; all zero is the default
 * @sz: sizeof(struct gprof_trace_writer_opts)
 * @version: minor version in the header: 22, 23, 25 or 26; 0: 23
 * @cpus: CPUs online at first; 0: those that are mentioned
 * @index: end the trace with an index of its generations, for readers that seek
 * @syscall: name of a syscall, or NULL for its number; NULL: numbers
 * @generation: gets the points of each generation as it is cut, ordered by time,
 *	before they are written; a return other than 0 (-errno) fails the cut.
 *	They live during the call. An event is that late: until its generation ends
 * @ctx: passed on to both
 * @sample_period: period of CPU samples, or 0 where there are none. Go's format has no place for a
 *	weight: a sample of more, or of less, is written as often as that makes whole periods, and
 *	the rest is kept for the next one
 * @sample_type: its type, such as "cpu" or "cycles"
 * @sample_unit: and its unit, "nanoseconds" or "count"; both are cut at 63 bytes
 * @trigger: name of a trigger, or NULL for its number; NULL: numbers
 * @recorded: the trace has the configuration: @groups, @stacks, @kernel_frames and
 *	@min_duration_ns as in struct gprof_trace_config, so that readers tell events that were not
 *	recorded from those that did not happen
 * @cpus_only: likewise; the target was CPUs, and the trace has nothing of tasks on others
 * @whole_host: likewise; it was the whole host
 */
struct gprof_trace_writer_opts {
	size_t sz;
	unsigned int version;
	unsigned int cpus;
	bool index;
	const char *(*syscall)(void *ctx, uint64_t nr);
	int (*generation)(void *ctx, uint64_t generation, const struct gprof_trace_point *points,
			  size_t nr);
	void *ctx;
	uint64_t sample_period;
	const char *sample_type;
	const char *sample_unit;
	const char *(*trigger)(void *ctx, uint32_t index);
	bool recorded;
	bool kernel_frames;
	unsigned int groups;
	unsigned int stacks;
	uint64_t min_duration_ns;
	bool cpus_only;
	bool whole_host;
};

struct gprof_trace_writer;

/**
 * gprof_trace_writer_new() - begin a trace
 * @fd: file, pipe or socket; borrowed until gprof_trace_writer_close()
 * @opts: or NULL; copied
 *
 * Return: a writer, or NULL with errno and a sentence from gprof_error().
 */
GPROF_API struct gprof_trace_writer *
gprof_trace_writer_new(int fd, const struct gprof_trace_writer_opts *opts);

/**
 * gprof_trace_writer_add() - add a point; 0, -EINVAL or -ENOMEM
 *
 * One of before the last cut came too late for its generation, and is taken to have
 * happened at the cut.
 */
GPROF_API int gprof_trace_writer_add(struct gprof_trace_writer *w,
				     const struct gprof_trace_point *p);

/** gprof_trace_writer_name() - name of a task from now on; 0, -EINVAL or -ENOMEM */
GPROF_API int gprof_trace_writer_name(struct gprof_trace_writer *w, uint32_t tid,
				      const char *name);

/**
 * gprof_trace_writer_process() - process of a task; 0, -EINVAL or -ENOMEM
 *
 * A task of which nothing is said is the first of a process of its own, so that its tid is
 * that one's pid.
 */
GPROF_API int gprof_trace_writer_process(struct gprof_trace_writer *w, uint32_t tid, uint32_t pid);

/**
 * gprof_trace_writer_stack() - a stack that points may name until the next cut
 * @w: writer
 * @frames: leaf first; those beyond GPROF_TRACE_FRAMES_MAX are left out
 * @nr: how many
 * @id: result; the same for the same frames
 *
 * Pcs are told apart by all that is said of a frame: two processes may share one.
 *
 * Return: 0, -EINVAL or -ENOMEM.
 */
GPROF_API int gprof_trace_writer_stack(struct gprof_trace_writer *w,
				       const struct gprof_trace_frame *frames, size_t nr,
				       uint64_t *id);

/**
 * gprof_trace_writer_frames() - the frames of such a stack, leaf first
 * @w: writer
 * @stack: id; for @generation of the options: of a point that it got
 * @frames: where to; texts live until the next cut, or until @generation returns
 * @max: how many there is room for; GPROF_TRACE_FRAMES_MAX is always enough
 *
 * Return: how many frames the stack has, even if more than @max; 0 for none.
 */
GPROF_API size_t gprof_trace_writer_frames(const struct gprof_trace_writer *w, uint64_t stack,
					   struct gprof_trace_frame *frames, size_t max);

/**
 * gprof_trace_writer_cut() - end a generation
 * @w: writer
 * @time: points of before it are written, others belong to the next generation
 * @clock: a recent instant on three clocks (@clock->time is not looked at), or NULL
 *	to take the clocks now
 *
 * Return: 0 or -errno, which is final: the trace is whole up to the last cut.
 */
GPROF_API int gprof_trace_writer_cut(struct gprof_trace_writer *w, uint64_t time,
				     const struct gprof_trace_clock *clock);

/** gprof_trace_writer_close() - end the last generation and the trace; 0 or the first -errno */
GPROF_API int gprof_trace_writer_close(struct gprof_trace_writer *w);

/**
 * struct gprof_trace_writer_stats - counts so far
 * @sz: sizeof(struct gprof_trace_writer_stats), set by the caller
 * @bytes: of the trace
 * @generations: that were cut
 * @points: that were written
 * @events: Go events that they gave
 * @switches: points that are switches
 * @forks: points that are forks
 * @lost: events that the points of type GPROF_TRACE_POINT_LOST told
 * @repaired: places where a switch had to be made up, since events were lost, the
 *	clocks of CPUs differ, or a CPU told of itself after the first generation only
 * @skewed: of which tasks that were on two CPUs at a time
 * @disordered: points that were earlier than the one before on their CPU, or than
 *	the last cut
 * @reused: tids that were used for another task
 * @memory_peak: most bytes of points held at a time
 * @cpus: that were mentioned
 * @tasks: likewise
 */
struct gprof_trace_writer_stats {
	size_t sz;
	uint64_t bytes;
	uint64_t generations;
	uint64_t points;
	uint64_t events;
	uint64_t switches;
	uint64_t forks;
	uint64_t lost;
	uint64_t repaired;
	uint64_t skewed;
	uint64_t disordered;
	uint64_t reused;
	uint64_t memory_peak;
	uint64_t cpus;
	uint64_t tasks;
};

/** gprof_trace_writer_stats() - read the counts; @st->sz must be set; 0 or -EINVAL */
GPROF_API int gprof_trace_writer_stats(const struct gprof_trace_writer *w,
				       struct gprof_trace_writer_stats *st);

#ifdef __cplusplus
}
#endif

#endif /* GPROF_TRACE_WRITE_H */
