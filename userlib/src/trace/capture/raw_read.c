// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * raw_read.c: the file that gprof_raw_flight_snapshot() writes.
 *
 * Nothing of it is trusted: a ring has no more bytes than it can hold, and all together have no more
 * than the file.
 */
#include "raw_read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/read_at.h"
#include "base/table.h"
#include "device/ring_snapshot.h"
#include "trace_span.h"

#define STRUCT_MAX	4096U
#define RINGS_MAX	(1U << 16)
#define RING_MIN	4096ULL
#define RING_MAX	(1ULL << 30)
/* A record of a loss, for each part. */
#define LOST_SIZE	(sizeof(struct gprof_lost_rec) + sizeof(uint64_t))

bool gprof_raw_is(int fd)
{
	char magic[8];

	return !gprof_read_at(fd, magic, sizeof(magic), 0) &&
	       !memcmp(magic, GPROF_RAW_MAGIC, sizeof(magic));
}

static int damaged(struct gprof_error *e)
{
	return gprof_error_set(e, EBADMSG, "the raw snapshot makes no sense, or is cut short");
}

static int read_head(struct gprof_raw_read *r, int fd, uint64_t size, struct gprof_error *e)
{
	struct gprof_raw_head *h = &r->head;

	if (gprof_read_at(fd, h, sizeof(*h), 0))
		return damaged(e);
	if (h->version != GPROF_RAW_VERSION)
		return gprof_error_set(e, EBADMSG, "the raw snapshot has format %u, of which this "
				       "library knows %u; it is of a newer gprof", h->version,
				       GPROF_RAW_VERSION);
	if (h->machine != gprof_raw_machine())
		return gprof_error_set(e, ENOEXEC, "the raw snapshot is of another kind of machine "
				       "(ELF's number %u); read it on one of these", h->machine);
	h->sample_type[sizeof(h->sample_type) - 1] = '\0';
	h->sample_unit[sizeof(h->sample_unit) - 1] = '\0';
	if (h->head_size < sizeof(*h) || h->head_size > STRUCT_MAX || h->head_size % 8 ||
	    h->ring_size < sizeof(struct gprof_ring_head) || h->ring_size > STRUCT_MAX ||
	    h->ring_size % 8 || !h->rings || h->rings > RINGS_MAX ||
	    (uint64_t)h->rings * h->ring_size > size || h->started_ns > h->until_ns ||
	    h->from_ns > h->until_ns)
		return damaged(e);
	return 0;
}

static bool makes_sense(const struct gprof_raw_read *r, uint32_t i)
{
	const struct gprof_ring_head *h = &r->rings[i];

	return h->kind == GPROF_KIND_TRACE && h->flags & GPROF_SETUP_F_FLIGHT &&
	       h->recorder == r->rings[0].recorder && (!i || h->cpu > r->rings[i - 1].cpu) &&
	       h->data_size >= RING_MIN && h->data_size <= RING_MAX &&
	       !(h->data_size & (h->data_size - 1));
}

static int read_rings(struct gprof_raw_read *r, int fd, struct gprof_error *e)
{
	uint32_t i;

	r->rings = calloc(r->head.rings, sizeof(*r->rings));
	if (!r->rings)
		return gprof_error_set(e, ENOMEM, "no memory for a raw snapshot");
	for (i = 0; i < r->head.rings; i++) {
		if (gprof_read_at(fd, &r->rings[i], sizeof(*r->rings),
				  r->head.head_size + (uint64_t)i * r->head.ring_size))
			return damaged(e);
		if (r->rings[i].version != GPROF_ABI_VERSION)
			return gprof_error_set(e, EBADMSG, "the raw snapshot is of another version "
					       "of gprof.ko");
		if (!makes_sense(r, i))
			return damaged(e);
	}
	return 0;
}

/**
 * struct filled - how far a ring is read
 * @pos: behind its last part
 * @bytes: of all of them
 */
struct filled {
	uint64_t pos;
	uint64_t bytes;
};

/* @left: bytes of the file behind the part's head. */
static bool fits(const struct gprof_raw_read *r, const struct gprof_raw_part *p,
		 struct filled *f, uint64_t left)
{
	bool adjoins = p->before == GPROF_RING_SNAPSHOT_ADJOINS;

	if (p->zero || (!p->bytes && adjoins) || p->bytes > left || (p->bytes | p->pos) % 8 ||
	    p->pos < f->pos || p->pos > UINT64_MAX / 2 ||
	    (f->bytes && adjoins && p->pos != f->pos) ||
	    p->bytes > r->rings[p->ring].data_size - f->bytes)
		return false;
	f->pos = p->pos + p->bytes;
	f->bytes += p->bytes;
	return true;
}

static int add_part(struct gprof_raw_read *r, const struct gprof_raw_part *p, uint64_t at,
		    size_t *room)
{
	if (gprof_grow(&r->parts, room, r->nr + 1, sizeof(*r->parts)))
		return -ENOMEM;
	r->parts[r->nr++] = (struct gprof_raw_place){ *p, at };
	return 0;
}

static int read_parts(struct gprof_raw_read *r, int fd, uint64_t size, struct filled *filled,
		      struct gprof_error *e)
{
	uint64_t at = r->head.head_size + (uint64_t)r->head.rings * r->head.ring_size;
	struct gprof_raw_part p;
	size_t room = 0;

	for (;;) {
		if (gprof_read_at(fd, &p, sizeof(p), at))
			return damaged(e);
		at += sizeof(p);
		if (p.ring == GPROF_RAW_END)
			break;
		if (at > size || p.ring >= r->head.rings ||
		    !fits(r, &p, &filled[p.ring], size - at))
			return damaged(e);
		if (add_part(r, &p, at, &room))
			return gprof_error_set(e, ENOMEM, "no memory for a raw snapshot");
		at += p.bytes;
	}
	if (p.bytes < sizeof(r->end) || gprof_read_at(fd, &r->end, sizeof(r->end), at))
		return damaged(e);
	return 0;
}

static int by_ring(const void *pa, const void *pb)
{
	const struct gprof_raw_part *a = &((const struct gprof_raw_place *)pa)->part;
	const struct gprof_raw_part *b = &((const struct gprof_raw_place *)pb)->part;

	if (a->ring != b->ring)
		return a->ring < b->ring ? -1 : 1;
	return a->pos < b->pos ? -1 : a->pos > b->pos;
}

int gprof_raw_read_open(struct gprof_raw_read *r, int fd, struct gprof_error *e)
{
	struct filled *filled;
	struct stat st;
	int err;

	*r = (struct gprof_raw_read){ 0 };
	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return gprof_error_set(e, ENOEXEC, "a raw snapshot must be a regular file");
	err = read_head(r, fd, (uint64_t)st.st_size, e);
	if (!err)
		err = read_rings(r, fd, e);
	if (err)
		return err;
	filled = calloc(r->head.rings, sizeof(*filled));
	if (!filled)
		return gprof_error_set(e, ENOMEM, "no memory for a raw snapshot");
	err = read_parts(r, fd, (uint64_t)st.st_size, filled, e);
	free(filled);
	if (!err && r->nr)
		qsort(r->parts, r->nr, sizeof(*r->parts), by_ring);
	return err;
}

/* The first part of a ring, or of one behind it. */
static size_t first_part(const struct gprof_raw_read *r, uint32_t ring)
{
	size_t low = 0, high = r->nr;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (r->parts[mid].part.ring < ring)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Events before a part that is not the first: the kernel has counted those that are not here. */
static void put_lost(struct gprof_snapshot *copy, const struct gprof_raw_part *p,
		     const struct gprof_trace_span *seen, uint64_t *gone)
{
	const struct gprof_lost_rec rec = { .rec = { GPROF_REC_LOST, 0, LOST_SIZE } };
	uint64_t known = *gone + seen->k.samples;
	uint64_t missed = p->before > known ? p->before - known : 0;

	*gone += missed;
	memcpy(copy->memory + copy->len, &rec, sizeof(rec));
	memcpy(copy->memory + copy->len + sizeof(rec), &missed, sizeof(missed));
	copy->len += LOST_SIZE;
}

/* Records that follow nothing begin with a generation. */
static int read_part(const struct gprof_raw_place *at, int fd, bool follows,
		     struct gprof_snapshot *copy, struct gprof_trace_span *seen)
{
	const struct gprof_snapshot part = {
		.data = copy->memory + copy->len, .len = at->part.bytes,
	};

	if (gprof_read_at(fd, copy->memory + copy->len, part.len, at->at))
		return -EBADMSG;
	if (!follows && !gprof_snapshot_begins(&part))
		return -EBADMSG;
	copy->len += part.len;
	return gprof_trace_span_add(seen, &part);
}

int gprof_raw_read_ring(const struct gprof_raw_read *r, int fd, uint32_t ring,
			struct gprof_snapshot *copy)
{
	size_t first = first_part(r, ring), end = first_part(r, ring + 1), i;
	uint64_t gone = r->rings[ring].overwritten, bytes = 0;
	struct gprof_trace_span seen;
	int err = 0;

	*copy = (struct gprof_snapshot){ .pos = first < end ? r->parts[first].part.pos : 0 };
	for (i = first; i < end; i++)
		bytes += r->parts[i].part.bytes + LOST_SIZE;
	copy->memory = malloc(bytes + 1);
	if (!copy->memory)
		return -ENOMEM;
	copy->data = copy->memory;
	gprof_trace_span_init(&seen);
	for (i = first; i < end && !err; i++) {
		const struct gprof_raw_part *p = &r->parts[i].part;
		bool adjoins = p->before == GPROF_RING_SNAPSHOT_ADJOINS;

		if (!adjoins && i == first)
			gone = p->before;
		else if (!adjoins)
			put_lost(copy, p, &seen, &gone);
		if (p->bytes)
			err = read_part(&r->parts[i], fd, adjoins && i > first, copy, &seen);
	}
	gprof_trace_span_free(&seen);
	return err;
}

void gprof_raw_read_free(struct gprof_raw_read *r)
{
	free(r->rings);
	free(r->parts);
	*r = (struct gprof_raw_read){ 0 };
}
