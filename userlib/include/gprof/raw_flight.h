/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * gprof/raw_flight.h: a flight recorder that needs libgprof-core alone: it writes what the kernel
 * has kept as it is, and gprofctl makes a trace of that, there or elsewhere.
 *
 *	struct gprof_trace_config cfg = {
 *		.sz = sizeof(cfg), .target = { .type = GPROF_SELF },
 *	};
 *	struct gprof_raw_flight *f = gprof_raw_flight_new(&cfg, NULL);
 *
 *	if (!f || gprof_raw_flight_start(f))
 *		errx(1, "%s", gprof_error());
 *	work();
 *	if (gprof_raw_flight_snapshot(f, fd, NULL))
 *		warnx("%s", gprof_error());
 *	gprof_raw_flight_free(f);
 *
 * "gprofctl read last.raw -o last.trace" makes a trace of it.
 *
 * It records what gprof/flight.h does, with the same configuration, but for these: nothing is
 * named before the file is read, so the files that programs had mapped must be there then (a
 * build-id tells others apart); the program makes no unwind tables, so stacks go by frame pointers
 * where the kernel has no table of a file yet; and there are no triggers. A snapshot costs the
 * copying and the writing of the records.
 *
 * The file is for this library's gprofctl, or a newer one, on the same kind of machine. It begins
 * with eight bytes "gprofraw" and the number of the format.
 *
 * Threads, growth, fork: as for gprof/recorder.h; snapshots may be asked for by any thread, and
 * wait for each other.
 */
#ifndef GPROF_RAW_FLIGHT_H
#define GPROF_RAW_FLIGHT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <gprof/flight.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gprof_raw_flight;

/**
 * gprof_raw_flight_new() - make a flight recorder
 * @cfg: events and target, as for gprof_flight_new(); copied. Its @index is of no use here, and its
 *	@version must be 0
 * @opts: how much to keep, or NULL for the defaults
 *
 * Return: a recorder, or NULL with errno and a sentence from gprof_error(), as for
 * gprof_flight_new().
 */
GPROF_API struct gprof_raw_flight *gprof_raw_flight_new(const struct gprof_trace_config *cfg,
							const struct gprof_flight_opts *opts);

/** gprof_raw_flight_start() - begin recording; 0 or -errno; -EBUSY when it was started before */
GPROF_API int gprof_raw_flight_start(struct gprof_raw_flight *f);

/**
 * struct gprof_raw_snapshot - contents of a snapshot
 * @sz: sizeof(struct gprof_raw_snapshot), set by the caller
 * @until_ns: the instant up to which it goes, CLOCK_MONOTONIC
 * @bytes: of the file
 * @gaps: places in it where records were overwritten before they could be copied, since they came
 *	faster than they were written
 */
struct gprof_raw_snapshot {
	size_t sz;
	uint64_t until_ns;
	uint64_t bytes;
	uint64_t gaps;
};

/**
 * gprof_raw_flight_snapshot() - write the contents of the rings, while recording goes on
 * @f: recorder that was started, or stopped again
 * @fd: where to: a file, a pipe or a socket; not closed
 * @snapshot: gets its contents, or NULL
 *
 * Takes memory for one generation of each ring while it lasts. Where events come faster than @fd
 * takes them it takes more, up to that of the rings once more, lest they are overwritten unread.
 *
 * Return: 0 or -errno, as for gprof_flight_snapshot().
 */
GPROF_API int gprof_raw_flight_snapshot(struct gprof_raw_flight *f, int fd,
					struct gprof_raw_snapshot *snapshot);

/** gprof_raw_flight_stop() - end recording; the rings keep their records; 0 or -errno */
GPROF_API int gprof_raw_flight_stop(struct gprof_raw_flight *f);

/** gprof_raw_flight_stats() - read the counts, as gprof_flight_stats(); 0 or -errno */
GPROF_API int gprof_raw_flight_stats(struct gprof_raw_flight *f, struct gprof_flight_stats *st);

/** gprof_raw_flight_free() - free a recorder, stopping it first; NULL is fine */
GPROF_API void gprof_raw_flight_free(struct gprof_raw_flight *f);

#ifdef __cplusplus
}
#endif

#endif /* GPROF_RAW_FLIGHT_H */
