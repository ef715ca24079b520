/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * pprof_ids.h: the ids of a pprof file, which may be any numbers, and what they stand for.
 *
 * Nearly all files count from 1 on, and a large one is asked for millions of ids: as long
 * as they do, there is nothing to look up.
 */
#ifndef GPROF_PPROF_IDS_H
#define GPROF_PPROF_IDS_H

#include <stdint.h>

#include "base/table.h"

/**
 * struct gprof_ids - ids to indexes
 * @counted: ids from 1 to this one stand for the index below them
 * @others: all other ids
 */
struct gprof_ids {
	uint32_t counted;
	struct gprof_map64 others;
};

/** gprof_ids_init() - none; @budget is what memory is taken of */
static inline void gprof_ids_init(struct gprof_ids *ids, struct gprof_budget *budget)
{
	ids->counted = 0;
	gprof_map64_init(&ids->others);
	ids->others.budget = budget;
}

static inline void gprof_ids_free(struct gprof_ids *ids)
{
	gprof_map64_free(&ids->others);
}

/** gprof_ids_put() - set the index of an id that has none; 0 or -ENOMEM */
static inline int gprof_ids_put(struct gprof_ids *ids, uint64_t id, uint32_t index)
{
	if (index != ids->counted || id != (uint64_t)index + 1)
		return gprof_map64_put(&ids->others, id, index);
	ids->counted++;
	return 0;
}

/** gprof_ids_get() - the index of an id, or GPROF_NONE */
static inline uint32_t gprof_ids_get(const struct gprof_ids *ids, uint64_t id)
{
	return id - 1 < ids->counted ? (uint32_t)(id - 1) : gprof_map64_get(&ids->others, id);
}

#endif /* GPROF_PPROF_IDS_H */
