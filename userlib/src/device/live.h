/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * live.h: what a flight ring held at one instant, handed out in pieces while the kernel
 * writes on.
 *
 * A piece ends where a generation does, for the kernel gives up whole ones; so it takes about
 * as much memory. It is copied when the one before has been used up, or earlier, when the
 * kernel is about to come to it: who writes to a slow disk has more memory, and loses nothing.
 */
#ifndef GPROF_LIVE_H
#define GPROF_LIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "buffer.h"

struct gprof_live_piece;

/**
 * struct gprof_live - what is yet to be handed out of a ring
 * @ring: it
 * @pos: position of what was not copied yet
 * @end: behind the last record of that instant
 * @first: pieces that were copied
 * @last: the last one of them
 * @overwritten: samples before the first record of that instant
 * @written: and before @end
 * @head: when it was last looked at
 * @stride: the most that the kernel has written between two looks
 */
struct gprof_live {
	const struct gprof_ring *ring;
	uint64_t pos;
	uint64_t end;
	struct gprof_live_piece *first;
	struct gprof_live_piece *last;
	uint64_t overwritten;
	uint64_t written;
	uint64_t head;
	uint64_t stride;
};

/** gprof_live_begin() - this is the instant; 0 or -EBADMSG */
int gprof_live_begin(struct gprof_live *l, const struct gprof_ring *r);

/**
 * gprof_live_expect() - say what the kernel may write before the next look, until two looks
 * have shown it
 */
void gprof_live_expect(struct gprof_live *l, uint64_t bytes);

/** gprof_live_rescue() - copy what the kernel is about to overwrite; as gprof_live_next() */
int gprof_live_rescue(struct gprof_live *l);

/**
 * gprof_live_next() - hand out the next piece
 * @l: live ring
 * @copy: result for gprof_snapshot_free(), zeroed, which begins with a whole record; of no
 *	bytes when there is none
 * @before: gets how many samples the ring had given up before this piece, since START, where
 *	the kernel has overwritten what was to come; or GPROF_LIVE_ADJOINS
 *
 * Return: 0, -ENOMEM or -EBADMSG.
 */
int gprof_live_next(struct gprof_live *l, struct gprof_snapshot *copy, uint64_t *before);
void gprof_live_free(struct gprof_live *l);

#define GPROF_LIVE_ADJOINS	UINT64_MAX

#endif /* GPROF_LIVE_H */
