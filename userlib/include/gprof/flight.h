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
 * @max_bytes: memory for the rings of all CPUs together; 0: 64 MiB, or what a user may
 *	have. Where the two
 *	contradict each other this one is kept to, and the age reached is told. A ring
 *	has a power of two of bytes, and at least 32 KiB
 */
struct gprof_flight_opts {
	size_t sz;
	uint64_t min_age_ns;
	uint64_t max_bytes;
};

/**
 * gprof_flight_new() - make a flight recorder
 * @cfg: what to record; copied. Its @buffer_bytes and @generation must be 0: memory is
 *	@opts' matter, and nothing is handed out
 * @opts: how much to keep, or NULL for the defaults
 *
 * Return: a recorder, or NULL with errno and a sentence from gprof_error(), as for
 * gprof_trace_recorder_new().
 */
GPROF_API struct gprof_flight *gprof_flight_new(const struct gprof_trace_config *cfg,
						const struct gprof_flight_opts *opts);

/** gprof_flight_start() - begin recording; 0 or -errno; -EBUSY when it was started before */
GPROF_API int gprof_flight_start(struct gprof_flight *f);

/**
 * struct gprof_flight_snapshot - what a snapshot has
 * @sz: sizeof(struct gprof_flight_snapshot), set by the caller
 * @from_ns: where it begins, CLOCK_MONOTONIC
 * @until_ns: where it ends; the age reached is the difference
 * @whole: it goes back as far as was asked for, or to the start
 * @lost: events that were lost since the start, for other reasons than age
 * @writer: counts of the trace; its @sz is set
 */
struct gprof_flight_snapshot {
	size_t sz;
	uint64_t from_ns;
	uint64_t until_ns;
	bool whole;
	uint64_t lost;
	struct gprof_trace_writer_stats writer;
};

/**
 * gprof_flight_snapshot() - write what is kept, while recording goes on
 * @f: recorder that was started, or stopped again
 * @fd: where to; not closed
 * @snapshot: gets what it has, or NULL
 *
 * Takes the memory of the rings once more, and that of a generation, while it lasts.
 *
 * Return: 0 or -errno: -EINVAL when it was never started; -EAGAIN when the kernel
 * overwrites all of a ring faster than it can be copied; -EBADMSG for a corrupt ring;
 * -EPROTO when the counts do not add up; or what writing said.
 */
GPROF_API int gprof_flight_snapshot(struct gprof_flight *f, int fd,
				    struct gprof_flight_snapshot *snapshot);

/** gprof_flight_stop() - end recording; what is kept stays; 0 or -errno */
GPROF_API int gprof_flight_stop(struct gprof_flight *f);

/**
 * struct gprof_flight_stats - what became of the events
 * @sz: sizeof(struct gprof_flight_stats), set by the caller
 * @produced: events of the target, their stacks, and CPU samples; produced = held + lost +
 *	overwritten
 * @held: that are kept now
 * @lost: that never were, for want of room
 * @overwritten: that were too old
 * @ring_bytes: memory of the rings of all CPUs
 */
struct gprof_flight_stats {
	size_t sz;
	uint64_t produced;
	uint64_t held;
	uint64_t lost;
	uint64_t overwritten;
	uint64_t ring_bytes;
};

/** gprof_flight_stats() - read the counts; 0 or -errno */
GPROF_API int gprof_flight_stats(struct gprof_flight *f, struct gprof_flight_stats *st);

/** gprof_flight_free() - free a recorder, stopping it first; NULL is fine */
GPROF_API void gprof_flight_free(struct gprof_flight *f);

#ifdef __cplusplus
}
#endif

#endif /* GPROF_FLIGHT_H */
