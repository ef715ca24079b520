// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * trace_memory.c: memory of a trace reader, counted and limited.
 */
#include "trace_memory.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>

#define CHUNK	(256 * 1024)	/* bytes; a larger request gets a chunk of its own */

struct gprof_trace_chunk {
	struct gprof_trace_chunk *next;
	size_t size;
	unsigned char bytes[];
};

void gprof_trace_memory_init(struct gprof_trace_memory *m, uint64_t max)
{
	m->used = m->peak = 0;
	m->max = max;
	if (getrandom(&m->seed, sizeof(m->seed), GRND_NONBLOCK) != sizeof(m->seed))
		m->seed = (uintptr_t)m;
}

static int charge(struct gprof_trace_memory *m, size_t size)
{
	if (size > m->max - m->used) {
		errno = EFBIG;
		return -EFBIG;
	}
	m->used += size;
	if (m->used > m->peak)
		m->peak = m->used;
	return 0;
}

void *gprof_trace_alloc(struct gprof_trace_memory *m, size_t size)
{
	void *p;

	if (charge(m, size))
		return NULL;
	p = malloc(size);
	if (!p)
		m->used -= size;
	return p;
}

void gprof_trace_release(struct gprof_trace_memory *m, void *p, size_t size)
{
	if (!p)
		return;
	free(p);
	m->used -= size;
}

int gprof_trace_grow(struct gprof_trace_memory *m, void *array, size_t *cap, size_t need,
		     size_t size)
{
	void **p = array;
	size_t n = *cap + *cap / 2 + 8;
	void *bigger;
	int err;

	if (need <= *cap)
		return 0;
	if (n < need)
		n = need;
	if (n > SIZE_MAX / 2 / size)
		return -ENOMEM;
	err = charge(m, (n - *cap) * size);
	if (err)
		return err;
	bigger = realloc(*p, n * size);
	if (!bigger) {
		m->used -= (n - *cap) * size;
		return -ENOMEM;
	}
	*p = bigger;
	*cap = n;
	return 0;
}

void *gprof_trace_arena_alloc(struct gprof_trace_memory *m, struct gprof_trace_arena *a,
			      size_t size)
{
	void *p;

	if (!a->chunks || size > a->left) {
		size_t room = size > CHUNK ? size : CHUNK;
		struct gprof_trace_chunk *c = gprof_trace_alloc(m, sizeof(*c) + room);

		if (!c)
			return NULL;
		c->size = sizeof(*c) + room;
		c->next = a->chunks;
		a->chunks = c;
		a->p = c->bytes;
		a->left = room;
	}
	p = a->p;
	a->p += size;
	a->left -= size;
	return p;
}

static void drop(struct gprof_trace_memory *m, struct gprof_trace_arena *a,
		 struct gprof_trace_chunk *until)
{
	while (a->chunks != until) {
		struct gprof_trace_chunk *next = a->chunks->next;

		gprof_trace_release(m, a->chunks, a->chunks->size);
		a->chunks = next;
	}
}

void gprof_trace_arena_clear(struct gprof_trace_memory *m, struct gprof_trace_arena *a)
{
	struct gprof_trace_chunk *first = a->chunks;

	while (first && first->next)
		first = first->next;
	drop(m, a, first);
	a->p = first ? first->bytes : NULL;
	a->left = first ? first->size - sizeof(*first) : 0;
}

void gprof_trace_arena_free(struct gprof_trace_memory *m, struct gprof_trace_arena *a)
{
	drop(m, a, NULL);
	a->p = NULL;
	a->left = 0;
}
