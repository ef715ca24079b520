/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * trace_ids.h: any 64-bit id to the number of an element, and elements that
 * come and go.
 *
 * Open addressing with linear probing. An id that is taken out leaves no mark:
 * those behind it move up. The hash has a random seed, for ids come from a file.
 */
#ifndef GPROF_TRACE_IDS_H
#define GPROF_TRACE_IDS_H

#include <stdint.h>

#include "base/table.h"
#include "trace_memory.h"

struct gprof_trace_id {
	uint64_t id;
	uint32_t value;		/* GPROF_NONE: free */
};

/**
 * struct gprof_trace_ids - the map
 * @slots: ids and values
 * @size: slots, a power of two, or 0
 * @used: ids in it
 * @shift: 64 - log2(@size)
 * @seed: for the hash, odd
 */
struct gprof_trace_ids {
	struct gprof_trace_id *slots;
	size_t size;
	size_t used;
	unsigned int shift;
	uint64_t seed;
};

void gprof_trace_ids_init(const struct gprof_trace_memory *m, struct gprof_trace_ids *t);
void gprof_trace_ids_free(struct gprof_trace_memory *m, struct gprof_trace_ids *t);
/** gprof_trace_ids_clear() - take all ids out */
void gprof_trace_ids_clear(struct gprof_trace_ids *t);
/** gprof_trace_ids_put() - add an id that is not there; 0, -ENOMEM or -EFBIG */
int gprof_trace_ids_put(struct gprof_trace_memory *m, struct gprof_trace_ids *t, uint64_t id,
			uint32_t value);
/** gprof_trace_ids_remove() - take out an id that is there */
void gprof_trace_ids_remove(struct gprof_trace_ids *t, uint64_t id);

static inline size_t gprof_trace_ids_hash(const struct gprof_trace_ids *t, uint64_t id)
{
	uint64_t h = (id ^ t->seed) * 0x9e3779b97f4a7c15ULL;

	h ^= h >> 32;
	return (size_t)((h * t->seed) >> t->shift);
}

/** gprof_trace_ids_get() - the value of an id, or GPROF_NONE */
static inline uint32_t gprof_trace_ids_get(const struct gprof_trace_ids *t, uint64_t id)
{
	size_t i;

	if (!t->size)
		return GPROF_NONE;
	for (i = gprof_trace_ids_hash(t, id); t->slots[i].value != GPROF_NONE;
	     i = (i + 1) & (t->size - 1))
		if (t->slots[i].id == id)
			return t->slots[i].value;
	return GPROF_NONE;
}

#endif /* GPROF_TRACE_IDS_H */
