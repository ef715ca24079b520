/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * trace_merge.h: the kernel's rings of all CPUs, read side by side into a writer.
 *
 * The ring that is furthest behind is read first, a piece at a time, so that few points of the
 * others are held. A generation is cut where no ring can have an earlier point any more.
 */
#ifndef GPROF_TRACE_MERGE_H
#define GPROF_TRACE_MERGE_H

#include <gprof/trace_record.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/table.h"
#include "device/buffer.h"
#include "trace_decode.h"
#include "trace_naming.h"
#include "trace_users.h"

/* Points that are held before a generation is cut for their number. */
#define GPROF_TRACE_HELD_MAX	131072
/* How long after its time an event may be published, by an interrupt that took long. */
#define GPROF_TRACE_LATE_NS	500000000ULL
/* And its stack behind it, which is taken at once; an event waits no longer for it. */
#define GPROF_TRACE_STACK_LATE_NS	100000000ULL

/**
 * struct gprof_trace_merge_cpu - a ring
 * @ring: it
 * @k: its decoder
 * @merge: the merge
 * @reached: all points before this time were read, but for late ones
 * @empty: nothing was left when it was read last
 */
struct gprof_trace_merge_cpu {
	struct gprof_ring *ring;
	struct gprof_ktrace k;
	struct gprof_trace_merge *merge;
	uint64_t reached;
	bool empty;
};

/**
 * struct gprof_trace_merge - rings that are read
 * @writer: where to
 * @naming: names stacks, or NULL where there are none
 * @users: counts whose events there are in the rings, or NULL
 * @cpus: rings
 * @nr: how many
 * @generation_ns: length of a generation
 * @from: points before are left out, but they set the running and waiting tasks
 * @until: later points are left out
 * @more: called after each piece of a ring; whether there is, or will be, more in it, or
 *	-errno. NULL: rings are filled by themselves
 * @ctx: for @more
 * @cut: the last one
 * @due: the next one
 * @named: by a task's id, when after the cut the name was told that it has
 * @added: points that the writer got
 * @refused: that it did not take
 * @points: of each type
 */
struct gprof_trace_merge {
	struct gprof_trace_writer *writer;
	struct gprof_trace_naming *naming;
	struct gprof_trace_users *users;
	struct gprof_trace_merge_cpu *cpus;
	size_t nr;
	uint64_t generation_ns;
	uint64_t from;
	uint64_t until;
	int (*more)(void *ctx, size_t i);
	void *ctx;
	uint64_t cut;
	uint64_t due;
	struct gprof_map64 named;
	uint64_t added;
	uint64_t refused;
	uint64_t points[GPROF_TRACE_POINTS_MAX];
};

/** gprof_trace_merge_init() - 0 or -ENOMEM; @writer is set, and rings are empty, later */
int gprof_trace_merge_init(struct gprof_trace_merge *m, struct gprof_buffer *buffer,
			   uint64_t generation_ns);
void gprof_trace_merge_free(struct gprof_trace_merge *m);

/**
 * gprof_trace_merge_begin() - the first generation begins
 * @m: merge, whose @writer is set
 * @naming: to name stacks with, or NULL
 * @now: CLOCK_MONOTONIC in ns
 */
void gprof_trace_merge_begin(struct gprof_trace_merge *m, struct gprof_trace_naming *naming,
			     uint64_t now);

/**
 * gprof_trace_merge_read() - read all records of the rings, end the generations that are due
 * @m: merge
 * @now: a clock, CLOCK_MONOTONIC in ns; NULL: the rings are copies, and it is @m->until
 * @last: nothing can come any more
 *
 * Return: 0, or the first -errno: -EBADMSG for a ring that makes no sense, or an error of the
 * writer. Neither keeps the rings from being emptied.
 */
int gprof_trace_merge_read(struct gprof_trace_merge *m, uint64_t (*now)(void), bool last);

/**
 * gprof_trace_merge_lost() - a CPU has ended: add its losses at the end
 * @m: merge
 * @i: number of its ring
 * @lost: how many in all, of which the ring may have told less
 *
 * Return: 0, or -errno of the writer.
 */
int gprof_trace_merge_lost(struct gprof_trace_merge *m, size_t i, uint64_t lost);

#endif /* GPROF_TRACE_MERGE_H */
