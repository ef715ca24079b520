// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * ring_snapshot.c: the contents of a flight ring at one instant, in pieces.
 */
#include "ring_snapshot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The kernel cuts at an eighth; beyond that a record may go on. */
#define PARTS		8
#define SLACK		4096U
/*
 * How near the kernel may come: so much, but a part of a small ring, lest all of it is copied at
 * once; and so many times the bytes that it has written between two reads.
 */
#define NEAR		(1ULL << 20)
#define NEAR_PART	4
#define STRIDES		3
#define SETTLES_NS	1000000L
/* Between two looks at the rings, of a writer that gets half of a CPU. */
#define LOOK_NS		100000000ULL

/**
 * struct gprof_ring_snapshot_piece - a copy
 * @next: the piece behind it
 * @copy: records
 * @before: see gprof_ring_snapshot_next()
 */
struct gprof_ring_snapshot_piece {
	struct gprof_ring_snapshot_piece *next;
	struct gprof_snapshot copy;
	uint64_t before;
};

int gprof_ring_snapshot_begin(struct gprof_ring_snapshot *l, const struct gprof_ring *r)
{
	struct gprof_ring_bounds b;
	int err = gprof_ring_bounds(r, &b);

	*l = (struct gprof_ring_snapshot){ .ring = r };
	if (err)
		return err;
	l->pos = b.oldest;
	l->end = b.head;
	l->head = b.head;
	l->overwritten = b.overwritten;
	l->written = b.written;
	return 0;
}

/*
 * Bytes up to the last generation that begins in a copy of @len, or where none does, of whole
 * records; 0: the first record makes no sense, or is longer. All of it is used if it is the
 * @last.
 */
static size_t whole(struct gprof_snapshot *copy, bool last)
{
	const struct gprof_rec *rec;
	size_t off = 0, at, cut = 0;
	uint32_t size;

	if (last)
		return copy->len;
	for (at = 0; gprof_snapshot_next(copy, &off, &rec, &size) > 0; at = off) {
		if (at && rec->type == GPROF_REC_GENERATION)
			cut = at;
		off = gprof_snapshot_skip_short(copy, off);
	}
	return cut ? cut : at;
}

/*
 * How many samples were overwritten before the present oldest? The producer counts an overwritten
 * generation a moment later, before it publishes the new records.
 */
static int settle(const struct gprof_ring *r, struct gprof_ring_bounds *b)
{
	const struct timespec rest = { .tv_nsec = SETTLES_NS };
	struct gprof_ring_bounds first;
	int err = gprof_ring_bounds(r, b);

	do {
		first = *b;
		if (!err)
			err = gprof_ring_bounds(r, b);
		if (!err && b->head == first.head) {
			nanosleep(&rest, NULL);
			err = gprof_ring_bounds(r, b);
		}
	} while (!err && b->oldest != first.oldest);
	return err;
}

/* Returns 1 if all of it was overwritten; else @copy has the rest. */
static int copy_piece(struct gprof_ring_snapshot *l, struct gprof_snapshot *copy, size_t len)
{
	uint64_t oldest;
	int err;

	*copy = (struct gprof_snapshot){ .memory = malloc(len), .len = len, .pos = l->pos };
	if (!copy->memory)
		return -ENOMEM;
	copy->data = copy->memory;
	err = gprof_ring_copy(l->ring, l->pos, l->pos + len, copy->memory, &oldest);
	if (err)
		return err;
	if (oldest <= l->pos)
		return 0;
	if (oldest - l->pos >= len)
		return 1;
	copy->data += oldest - l->pos;
	copy->len -= oldest - l->pos;
	copy->pos = oldest;
	return 0;
}

/* All records that are left are from after the instant. */
static bool is_over(const struct gprof_ring_snapshot *l)
{
	return l->pos >= l->end;
}

static size_t next_length(const struct gprof_ring_snapshot *l)
{
	size_t len = l->ring->size / PARTS + SLACK;

	return len < l->end - l->pos ? len : l->end - l->pos;
}

/* Copies the next part that was not overwritten. */
static int copy_next(struct gprof_ring_snapshot *l, struct gprof_ring_snapshot_piece *p)
{
	struct gprof_ring_bounds now;
	int ret = 1, err;

	p->before = GPROF_RING_SNAPSHOT_ADJOINS;
	while (!is_over(l)) {
		uint64_t pos = l->pos;

		ret = copy_piece(l, &p->copy, next_length(l));
		if (ret < 0 || (!ret && p->copy.pos == pos))
			break;
		/* Its begin is certain once the count of overwritten samples is. */
		gprof_snapshot_free(&p->copy);
		err = settle(l->ring, &now);
		if (err)
			return err;
		p->before = now.oldest < l->end ? now.overwritten : l->written;
		l->pos = now.oldest;
		ret = 1;
	}
	return ret;
}

static int add_piece(struct gprof_ring_snapshot *l)
{
	struct gprof_ring_snapshot_piece *p = calloc(1, sizeof(*p));
	int ret = p ? copy_next(l, p) : -ENOMEM;

	if (!ret) {
		p->copy.len = whole(&p->copy, p->copy.pos + p->copy.len == l->end);
		if (!p->copy.len)
			ret = -EBADMSG;
		l->pos = p->copy.pos + p->copy.len;
	}
	if (ret < 0) {
		if (p)
			gprof_snapshot_free(&p->copy);
		free(p);
		return ret;
	}
	if (l->last)
		l->last->next = p;
	else
		l->first = p;
	l->last = p;
	return 0;
}

static bool is_near(struct gprof_ring_snapshot *l, const struct gprof_ring_bounds *now)
{
	uint64_t least = l->ring->size / NEAR_PART < NEAR ? l->ring->size / NEAR_PART : NEAR;
	uint64_t stride = now->head - l->head, near;

	l->head = now->head;
	if (stride > l->stride)
		l->stride = stride;
	near = STRIDES * l->stride;
	return now->head + (near > least ? near : least) - l->pos >= l->ring->size;
}

void gprof_ring_snapshot_expect(struct gprof_ring_snapshot *l, const struct gprof_snapshot *first,
				uint64_t now)
{
	uint64_t since = gprof_snapshot_begins(first), bytes;

	if (!since || since >= now)
		return;
	bytes = (l->end - first->pos) * LOOK_NS / (now - since);
	if (bytes > l->stride)
		l->stride = bytes;
}

int gprof_ring_snapshot_rescue(struct gprof_ring_snapshot *l)
{
	while (!is_over(l)) {
		struct gprof_ring_bounds now;
		int err = gprof_ring_bounds(l->ring, &now);

		if (!err && !is_near(l, &now))
			return 0;
		if (!err)
			err = add_piece(l);
		if (err)
			return err;
	}
	return 0;
}

int gprof_ring_snapshot_next(struct gprof_ring_snapshot *l, struct gprof_snapshot *copy,
			     uint64_t *before)
{
	struct gprof_ring_snapshot_piece *p;
	int err;

	*before = GPROF_RING_SNAPSHOT_ADJOINS;
	if (!l->first && !is_over(l)) {
		err = add_piece(l);
		if (err)
			return err;
	}
	p = l->first;
	if (!p)
		return 0;
	*copy = p->copy;
	*before = p->before;
	l->first = p->next;
	if (!l->first)
		l->last = NULL;
	free(p);
	return 0;
}

void gprof_ring_snapshot_free(struct gprof_ring_snapshot *l)
{
	while (l->first) {
		struct gprof_ring_snapshot_piece *p = l->first;

		l->first = p->next;
		gprof_snapshot_free(&p->copy);
		free(p);
	}
	l->last = NULL;
}
