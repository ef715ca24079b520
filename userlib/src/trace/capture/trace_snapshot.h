/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * trace_snapshot.h: the contents of flight rings at one instant, as a trace.
 *
 * The rings of all CPUs are copied while the kernel writes on, a piece of each at a time.
 * Each begins with a whole generation of its own; the trace begins where all of them tell
 * something, and ends for all at the instant before the first was looked at.
 */
#ifndef GPROF_TRACE_SNAPSHOT_H
#define GPROF_TRACE_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "device/buffer.h"
#include "device/ring_snapshot.h"
#include "trace/convert/trace_merge.h"
#include "trace/convert/trace_naming.h"

/**
 * struct gprof_trace_snapshot - copies of rings, which are read as rings are
 * @rings: of the copies, for the merge
 * @copies: their input: a piece, or all
 * @live: the rest behind the pieces; NULL: none
 * @missed: events that the kernel overwrote before they were copied
 * @users: to count whose events there are, or NULL
 * @merge: that reads it
 * @heads: in place of the kernel's pages
 * @tails: likewise
 * @nr: how many
 * @from: time from which on all of them tell
 * @until: to which they do
 */
struct gprof_trace_snapshot {
	struct gprof_buffer rings;
	struct gprof_snapshot *copies;
	struct gprof_ring_snapshot *live;
	uint64_t missed;
	struct gprof_trace_users *users;
	struct gprof_trace_merge *merge;
	struct gprof_ring_head *heads;
	struct gprof_ring_tail *tails;
	size_t nr;
	uint64_t from;
	uint64_t until;
};

/**
 * gprof_trace_snapshot_capture() - this is the instant
 * @s: result for gprof_trace_snapshot_free(), also after a failure
 * @flight: rings of a recorder in flight mode, which are read until then
 * @started: when it was
 * @now: the instant, CLOCK_MONOTONIC in ns
 *
 * Return: 0; -ENOMEM; -EAGAIN: the kernel overwrites a ring faster than it can be copied;
 * -EBADMSG: one makes no sense.
 */
int gprof_trace_snapshot_capture(struct gprof_trace_snapshot *s, struct gprof_buffer *flight,
				 uint64_t started, uint64_t now);

/**
 * gprof_trace_snapshot_init() - of copies that are there already
 * @s: result for gprof_trace_snapshot_free(), also after a failure
 * @nr: most copies
 * @started: when the recorder was
 * @now: the instant of the copies
 *
 * Return: 0 or -ENOMEM.
 */
int gprof_trace_snapshot_init(struct gprof_trace_snapshot *s, size_t nr, uint64_t started,
			      uint64_t now);

/** gprof_trace_snapshot_add() - the copy at @s->copies[@s->nr] is one, of @cpu's ring */
void gprof_trace_snapshot_add(struct gprof_trace_snapshot *s, uint32_t cpu);

/**
 * gprof_trace_snapshot_write() - make a trace of it
 * @s: snapshot, which is used up
 * @w: writer, which stays open; its generation is cut
 * @naming: to name stacks with, or NULL
 * @generation_ns: length of a generation
 * @samples: gets how many events, stacks and CPU samples the rings held
 *
 * Return: 0 or -errno.
 */
int gprof_trace_snapshot_write(struct gprof_trace_snapshot *s, struct gprof_trace_writer *w,
			       struct gprof_trace_naming *naming, uint64_t generation_ns,
			       uint64_t *samples);
void gprof_trace_snapshot_free(struct gprof_trace_snapshot *s);

#endif /* GPROF_TRACE_SNAPSHOT_H */
