// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * wire.c: protobuf messages, one behind the other.
 */
#include "wire.h"

#include <stdlib.h>
#include <string.h>

#include "table.h"

#define INDEX_MAX		5
/* The tag and the length of a field. */
#define HEAD_MAX		15

void gprof_wire_free(struct gprof_wire *w)
{
	free(w->v);
	*w = (struct gprof_wire){ 0 };
}

void gprof_wire_clear(struct gprof_wire *w)
{
	w->nr = 0;
}

bool gprof_wire_grow(struct gprof_wire *w, size_t len)
{
	if (!w->failed && gprof_grow(&w->v, &w->cap, w->nr + len, 1))
		w->failed = true;
	return !w->failed;
}

/* Of a field of @len bytes, at the end. */
static void head(struct gprof_wire *w, unsigned int field, size_t len)
{
	uint8_t *p = gprof_wire_put(w->v + w->nr, (uint64_t)field << 3 | GPROF_WIRE_LENGTH);

	w->nr = (size_t)(gprof_wire_put(p, len) - w->v);
}

void gprof_wire_begin(struct gprof_wire *w, unsigned int field, size_t len)
{
	if (gprof_wire_room(w, HEAD_MAX))
		head(w, field, len);
}

void gprof_wire_raw(struct gprof_wire *w, const void *data, size_t len)
{
	if (!len || !gprof_wire_room(w, len))
		return;
	memcpy(w->v + w->nr, data, len);
	w->nr += len;
}

void gprof_wire_bytes(struct gprof_wire *w, unsigned int field, const void *data, size_t len)
{
	gprof_wire_begin(w, field, len);
	gprof_wire_raw(w, data, len);
}

size_t gprof_wire_open_any(struct gprof_wire *w, unsigned int field)
{
	if (gprof_wire_room(w, HEAD_MAX))
		head(w, field, 0);
	return w->nr;
}

/* The length had a byte. */
void gprof_wire_close_any(struct gprof_wire *w, size_t at)
{
	size_t len = w->nr - at, more = 0, l;

	for (l = len >> 7; l; l >>= 7)
		more++;
	if (!gprof_wire_room(w, more))
		return;
	if (more)
		memmove(w->v + at + more, w->v + at, len);
	gprof_wire_put(w->v + at - 1, len);
	w->nr += more;
}

void gprof_wire_varint(struct gprof_wire *w, uint64_t v)
{
	if (gprof_wire_room(w, GPROF_WIRE_VARINT))
		w->nr = (size_t)(gprof_wire_put(w->v + w->nr, v) - w->v);
}

void gprof_wire_indexes(struct gprof_wire *w, unsigned int field, const uint32_t *v, size_t nr,
			uint32_t more)
{
	size_t i, at;
	uint8_t *p;

	if (!nr || !gprof_wire_room(w, HEAD_MAX + nr * INDEX_MAX))
		return;
	at = gprof_wire_open(w, field);
	p = w->v + w->nr;
	for (i = 0; i < nr; i++)
		p = gprof_wire_put(p, (uint64_t)v[i] + more);
	w->nr = (size_t)(p - w->v);
	gprof_wire_close(w, at);
}
