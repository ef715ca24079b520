/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * pprof_ids.h: the ids of a pprof file, which may be any numbers, to indices.
 *
 * Nearly all files count from 1 on, and a large one is asked for millions of ids: as long
 * as they do, there is nothing to search.
 */
#ifndef GPROF_PPROF_IDS_H
#define GPROF_PPROF_IDS_H

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/table.h"

/**
 * struct gprof_ids - ids to indexes
 * @v: of ids from 1 on
 * @nr: how many
 * @cap: room
 * @others: all other ids
 */
struct gprof_ids {
	uint32_t *v;
	size_t nr;
	size_t cap;
	struct gprof_map64 others;
};

/** gprof_ids_init() - none; @budget for its memory */
static inline void gprof_ids_init(struct gprof_ids *ids, struct gprof_budget *budget)
{
	ids->v = NULL;
	ids->nr = ids->cap = 0;
	gprof_map64_init(&ids->others);
	ids->others.budget = budget;
}

static inline void gprof_ids_free(struct gprof_ids *ids)
{
	gprof_budget_uncharge(ids->others.budget, ids->cap * sizeof(*ids->v));
	free(ids->v);
	gprof_map64_free(&ids->others);
}

/** gprof_ids_put() - set the index of an id that has none; 0 or -ENOMEM */
static inline int gprof_ids_put(struct gprof_ids *ids, uint64_t id, uint32_t index)
{
	if (id != (uint64_t)ids->nr + 1)
		return gprof_map64_put(&ids->others, id, index);
	if (gprof_grow_within(ids->others.budget, &ids->v, &ids->cap, ids->nr + 1,
			      sizeof(*ids->v)))
		return -ENOMEM;
	ids->v[ids->nr++] = index;
	return 0;
}

/** gprof_ids_get() - the index of an id, or GPROF_NONE */
static inline uint32_t gprof_ids_get(const struct gprof_ids *ids, uint64_t id)
{
	return id - 1 < ids->nr ? ids->v[id - 1] : gprof_map64_get(&ids->others, id);
}

#endif /* GPROF_PPROF_IDS_H */
