/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * gprof/trace_record.h: record an execution trace of a thread, a process, a cgroup,
 * CPUs or the whole host.
 *
 *	struct gprof_trace_config cfg = {
 *		.sz = sizeof(cfg), .target = { .type = GPROF_SELF },
 *	};
 *	struct gprof_trace_recorder *r = gprof_trace_recorder_new(&cfg);
 *
 *	if (!r || gprof_trace_recorder_start(r, fd))
 *		errx(1, "%s", gprof_error());
 *	work();
 *	if (gprof_trace_recorder_stop(r))
 *		errx(1, "%s", gprof_error());
 *	gprof_trace_recorder_free(r);
 *
 * The trace is written while it is recorded, a generation at a time, as
 * gprof/trace_write.h says; so memory is that of a generation, however long it lasts.
 * A generation ends for all CPUs at the same instant: after a given time, or when as
 * many events as memory is meant for have come (131072, and some for each CPU).
 * An event is written, or handed out, at the latest half a second after the end of its
 * generation, which is the time that a CPU may take to tell it.
 *
 * Threads, growth, fork: as for gprof/recorder.h. The thread that reads is created
 * before the kernel attaches.
 */
#ifndef GPROF_TRACE_RECORD_H
#define GPROF_TRACE_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <gprof/recorder.h>
#include <gprof/trace_write.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gprof_trace_recorder;

/*
 * Events besides switches, wakings, forks, execs, exits and migrations. Each but annotations slows
 * down every task of the host, and needs CAP_PERFMON.
 */
#define GPROF_TRACE_GROUP_SYSCALLS	(1U << 0)	/* system calls, as regions */
#define GPROF_TRACE_GROUP_IRQS		(1U << 1)	/* interrupts and softirqs */
#define GPROF_TRACE_GROUP_FAULTS	(1U << 2)	/* page faults of user code */
#define GPROF_TRACE_GROUP_RECLAIM	(1U << 3)	/* direct reclaim, compaction */
#define GPROF_TRACE_GROUP_FREQ		(1U << 4)	/* frequencies of CPUs */
#define GPROF_TRACE_GROUP_THROTTLE	(1U << 5)	/* cgroups that used up their time */
#define GPROF_TRACE_GROUP_ANNOTATIONS	(1U << 6)	/* of gprof/annotate.h */

/*
 * Events that have the stack of the running task. Those of a group are there with the group alone.
 */
#define GPROF_TRACE_STACK_BLOCKED	(1U << 0)	/* of a task that stops: where it waits */
#define GPROF_TRACE_STACK_WAKER		(1U << 1)	/* of the task that wakes another */
#define GPROF_TRACE_STACK_FORK		(1U << 2)	/* of the parent */
#define GPROF_TRACE_STACK_SYSCALLS	(1U << 3)	/* at the begin of a system call */
#define GPROF_TRACE_STACK_FAULTS	(1U << 4)	/* at a page fault */
#define GPROF_TRACE_STACK_RECLAIM	(1U << 5)	/* at the begin of reclaim, compaction */

/**
 * struct gprof_trace_config - configuration of a trace recorder
 * @sz: sizeof(struct gprof_trace_config)
 * @target: tasks or CPUs
 * @groups: GPROF_TRACE_GROUP_*
 * @version: minor version in the header, as in struct gprof_trace_writer_opts; 0: 23
 * @buffer_bytes: kernel buffer per CPU; 0: the module's default
 * @generation_ns: length of a generation; 0: 1 s
 * @index: end the trace with an index of its generations
 * @generation: gets the points of each generation as it is written, or NULL; called by
 *	the thread that reads. A return other than 0 (-errno) ends the trace
 * @ctx: passed on to it
 * @stacks: GPROF_TRACE_STACK_*
 * @kernel_frames: stacks have the kernel's frames too, which needs CAP_PERFMON
 * @samples: CPU samples in the trace, as a recorder of CPU events takes them of the same
 *	target, or NULL; borrowed during the call only. Of its flags KERNEL, HV and IDLE
 *	may be set; its stacks are as @kernel_frames says
 * @min_duration_ns: a system call, an interrupt, a softirq, reclaim or compaction that lasts
 *	less, and in which nothing else of the trace happened, is left out; 0: none is. In
 *	whole microseconds, up to an hour; not with @samples
 */
struct gprof_trace_config {
	size_t sz;
	struct gprof_target target;
	unsigned int groups;
	unsigned int version;
	uint64_t buffer_bytes;
	uint64_t generation_ns;
	bool index;
	int (*generation)(void *ctx, uint64_t generation, const struct gprof_trace_point *points,
			  size_t nr);
	void *ctx;
	unsigned int stacks;
	bool kernel_frames;
	const struct gprof_cpu_event *samples;
	uint64_t min_duration_ns;
};

/**
 * gprof_trace_recorder_new() - make a recorder of traces
 * @cfg: configuration; copied
 *
 * The kernel checks everything here: a group that it cannot give is refused now, by
 * its name (EOPNOTSUPP), as are targets and groups without the privilege (EPERM).
 *
 * Return: a recorder, or NULL with errno and a sentence from gprof_error().
 */
GPROF_API struct gprof_trace_recorder *
gprof_trace_recorder_new(const struct gprof_trace_config *cfg);

/** gprof_trace_recorder_prepare() - as gprof_recorder_prepare(), where stacks are recorded */
GPROF_API int gprof_trace_recorder_prepare(struct gprof_trace_recorder *r,
					   const struct gprof_prepare *how);

/**
 * gprof_trace_recorder_start() - begin recording
 * @r: recorder, which records once
 * @fd: where the trace is written meanwhile; borrowed until stop, not closed. -1:
 *	nowhere, for @generation alone
 *
 * Return: 0 or -errno; -EBUSY when it was started before.
 */
GPROF_API int gprof_trace_recorder_start(struct gprof_trace_recorder *r, int fd);

/**
 * gprof_trace_recorder_stop() - end recording, and the trace
 * @r: started recorder
 *
 * Return: 0 or -errno of the first failure, such as -ENOSPC of a write; -EPROTO when produced,
 * read and lost events do not add up; -EBADMSG for a corrupt buffer; -EINVAL when it is not
 * started. The stats say how much of the output is a whole trace.
 */
GPROF_API int gprof_trace_recorder_stop(struct gprof_trace_recorder *r);

/** gprof_trace_recorder_failed() - has a write failed, so that going on is for nothing? */
GPROF_API bool gprof_trace_recorder_failed(struct gprof_trace_recorder *r);

/** gprof_trace_recorder_free() - free a recorder, stopping it first; NULL is fine */
GPROF_API void gprof_trace_recorder_free(struct gprof_trace_recorder *r);

/* Room for counts of enum gprof_trace_point_type. */
#define GPROF_TRACE_POINTS_MAX	64U

/**
 * struct gprof_trace_recorder_stats - counts of events
 * @sz: sizeof(struct gprof_trace_recorder_stats), set by the caller
 * @produced: events of the target, their stacks, and CPU samples; produced = read + lost +
 *	overwritten
 * @read: that are in the trace, but for those of the last generation that are not written yet
 * @lost: that are not, for want of room
 * @overwritten: 0
 * @malformed: records that made no sense; a bug of gprof
 * @away: times that a CPU was offline
 * @points: how many of each enum gprof_trace_point_type were read
 * @writer: of the trace; its @sz is set
 * @whole_bytes: bytes of the file that are a complete trace, if @whole_generations
 *	is not 0: after a failed write the file can be read once it is cut to that. Does
 *	not cover the very end, which stop writes
 * @whole_generations: that are in there
 * @stacks: events that have a stack
 * @orphans: stacks of events that were lost, and CPU samples whose stack is not known
 * @buffer_bytes: of each CPU's buffer
 * @buffer_wanted: that would have held all that was lost, had one CPU lost it: a power of two
 */
struct gprof_trace_recorder_stats {
	size_t sz;
	uint64_t produced;
	uint64_t read;
	uint64_t lost;
	uint64_t overwritten;
	uint64_t malformed;
	uint64_t away;
	uint64_t points[GPROF_TRACE_POINTS_MAX];
	struct gprof_trace_writer_stats writer;
	uint64_t whole_bytes;
	uint64_t whole_generations;
	uint64_t stacks;
	uint64_t orphans;
	uint64_t buffer_bytes;
	uint64_t buffer_wanted;
};

/** gprof_trace_recorder_stats() - read the counts; exact after stop; 0 or -errno */
GPROF_API int gprof_trace_recorder_stats(struct gprof_trace_recorder *r,
					 struct gprof_trace_recorder_stats *st);

/**
 * gprof_trace_recorder_frames() - the frames of a point's stack, leaf first
 * @r: recorder, whose @generation function runs: no other caller is allowed
 * @stack: of a point that it got
 * @frames: where to; texts live until @generation returns
 * @max: how many there is room for; GPROF_TRACE_FRAMES_MAX is always enough
 *
 * Return: how many frames the stack has, even if more than @max; 0 for none.
 */
GPROF_API size_t gprof_trace_recorder_frames(struct gprof_trace_recorder *r, uint64_t stack,
					     struct gprof_trace_frame *frames, size_t max);

/** gprof_trace_point_name() - of an enum gprof_trace_point_type, such as "switch"; or NULL */
GPROF_API const char *gprof_trace_point_name(unsigned int type);

#ifdef __cplusplus
}
#endif

#endif /* GPROF_TRACE_RECORD_H */
