/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * buffer.h: the reader's half of the kernel's rings.
 *
 * One ring per CPU; <linux/gprof.h> has the order of the writes and, for this side, the top of
 * buffer.c. A ring may be read by one thread at a time, different rings by different threads.
 */
#ifndef GPROF_BUFFER_H
#define GPROF_BUFFER_H

#include <linux/gprof.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/**
 * struct gprof_ring - one CPU's ring
 * @head: page that the kernel writes
 * @tail: page that the reader writes; NULL in flight mode
 * @data: records; @size bytes, followed by the same bytes again
 * @size: a power of two
 * @pos: position of the next record to read
 * @limit: head when it was last looked at
 * @cpu: its CPU
 * @map_len: bytes mapped at @head; 0 when a test lends the memory
 * @err: sticky -EBADMSG once a record made no sense
 */
struct gprof_ring {
	const struct gprof_ring_head *head;
	struct gprof_ring_tail *tail;
	const unsigned char *data;
	uint64_t size;
	uint64_t pos;
	uint64_t limit;
	uint32_t cpu;
	size_t map_len;
	int err;
};

/**
 * gprof_ring_peek() - look at the next record (stream mode)
 * @r: ring
 * @rec: result; lives until gprof_ring_release()
 * @size: its bytes, which a short record does not say itself
 *
 * Return: 1, 0 when the ring is empty, -EBADMSG when it is corrupt.
 */
int gprof_ring_peek(struct gprof_ring *r, const struct gprof_rec **rec, uint32_t *size);

/** gprof_ring_advance() - go past the record that gprof_ring_peek() gave, or past several */
void gprof_ring_advance(struct gprof_ring *r, uint64_t size);

/** gprof_ring_here() - the record that comes next, where gprof_ring_ahead() is not 0 */
static inline const void *gprof_ring_here(const struct gprof_ring *r)
{
	return r->data + (r->pos & (r->size - 1));
}

/** gprof_ring_ahead() - bytes of records, in a row, that were there at the last look */
static inline uint64_t gprof_ring_ahead(const struct gprof_ring *r)
{
	return r->limit - r->pos;
}

/** gprof_ring_release() - let the kernel reuse everything before this record */
void gprof_ring_release(struct gprof_ring *r);

/**
 * struct gprof_ring_bounds - bounds of a flight ring at one instant
 * @oldest: position of the oldest generation
 * @head: behind the newest record
 * @overwritten: samples before @oldest; when the kernel gives one up right now, it may be
 *	those before the one before
 * @written: samples before @head, likewise
 */
struct gprof_ring_bounds {
	uint64_t oldest;
	uint64_t head;
	uint64_t overwritten;
	uint64_t written;
};

/** gprof_ring_bounds() - look at a flight ring; 0 or -EBADMSG */
int gprof_ring_bounds(const struct gprof_ring *r, struct gprof_ring_bounds *b);

/**
 * gprof_ring_copy() - copy records while the ring is written
 * @r: flight ring
 * @from: position, of a record that there was
 * @to: position, not beyond the head
 * @copy: of @to - @from bytes
 * @oldest: bytes before this position may be overwritten, and are to be ignored
 *
 * Return: 0 or -EBADMSG.
 */
int gprof_ring_copy(const struct gprof_ring *r, uint64_t from, uint64_t to, void *copy,
		    uint64_t *oldest);

/**
 * struct gprof_snapshot - a copy of a flight ring, or of a part of it
 * @data: whole records
 * @len: bytes
 * @pos: position of @data in the ring
 * @memory: to be freed
 * @used: bytes of @data whose memory was given back, see gprof_snapshot_used()
 */
struct gprof_snapshot {
	const unsigned char *data;
	size_t len;
	uint64_t pos;
	unsigned char *memory;
	size_t used;
};

void gprof_snapshot_free(struct gprof_snapshot *snap);

/** gprof_snapshot_used() - bytes before @off are not read again: free their memory */
void gprof_snapshot_used(struct gprof_snapshot *snap, size_t off);

/** gprof_snapshot_begins() - when its first generation begins; 0 where it begins with none */
uint64_t gprof_snapshot_begins(const struct gprof_snapshot *snap);

/** gprof_snapshot_skip_short() - where the first record from @off on is that is no short one */
size_t gprof_snapshot_skip_short(const struct gprof_snapshot *snap, size_t off);

/**
 * gprof_snapshot_next() - walk a snapshot
 * @snap: snapshot
 * @off: where to look; 0 at first, moved past the record
 * @rec: result
 * @size: its bytes
 *
 * Return: 1, 0 at the end, -EBADMSG.
 */
int gprof_snapshot_next(const struct gprof_snapshot *snap, size_t *off,
			const struct gprof_rec **rec, uint32_t *size);

/**
 * struct gprof_buffer - the rings of one recorder
 * @rings: those of the CPUs that have one
 * @nr: how many
 */
struct gprof_buffer {
	struct gprof_ring *rings;
	size_t nr;
};

/**
 * gprof_buffer_map() - map the rings of all CPUs
 * @b: result for gprof_buffer_unmap()
 * @fd: device after SETUP
 * @setup: the answer to SETUP
 * @e: sentence on failure
 */
int gprof_buffer_map(struct gprof_buffer *b, int fd, const struct gprof_setup *setup,
		     struct gprof_error *e);
void gprof_buffer_unmap(struct gprof_buffer *b);

#endif /* GPROF_BUFFER_H */
