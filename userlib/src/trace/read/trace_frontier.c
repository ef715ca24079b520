// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * trace_frontier.c: the next event of each thread, the earliest first.
 */
#include "trace_frontier.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * Bytes of a file at hand for each thread. Traces of a thousand threads exist, so
 * it is small; a page cache makes it cheap.
 */
#define WINDOW		8192
/* Up to this many slots, insertion is the faster sort. */
#define FEW		32

void gprof_trace_frontier_init(struct gprof_trace_frontier *f, struct gprof_trace_memory *m,
			       const struct gprof_trace_input *in,
			       const struct gprof_trace_generation *g)
{
	memset(f, 0, sizeof(*f));
	f->memory = m;
	f->in = in;
	f->g = g;
}

void gprof_trace_frontier_free(struct gprof_trace_frontier *f)
{
	size_t i;

	if (!f->memory)
		return;
	for (i = 0; i < f->cap_cursors; i++)
		gprof_trace_release(f->memory, f->cursors[i].window, f->cursors[i].room);
	gprof_trace_release(f->memory, f->cursors, f->cap_cursors * sizeof(*f->cursors));
	gprof_trace_release(f->memory, f->heap, f->cap * sizeof(*f->heap));
	memset(f, 0, sizeof(*f));
}

#define FAIL(error, offset, at, err, ...) \
	(*(offset) = (at), gprof_error_set(error, err, __VA_ARGS__))

static uint64_t here(const struct gprof_trace_cursor *c)
{
	return c->offset - (uint64_t)(c->end - c->p);
}

/* Have a whole event at hand, if the batch has one. 0 or -errno. */
static int refill(const struct gprof_trace_frontier *f, struct gprof_trace_cursor *c)
{
	size_t have = (size_t)(c->end - c->p);
	size_t n = c->room - have;
	int err;

	if (n > c->left)
		n = (size_t)c->left;
	memmove(c->window, c->p, have);
	err = gprof_trace_input_read(f->in, c->offset, c->window + have, n);
	if (err)
		return err;
	c->p = c->window;
	c->end = c->window + have + n;
	c->left -= n;
	c->offset += n;
	return 0;
}

/* 1, 0 when the thread has no further batch, -1 when its time is out of range. */
static int next_batch(const struct gprof_trace_frontier *f, struct gprof_trace_cursor *c)
{
	const struct gprof_trace_events *b;

	if (c->next == GPROF_NONE)
		return 0;
	b = &f->g->batches[c->next];
	c->next = b->next;
	c->len = 0;
	c->offset = b->offset;
	if (f->in->kind == GPROF_TRACE_INPUT_FILE) {
		c->p = c->end = c->window;
		c->left = b->len;
	} else {
		c->p = b->where.p;
		c->end = c->p + b->len;
		c->left = 0;
		c->offset += b->len;
	}
	return gprof_trace_ns(f->g->ns_per_unit, b->time, &c->time) ? 1 : -1;
}

/* The last events of a batch: behind them may be no more bytes, so go from a copy. */
static const unsigned char *decode_last(struct gprof_trace_cursor *c, unsigned int nr_args,
					uint64_t *units)
{
	unsigned char copy[GPROF_TRACE_EVENT_MAX] = { 0 };
	size_t have = (size_t)(c->end - c->p);
	const unsigned char *p;

	memcpy(copy, c->p, have);
	p = gprof_trace_decode_event(copy, nr_args, units, c->args);
	if (!p || (size_t)(p - copy) > have)
		return NULL;
	return c->p + (p - copy);
}

static int bad_event(const struct gprof_trace_cursor *c, struct gprof_error *error,
		     uint64_t *offset)
{
	const struct gprof_trace_spec *spec = &gprof_trace_specs[*c->p];

	if (!spec->name)
		return FAIL(error, offset, here(c), EBADMSG, "there is no event of number %u", *c->p);
	if (!spec->timed)
		return FAIL(error, offset, here(c), EBADMSG, "%s is no event of a thread",
			    spec->name);
	return FAIL(error, offset, here(c), EBADMSG,
		    "%s does not end with its batch, or has a number of more than 64 bits",
		    spec->name);
}

/* Decode the next event of a thread. 1, 0 when it has none, -errno. */
static int next_event(const struct gprof_trace_frontier *f, struct gprof_trace_cursor *c,
		      struct gprof_error *error, uint64_t *offset)
{
	const unsigned char *p;
	unsigned int timed;
	uint64_t units;

	while (c->p == c->end && !c->left) {
		int ret = next_batch(f, c);

		if (!ret)
			return 0;
		if (ret < 0)
			return FAIL(error, offset, here(c), EBADMSG,
				    "the time of a batch is beyond 2^62 ns");
	}
	if (c->end - c->p < GPROF_TRACE_EVENT_MAX && c->left) {
		int err = refill(f, c);

		if (err)
			return FAIL(error, offset, c->offset, -err, "the trace cannot be read (%s)",
				    gprof_strerror(-err));
	}
	timed = gprof_trace_specs[*c->p].timed;
	if (!timed)
		return bad_event(c, error, offset);
	if (c->end - c->p >= GPROF_TRACE_EVENT_MAX)
		p = gprof_trace_decode_event(c->p, timed - 1, &units, c->args);
	else
		p = decode_last(c, timed - 1, &units);
	if (!p)
		return bad_event(c, error, offset);
	if (!gprof_trace_cursor_accept(f, c, p, units))
		return FAIL(error, offset, here(c), EBADMSG, "the time of an event is beyond 2^62 ns");
	return 1;
}

/*
 * The heap. A parent is not later than its children; only a strictly earlier one
 * moves up.
 */

static size_t sift_up(struct gprof_trace_slot *heap, size_t i)
{
	struct gprof_trace_slot s = heap[i];

	while (i > 0 && heap[(i - 1) / 2].time > s.time) {
		heap[i] = heap[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	heap[i] = s;
	return i;
}

static void sift_down(struct gprof_trace_slot *heap, size_t nr, size_t i)
{
	struct gprof_trace_slot s = heap[i];

	for (;;) {
		size_t child = 2 * i + 1;

		if (child >= nr)
			break;
		if (child + 1 < nr && heap[child + 1].time < heap[child].time)
			child++;
		if (heap[child].time >= s.time)
			break;
		heap[i] = heap[child];
		i = child;
	}
	heap[i] = s;
}

static void heap_update(struct gprof_trace_frontier *f, size_t i, int64_t time)
{
	f->heap[i].time = time;
	if (i == 0 || sift_up(f->heap, i) == i)
		sift_down(f->heap, f->nr, i);
}

static void heap_remove(struct gprof_trace_frontier *f, size_t i)
{
	for (; i > 0; i = (i - 1) / 2)
		f->heap[i] = f->heap[(i - 1) / 2];
	f->heap[0] = f->heap[--f->nr];
	if (f->nr)
		sift_down(f->heap, f->nr, 0);
}

static int have_cursors(struct gprof_trace_frontier *f, size_t nr)
{
	size_t had = f->cap_cursors;
	int err = gprof_trace_grow(f->memory, &f->cursors, &f->cap_cursors, nr, sizeof(*f->cursors));

	if (err)
		return err;
	if (f->cap_cursors > had)
		memset(f->cursors + had, 0, (f->cap_cursors - had) * sizeof(*f->cursors));
	return gprof_trace_grow(f->memory, &f->heap, &f->cap, nr, sizeof(*f->heap));
}

static int have_window(struct gprof_trace_frontier *f, struct gprof_trace_cursor *c,
		       size_t longest)
{
	size_t room = longest < WINDOW ? longest : WINDOW;

	if (f->in->kind != GPROF_TRACE_INPUT_FILE)
		return 0;
	return gprof_trace_grow(f->memory, &c->window, &c->room, room, 1);
}

static int start_cursor(struct gprof_trace_frontier *f, size_t i)
{
	struct gprof_trace_cursor *c = &f->cursors[i];
	int err = have_window(f, c, f->g->threads[i].longest);

	if (err)
		return err;
	c->thread = f->g->threads[i].id;
	c->next = f->g->threads[i].first;
	c->state = GPROF_NONE;
	c->p = c->end = NULL;
	c->left = 0;
	c->len = 0;
	return 0;
}

int gprof_trace_frontier_start(struct gprof_trace_frontier *f, struct gprof_error *error,
			       uint64_t *offset)
{
	size_t i;
	int ret = have_cursors(f, f->g->nr_threads);

	f->nr = 0;
	f->nr_cursors = f->g->nr_threads;
	for (i = 0; i < f->nr_cursors && !ret; i++) {
		ret = start_cursor(f, i);
		if (ret)
			break;
		ret = next_event(f, &f->cursors[i], error, offset);
		if (ret < 0)
			return ret;
		if (ret) {
			f->heap[f->nr].time = f->cursors[i].time;
			f->heap[f->nr].cursor = (uint32_t)i;
			sift_up(f->heap, f->nr++);
		}
		ret = 0;
	}
	if (ret)
		return FAIL(error, offset, f->in->offset, -ret,
			    ret == -EFBIG ? "a generation takes more memory than it may have"
					  : "no memory for a generation");
	return 0;
}

void gprof_trace_frontier_sink(struct gprof_trace_frontier *f)
{
	sift_down(f->heap, f->nr, 0);
}

int gprof_trace_frontier_step(struct gprof_trace_frontier *f, size_t i, struct gprof_error *error,
			      uint64_t *offset)
{
	struct gprof_trace_cursor *c = gprof_trace_frontier_at(f, i);
	int ret = next_event(f, c, error, offset);

	if (ret < 0)
		return ret;
	if (ret)
		heap_update(f, i, c->time);
	else
		heap_remove(f, i);
	return 0;
}

static int by_time(const void *pa, const void *pb)
{
	const struct gprof_trace_slot *a = pa, *b = pb;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return a->was < b->was ? -1 : 1;
}

void gprof_trace_frontier_sort(struct gprof_trace_frontier *f)
{
	size_t i, k;

	if (f->nr > FEW) {
		for (i = 0; i < f->nr; i++)
			f->heap[i].was = (uint32_t)i;
		qsort(f->heap, f->nr, sizeof(*f->heap), by_time);
		return;
	}
	for (i = 1; i < f->nr; i++) {
		struct gprof_trace_slot s = f->heap[i];

		for (k = i; k > 0 && f->heap[k - 1].time > s.time; k--)
			f->heap[k] = f->heap[k - 1];
		f->heap[k] = s;
	}
}
