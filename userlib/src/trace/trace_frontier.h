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
 * @f: frontier, whose generation was read
 * @error: sentence
 * @offset: and where what is wrong begins
 *
 * Return: 0 or -errno.
 */
int gprof_trace_frontier_start(struct gprof_trace_frontier *f, struct gprof_error *error,
			       uint64_t *offset);

/** gprof_trace_frontier_advance() - take the event of the @i-th slot; likewise */
int gprof_trace_frontier_advance(struct gprof_trace_frontier *f, size_t i,
				 struct gprof_error *error, uint64_t *offset);

/** gprof_trace_frontier_sort() - put the heap into order; it stays a heap */
void gprof_trace_frontier_sort(struct gprof_trace_frontier *f);

/** gprof_trace_frontier_at() - the cursor of the @i-th slot */
static inline struct gprof_trace_cursor *
gprof_trace_frontier_at(const struct gprof_trace_frontier *f, size_t i)
{
	return &f->cursors[f->heap[i].cursor];
}

/** gprof_trace_cursor_offset() - where the event begins */
static inline uint64_t gprof_trace_cursor_offset(const struct gprof_trace_cursor *c)
{
	return c->offset - (uint64_t)(c->end - c->p) - c->len;
}

#endif /* GPROF_TRACE_FRONTIER_H */
