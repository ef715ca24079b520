/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * trace_frontier.h: the next event of each thread, the earliest first.
 *
 * A cursor goes through the batches of one thread, in the order of the file, and
 * holds one event decoded. The cursors are a binary heap by time. Where times
 * are equal the heap's shape decides, which follows from the order of the
 * threads in the file alone, so that every reading gives the same order.
 */
#ifndef GPROF_TRACE_FRONTIER_H
#define GPROF_TRACE_FRONTIER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "trace_generation.h"
#include "trace_input.h"
#include "trace_memory.h"
#include "trace_wire.h"

/**
 * struct gprof_trace_cursor - where the reading of a thread is
 * @time: of its event, in ns, as the trace says it
 * @args: arguments of its event
 * @type: of its event
 * @state: number of the thread's state, or GPROF_NONE before it was looked up
 * @thread: id, or -1
 * @p: bytes behind the event
 * @end: where those at hand end
 * @left: bytes of the batch behind them
 * @offset: of @end in the trace
 * @len: bytes of the event
 * @next: number of the next batch, or GPROF_NONE
 * @window: room for bytes of a file
 * @room: how many
 */
struct gprof_trace_cursor {
	int64_t time;
	uint64_t args[GPROF_TRACE_ARGS_MAX];
	uint8_t type;
	uint32_t state;
	int64_t thread;
	const unsigned char *p;
	const unsigned char *end;
	uint64_t left;
	uint64_t offset;
	uint32_t len;
	uint32_t next;
	unsigned char *window;
	size_t room;
};

struct gprof_trace_slot {
	int64_t time;
	uint32_t cursor;
	uint32_t was;		/* place before a sort */
};

/**
 * struct gprof_trace_frontier - all cursors
 * @memory: that they are taken from
 * @in: input
 * @g: generation
 * @cursors: one for each thread of the generation
 * @nr_cursors: how many
 * @cap_cursors: room; all of them may have windows
 * @heap: cursors that have an event, the earliest first
 * @nr: how many
 * @cap: room
 */
struct gprof_trace_frontier {
	struct gprof_trace_memory *memory;
	const struct gprof_trace_input *in;
	const struct gprof_trace_generation *g;
	struct gprof_trace_cursor *cursors;
	size_t nr_cursors;
	size_t cap_cursors;
	struct gprof_trace_slot *heap;
	size_t nr;
	size_t cap;
};

void gprof_trace_frontier_init(struct gprof_trace_frontier *f, struct gprof_trace_memory *m,
			       const struct gprof_trace_input *in,
			       const struct gprof_trace_generation *g);
void gprof_trace_frontier_free(struct gprof_trace_frontier *f);

/**
 * gprof_trace_frontier_start() - go to the first event of each thread
 * @f: frontier of a generation that was read
 * @error: sentence
 * @offset: and where the error begins
 *
 * Return: 0 or -errno.
 */
int gprof_trace_frontier_start(struct gprof_trace_frontier *f, struct gprof_error *error,
			       uint64_t *offset);

/** gprof_trace_frontier_step() - take the event of the @i-th slot; likewise */
int gprof_trace_frontier_step(struct gprof_trace_frontier *f, size_t i, struct gprof_error *error,
			      uint64_t *offset);

/** gprof_trace_frontier_sink() - the first slot has a later time than it should have there */
void gprof_trace_frontier_sink(struct gprof_trace_frontier *f);

/** gprof_trace_frontier_sort() - put the heap into order; it stays a heap */
void gprof_trace_frontier_sort(struct gprof_trace_frontier *f);

/** gprof_trace_frontier_at() - the cursor of the @i-th slot */
static inline struct gprof_trace_cursor *
gprof_trace_frontier_at(const struct gprof_trace_frontier *f, size_t i)
{
	return &f->cursors[f->heap[i].cursor];
}

/* A varint of which GPROF_VARINT_MAX bytes may be looked at. */
static inline const unsigned char *gprof_varint_at_hand(const unsigned char *p, uint64_t *v)
{
	uint64_t b = p[0];

	if (b < 0x80) {
		*v = b;
		return p + 1;
	}
	if (p[1] < 0x80) {
		*v = (b & 0x7f) | (uint64_t)p[1] << 7;
		return p + 2;
	}
	if (p[2] < 0x80) {
		*v = (b & 0x7f) | (uint64_t)(p[1] & 0x7f) << 7 | (uint64_t)p[2] << 14;
		return p + 3;
	}
	return gprof_varint(p, p + GPROF_VARINT_MAX, v);
}

/* Decode an event; GPROF_TRACE_EVENT_MAX bytes may be looked at. NULL: its numbers are wrong. */
static inline __attribute__((always_inline)) const unsigned char *
gprof_trace_decode_event(const unsigned char *p, unsigned int nr_args, uint64_t *units,
			 uint64_t *args)
{
	unsigned int i;

	p = gprof_varint_at_hand(p + 1, units);
	for (i = 0; i < nr_args && p; i++)
		p = gprof_varint_at_hand(p, &args[i]);
	return p;
}

/* The event that was decoded, up to @p, is the thread's next one; false: it is too late. */
static inline __attribute__((always_inline)) bool
gprof_trace_cursor_accept(const struct gprof_trace_frontier *f, struct gprof_trace_cursor *c,
			  const unsigned char *p, uint64_t units)
{
	int64_t ns;

	if (!gprof_trace_ns(f->g->ns_per_unit, units, &ns) ||
	    c->time + ns > (int64_t)GPROF_TRACE_TIME_MAX)
		return false;
	c->type = *c->p;
	c->time += ns;
	c->len = (uint32_t)(p - c->p);
	c->p = p;
	return true;
}

/* Take the next event of a thread, if that is right and whole at hand, as almost all are. */
static inline __attribute__((always_inline)) bool
gprof_trace_cursor_next(const struct gprof_trace_frontier *f, struct gprof_trace_cursor *c)
{
	const unsigned char *p = c->p;
	unsigned int timed;
	uint64_t units;

	if (c->end - p < GPROF_TRACE_EVENT_MAX)
		return false;
	timed = gprof_trace_specs[*p].timed;
	if (!timed)
		return false;
	p = gprof_trace_decode_event(p, timed - 1, &units, c->args);
	return p && gprof_trace_cursor_accept(f, c, p, units);
}

/* The first slot's event is a later one now; mostly it stays the first. */
static inline void gprof_trace_frontier_first(struct gprof_trace_frontier *f, int64_t time)
{
	struct gprof_trace_slot *heap = f->heap;

	heap[0].time = time;
	if ((f->nr > 1 && heap[1].time < time) || (f->nr > 2 && heap[2].time < time))
		gprof_trace_frontier_sink(f);
}

/** gprof_trace_frontier_advance() - take the event of @c, the first slot's; 0 or -errno */
static inline __attribute__((always_inline)) int
gprof_trace_frontier_advance(struct gprof_trace_frontier *f, struct gprof_trace_cursor *c,
			     struct gprof_error *error, uint64_t *offset)
{
	if (!gprof_trace_cursor_next(f, c))
		return gprof_trace_frontier_step(f, 0, error, offset);
	gprof_trace_frontier_first(f, c->time);
	return 0;
}

/** gprof_trace_cursor_offset() - where the event begins */
static inline uint64_t gprof_trace_cursor_offset(const struct gprof_trace_cursor *c)
{
	return c->offset - (uint64_t)(c->end - c->p) - c->len;
}

#endif /* GPROF_TRACE_FRONTIER_H */
