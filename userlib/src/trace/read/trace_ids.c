// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * trace_ids.c: any 64-bit id to the number of an element.
 */
#include "trace_ids.h"

#include <errno.h>
#include <string.h>

#define FIRST_SIZE	64

void gprof_trace_ids_init(const struct gprof_trace_memory *m, struct gprof_trace_ids *t)
{
	memset(t, 0, sizeof(*t));
	t->seed = m->seed | 1;
}

void gprof_trace_ids_free(struct gprof_trace_memory *m, struct gprof_trace_ids *t)
{
	gprof_trace_release(m, t->slots, t->size * sizeof(*t->slots));
	t->slots = NULL;
	t->size = t->used = 0;
}

void gprof_trace_ids_clear(struct gprof_trace_ids *t)
{
	if (t->used)
		memset(t->slots, 0xff, t->size * sizeof(*t->slots));
	t->used = 0;
}

static void put(struct gprof_trace_ids *t, uint64_t id, uint32_t value)
{
	size_t i = gprof_trace_ids_hash(t, id);

	while (t->slots[i].value != GPROF_NONE)
		i = (i + 1) & (t->size - 1);
	t->slots[i].id = id;
	t->slots[i].value = value;
}

static int grow(struct gprof_trace_memory *m, struct gprof_trace_ids *t)
{
	struct gprof_trace_ids bigger = *t;
	size_t i;

	bigger.size = t->size ? t->size * 2 : FIRST_SIZE;
	bigger.shift = 64 - (unsigned int)__builtin_ctzll(bigger.size);
	bigger.slots = gprof_trace_alloc(m, bigger.size * sizeof(*bigger.slots));
	if (!bigger.slots)
		return -errno;
	memset(bigger.slots, 0xff, bigger.size * sizeof(*bigger.slots));
	for (i = 0; i < t->size; i++)
		if (t->slots[i].value != GPROF_NONE)
			put(&bigger, t->slots[i].id, t->slots[i].value);
	gprof_trace_release(m, t->slots, t->size * sizeof(*t->slots));
	*t = bigger;
	return 0;
}

int gprof_trace_ids_put(struct gprof_trace_memory *m, struct gprof_trace_ids *t, uint64_t id,
			uint32_t value)
{
	if (t->used >= t->size / 2) {
		int err = grow(m, t);

		if (err)
			return err;
	}
	put(t, id, value);
	t->used++;
	return 0;
}

void gprof_trace_ids_remove(struct gprof_trace_ids *t, uint64_t id)
{
	size_t mask = t->size - 1;
	size_t hole = gprof_trace_ids_hash(t, id);
	size_t i;

	while (t->slots[hole].id != id || t->slots[hole].value == GPROF_NONE)
		hole = (hole + 1) & mask;
	for (i = (hole + 1) & mask; t->slots[i].value != GPROF_NONE; i = (i + 1) & mask) {
		size_t home = gprof_trace_ids_hash(t, t->slots[i].id);

		/* It may move up only as far as where it would have been put at first. */
		if (((i - home) & mask) >= ((i - hole) & mask)) {
			t->slots[hole] = t->slots[i];
			hole = i;
		}
	}
	t->slots[hole].value = GPROF_NONE;
	t->used--;
}
