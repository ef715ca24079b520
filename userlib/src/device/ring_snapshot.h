/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * ring_snapshot.h: the contents of a flight ring at one instant, read in pieces while the kernel
 * writes on.
 *
 * A piece ends where a generation does, for the kernel overwrites whole ones; so it takes about as
 * much memory. It is copied when the one before has been read, or earlier, when the kernel is
 * about to overwrite it: a reader with a slow disk takes more memory, and loses nothing.
 */
#ifndef GPROF_RING_SNAPSHOT_H
#define GPROF_RING_SNAPSHOT_H

#include <stdbool.h>
#include <stdint.h>

#include "buffer.h"

struct gprof_ring_snapshot_piece;

/**
 * struct gprof_ring_snapshot - the part of a ring that is still to be read
 * @ring: it
 * @pos: position up to which it is copied
 * @end: behind the last record of that instant
 * @first: pieces that were copied
 * @last: the last one of them
 * @overwritten: samples before the first record of that instant
 * @written: and before @end
 * @head: when it was last looked at
 * @stride: the most that the kernel has written between two looks
 */
struct gprof_ring_snapshot {
	const struct gprof_ring *ring;
	uint64_t pos;
	uint64_t end;
	struct gprof_ring_snapshot_piece *first;
	struct gprof_ring_snapshot_piece *last;
	uint64_t overwritten;
	uint64_t written;
	uint64_t head;
	uint64_t stride;
};

/** gprof_ring_snapshot_begin() - this is the instant; 0 or -EBADMSG */
int gprof_ring_snapshot_begin(struct gprof_ring_snapshot *l, const struct gprof_ring *r);

/**
 * gprof_ring_snapshot_expect() - an estimate of the bytes that the kernel writes between two
 * looks, until they were measured: there was one look only, and much may be overwritten before the
 * second
 * @l: live ring
 * @first: its first piece
 * @now: the instant, CLOCK_MONOTONIC in ns
 */
void gprof_ring_snapshot_expect(struct gprof_ring_snapshot *l, const struct gprof_snapshot *first,
				uint64_t now);

/** gprof_ring_snapshot_rescue() - copy records soon overwritten; as gprof_ring_snapshot_next() */
int gprof_ring_snapshot_rescue(struct gprof_ring_snapshot *l);

/**
 * gprof_ring_snapshot_next() - hand out the next piece
 * @l: live ring
 * @copy: result for gprof_snapshot_free(), zeroed, which begins with a whole record; of no
 *	bytes when there is none
 * @before: gets how many samples the ring had given up before this piece, since START, where
 *	the kernel has overwritten the next piece; or GPROF_RING_SNAPSHOT_ADJOINS
 *
 * Return: 0, -ENOMEM or -EBADMSG.
 */
int gprof_ring_snapshot_next(struct gprof_ring_snapshot *l, struct gprof_snapshot *copy,
			     uint64_t *before);
void gprof_ring_snapshot_free(struct gprof_ring_snapshot *l);

#define GPROF_RING_SNAPSHOT_ADJOINS	UINT64_MAX

#endif /* GPROF_RING_SNAPSHOT_H */
