/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * gprof/flight.h: a flight recorder: the last seconds of an execution trace, kept in
 * memory, to be written when something has gone wrong.
 *
 *	struct gprof_trace_config cfg = {
 *		.sz = sizeof(cfg), .target = { .type = GPROF_SELF },
 *	};
 *	struct gprof_flight *f = gprof_flight_new(&cfg, NULL);
 *
 *	if (!f || gprof_flight_start(f))
 *		errx(1, "%s", gprof_error());
 *	work();
 *	if (gprof_flight_snapshot(f, fd, NULL))
 *		warnx("%s", gprof_error());
 *	gprof_flight_free(f);
 *
 * After flight recording in Go (golang.org/issue/63185), but several may run at once,
 * of other programs and of the whole host too.
 *
 * The kernel overwrites the oldest generation of its ring; nothing is read, and no thread
 * runs, until a snapshot is asked for, which does not stop the recording. A snapshot is a
 * trace as gprof/trace_write.h writes it: it begins where all CPUs have something to
 * tell, and ends for all of them at the instant when it was asked for.
 *
 * A trigger reports a condition at once, with its task:
 *
 *	const struct gprof_flight_trigger t = {
 *		.sz = sizeof(t), .cause = GPROF_CAUSE_DELAY, .longer_ns = 5000000,
 *	};
 *	struct gprof_flight_fired fired = { .sz = sizeof(fired) };
 *	struct pollfd p = { .events = POLLPRI };
 *
 *	gprof_flight_trigger(f, &t);
 *	gprof_flight_start(f);
 *	p.fd = gprof_flight_fd(f);
 *	while (poll(&p, 1, -1) > 0)
 *		while (!gprof_flight_fired(f, &fired))
 *			printf("%s: %s\n", fired.trigger, fired.comm);
 *
 * They are evaluated in the kernel, where it happens; a snapshot has a log where one fired,
 * by the name that is fired.trigger too.
 *
 * Threads, growth, fork: as for gprof/recorder.h; in particular snapshots may be asked for
 * by any thread, and wait for each other.
 */
#ifndef GPROF_FLIGHT_H
#define GPROF_FLIGHT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <gprof/trace_record.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gprof_flight;

/**
 * struct gprof_flight_opts - how much is kept
 * @sz: sizeof(struct gprof_flight_opts)
 * @min_age_ns: a snapshot goes back so far at least, where the memory allows it, and not
 *	much further; 0: as far as there is something
 * @max_bytes: memory for the rings of all CPUs together; 0: 64 MiB, or a user's limit. It takes
 *	precedence over the age; the stats have the age reached. A ring has a power of two of
 *	bytes, and at least 32 KiB
 */
struct gprof_flight_opts {
	size_t sz;
	uint64_t min_age_ns;
	uint64_t max_bytes;
};

/**
 * gprof_flight_new() - make a flight recorder
 * @cfg: events and target; copied. Its @buffer_bytes and @generation must be 0: @opts has the
 *	memory, and there is no output before a snapshot
 * @opts: how much to keep, or NULL for the defaults
 *
 * Return: a recorder, or NULL with errno and a sentence from gprof_error(), as for
 * gprof_trace_recorder_new().
 */
GPROF_API struct gprof_flight *gprof_flight_new(const struct gprof_trace_config *cfg,
						const struct gprof_flight_opts *opts);

/* Causes of a trigger. An operation that began before the start is not measured. */
enum gprof_flight_cause {
	GPROF_CAUSE_REQUEST,	/* of no trigger: a request for a snapshot */
	GPROF_CAUSE_DELAY,	/* a task could run, and did not, for longer */
	GPROF_CAUSE_OFF_CPU,	/* a task was not on a CPU for longer */
	GPROF_CAUSE_BLOCKED,	/* a task was in an uninterruptible sleep for longer */
	GPROF_CAUSE_SYSCALL,	/* a system call took longer */
	GPROF_CAUSE_RECLAIM,	/* a task had to reclaim memory itself for longer */
	GPROF_CAUSE_IRQ,	/* an interrupt took longer */
	GPROF_CAUSE_SOFTIRQ,	/* a softirq took longer */
	GPROF_CAUSE_SIGNAL,	/* a signal ended a process */
	GPROF_CAUSE_TRACEPOINT,	/* a task came to a tracepoint */
};

/**
 * struct gprof_flight_trigger - a condition to watch for
 * @sz: sizeof(struct gprof_flight_trigger)
 * @cause: kind of condition
 * @longer_ns: how long it may last; 0 for SIGNAL and TRACEPOINT
 * @interval_ns: it fires no more than once in this time; 0: one second
 * @name: "read", "NET_RX", "SEGV" or "CATEGORY:EVENT", by @cause: this one alone.
 *	NULL: any, but not for TRACEPOINT; DELAY, OFF_CPU, BLOCKED and RECLAIM have none
 * @number: the same by number; for IRQ there is no name. -1: as @name says.
 *	A vector of the CPU that is no interrupt with a number, such as amd64's timer,
 *	goes by its negative. A system call as 32-bit programs make it has other numbers:
 *	it is any call, and told without one
 * @filter: TRACEPOINT: it fires for events that pass, in the syntax of the kernel's own filters,
 *	such as "prev_prio < 100 && prev_comm != \"swapper*\""; with one, tracepoints of system
 *	calls ("syscalls:sys_enter_openat") and of probes are possible too. NULL: for each
 */
struct gprof_flight_trigger {
	size_t sz;
	enum gprof_flight_cause cause;
	uint64_t longer_ns;
	uint64_t interval_ns;
	const char *name;
	int number;
	const char *filter;
};

/**
 * gprof_flight_trigger() - look out for something, up to eight
 * @f: recorder, not yet started
 * @trigger: the condition; copied
 *
 * Causes that slow down other tasks need CAP_PERFMON: all but DELAY, OFF_CPU, BLOCKED and SIGNAL.
 *
 * Return: number of the trigger, from 0 on, or -errno: -ENOENT and -EOPNOTSUPP for a cause that
 * this kernel does not have, -EPERM for the privilege, -ENOSPC for too many, -EBUSY after the
 * start, -EINVAL, also for a filter that does not parse, and -E2BIG for one that is too long.
 */
GPROF_API int gprof_flight_trigger(struct gprof_flight *f,
				   const struct gprof_flight_trigger *trigger);

/**
 * struct gprof_flight_fired - a trigger has fired
 * @sz: sizeof(struct gprof_flight_fired), set by the caller
 * @index: number of the trigger, or -1
 * @cause: its; REQUEST: @tid has called gprof_snapshot_request()
 * @trigger: its name, "syscall:read"; lives as long as the recorder
 * @name: which call, softirq or signal it was, or NULL; lives for ever
 * @number: likewise, or -1
 * @time_ns: when the long operation ended, or was found, CLOCK_MONOTONIC
 * @duration_ns: how long it lasted until then; 0 where it has no duration
 * @tid: its task, or the task that it stopped; 0: not of our pid namespace
 * @pid: of that process
 * @cpu: where; of a pending operation, the CPU that the task is on, waits for, or was on last
 * @goes_on: it had not ended then, and will not fire the trigger again
 * @unmarked: there was no room to note it in the trace
 * @comm: name of @tid
 * @fired: how often the trigger has fired, up to this one
 * @suppressed: how often it would have until now, but for its interval or because 16
 *	firings waited to be taken
 * @unwatched: waits, calls and reclaims that were not measured, as there were too many tasks
 */
struct gprof_flight_fired {
	size_t sz;
	int index;
	enum gprof_flight_cause cause;
	const char *trigger;
	const char *name;
	int number;
	uint64_t time_ns;
	uint64_t duration_ns;
	uint32_t tid;
	uint32_t pid;
	uint32_t cpu;
	bool goes_on;
	bool unmarked;
	char comm[16];
	uint64_t fired;
	uint64_t suppressed;
	uint64_t unwatched;
};

/**
 * gprof_flight_fired() - take the oldest firing
 * @f: recorder
 * @fired: gets it
 *
 * Return: 0 or -errno; -EAGAIN when there is none: then @fired->fired and
 * @fired->suppressed are those of all triggers.
 */
GPROF_API int gprof_flight_fired(struct gprof_flight *f, struct gprof_flight_fired *fired);

/**
 * gprof_flight_fd() - for poll(): POLLPRI while a firing waits, or when something else has
 * happened, until gprof_flight_fired() returns -EAGAIN; not to be closed
 */
GPROF_API int gprof_flight_fd(const struct gprof_flight *f);

/** gprof_flight_start() - begin recording; 0 or -errno; -EBUSY when it was started before */
GPROF_API int gprof_flight_start(struct gprof_flight *f);

/**
 * struct gprof_flight_snapshot - contents of a snapshot
 * @sz: sizeof(struct gprof_flight_snapshot), set by the caller
 * @from_ns: where it begins, CLOCK_MONOTONIC
 * @until_ns: where it ends; the age reached is the difference
 * @whole: it goes back as far as was asked for, or to the start
 * @lost: events that were lost since the start, for other reasons than age
 * @writer: counts of the trace; its @sz is set
 * @missed: events that were kept at @until_ns, and overwritten before they could be copied:
 *	they came faster than they were written
 * @uid: where it is not @whole: the user whose tasks have the most events in the rings
 * @uid_permille: how many in a thousand that is; 0: it is whole, or no user is known
 */
struct gprof_flight_snapshot {
	size_t sz;
	uint64_t from_ns;
	uint64_t until_ns;
	bool whole;
	uint64_t lost;
	struct gprof_trace_writer_stats writer;
	uint64_t missed;
	uint32_t uid;
	uint32_t uid_permille;
};

/**
 * gprof_flight_snapshot() - write the contents of the rings, while recording goes on
 * @f: recorder that was started, or stopped again
 * @fd: where to; not closed
 * @snapshot: gets its contents, or NULL
 *
 * Takes memory for one generation of each ring, and of the trace, while it lasts. Where
 * events come faster than @fd takes them it takes more, up to that of the rings once more,
 * lest they are overwritten unread.
 *
 * Return: 0 or -errno: -EINVAL when it was never started; -EAGAIN when the kernel overwrites all
 * of a ring faster than it can be copied; -EBADMSG for a corrupt ring; -EPROTO when the counts do
 * not add up; or an error of writing.
 */
GPROF_API int gprof_flight_snapshot(struct gprof_flight *f, int fd,
				    struct gprof_flight_snapshot *snapshot);

/** gprof_flight_stop() - end recording; the rings keep their records; 0 or -errno */
GPROF_API int gprof_flight_stop(struct gprof_flight *f);

/**
 * struct gprof_flight_stats - counts of events: read, lost, overwritten
 * @sz: sizeof(struct gprof_flight_stats), set by the caller
 * @produced: events of the target, their stacks, and CPU samples; produced = held + lost +
 *	overwritten
 * @held: that are kept now
 * @lost: that never were, for want of room
 * @overwritten: that were too old
 * @ring_bytes: memory of the rings of all CPUs
 * @over_quota: part of @lost: annotations and new names beyond the eighth of a generation that
 *	those of one user may take
 */
struct gprof_flight_stats {
	size_t sz;
	uint64_t produced;
	uint64_t held;
	uint64_t lost;
	uint64_t overwritten;
	uint64_t ring_bytes;
	uint64_t over_quota;
};

/** gprof_flight_stats() - read the counts; 0 or -errno */
GPROF_API int gprof_flight_stats(struct gprof_flight *f, struct gprof_flight_stats *st);

/** gprof_flight_free() - free a recorder, stopping it first; NULL is fine */
GPROF_API void gprof_flight_free(struct gprof_flight *f);

#ifdef __cplusplus
}
#endif

#endif /* GPROF_FLIGHT_H */
