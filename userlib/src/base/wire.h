/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * wire.h: protobuf messages, one behind the other, as the repeated fields of a message that
 * is never in memory as a whole.
 */
#ifndef GPROF_WIRE_H
#define GPROF_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct gprof_wire - encoded fields
 * @v: bytes
 * @nr: how many
 * @cap: room
 * @failed: there was no memory; nothing is added any more
 */
struct gprof_wire {
	uint8_t *v;
	size_t nr;
	size_t cap;
	bool failed;
};

#define GPROF_WIRE_VARINT	10	/* bytes of a number, at most */
#define GPROF_WIRE_LENGTH	2	/* kind of a field that is bytes */

void gprof_wire_free(struct gprof_wire *w);
void gprof_wire_clear(struct gprof_wire *w);

/** gprof_wire_bytes() - add encoded fields, or a text, as a field */
void gprof_wire_bytes(struct gprof_wire *w, unsigned int field, const void *data, size_t len);

/** gprof_wire_grow() - make room for @len more bytes, which there was not; false without memory */
bool gprof_wire_grow(struct gprof_wire *w, size_t len);

static inline bool gprof_wire_room(struct gprof_wire *w, size_t len)
{
	return (len <= w->cap - w->nr && !w->failed) || gprof_wire_grow(w, len);
}

/* A number at @p; where it ends. Most have a byte or two. */
static inline uint8_t *gprof_wire_put(uint8_t *p, uint64_t v)
{
	if (v > 0x7f) {
		*p++ = (uint8_t)(v | 0x80);
		v >>= 7;
	}
	for (; v > 0x7f; v >>= 7)
		*p++ = (uint8_t)(v | 0x80);
	*p++ = (uint8_t)v;
	return p;
}

size_t gprof_wire_open_any(struct gprof_wire *w, unsigned int field);
void gprof_wire_close_any(struct gprof_wire *w, size_t at);

/*
 * Frequent messages are written field by field, at a fifth of the instructions: gprof_wire_open()
 * begins a message, gprof_wire_close() ends it, with the return of gprof_wire_open().
 */
static inline size_t gprof_wire_open(struct gprof_wire *w, unsigned int field)
{
	/* A byte of tag, and one of length, which nearly always is enough. */
	if (field > 15 || !gprof_wire_room(w, 2))
		return gprof_wire_open_any(w, field);
	w->v[w->nr] = (uint8_t)(field << 3 | GPROF_WIRE_LENGTH);
	w->nr += 2;
	return w->nr;
}

static inline void gprof_wire_close(struct gprof_wire *w, size_t at)
{
	if (w->nr - at > 0x7f || w->failed)
		gprof_wire_close_any(w, at);
	else
		w->v[at - 1] = (uint8_t)(w->nr - at);
}

/* A number, which is there where it is 0 too. */
static inline void gprof_wire_present(struct gprof_wire *w, unsigned int field, uint64_t v)
{
	uint8_t *p;

	if (!gprof_wire_room(w, 2 * GPROF_WIRE_VARINT))
		return;
	p = gprof_wire_put(w->v + w->nr, (uint64_t)field << 3);
	w->nr = (size_t)(gprof_wire_put(p, v) - w->v);
}

/* A number, which is left out where it is 0. */
static inline void gprof_wire_number(struct gprof_wire *w, unsigned int field, uint64_t v)
{
	if (v)
		gprof_wire_present(w, field, v);
}

/** gprof_wire_varint() - add a number to a packed field that was opened */
void gprof_wire_varint(struct gprof_wire *w, uint64_t v);
/** gprof_wire_indexes() - add a packed field of numbers, to each of which @more is added */
void gprof_wire_indexes(struct gprof_wire *w, unsigned int field, const uint32_t *v, size_t nr,
			uint32_t more);

/** gprof_wire_begin() - add the head of a field of @len bytes, which gprof_wire_raw() adds */
void gprof_wire_begin(struct gprof_wire *w, unsigned int field, size_t len);
void gprof_wire_raw(struct gprof_wire *w, const void *data, size_t len);

#endif /* GPROF_WIRE_H */
