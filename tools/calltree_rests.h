/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Samples that lead further than paths were made at first: they wait, and are then gone on
 * with end by end, for what is below one end is soon small again.
 */
#ifndef TOOLS_CALLTREE_RESTS_H
#define TOOLS_CALLTREE_RESTS_H

#include <stddef.h>
#include <stdint.h>

#include "calltree_ways.h"

/* Samples that go at a time: while one waits for memory, the others do not. */
#define BATCH		8

/**
 * struct rest - a sample that leads further than paths do
 * @value: of the sample
 * @frames: its frames, leaf first
 * @nr: how many of them are left
 * @path: where those before them led to
 * @labels: of the sample
 */
struct rest {
	int64_t value;
	const uint32_t *frames;
	uint32_t nr;
	uint32_t path;
	uint32_t labels;
};

/**
 * struct arrivals - who gets each sample at its path
 * @take: see calltree_collect()
 * @ctx: for it
 * @status: what it returned
 */
struct arrivals {
	int (*take)(void *ctx, uint32_t path, uint32_t labels, int64_t value);
	void *ctx;
	int status;
};

/* arrive() - a sample has; true where no other one may */
static inline bool arrive(struct arrivals *a, const struct calltree *t, const struct rest *r)
{
	a->status = a->take(a->ctx, r->path, r->labels, r->value);
	return a->status || t->nr_paths > CALLTREE_NODES_MAX;
}

/*
 * add_rests() - make paths for all that wait, by ways of the tree
 *
 * A second CPU does half of it where there is one, and what comes of it is the same.
 */
void add_rests(struct ways *ways, struct arrivals *to, struct rest *rests, size_t nr);

#endif /* TOOLS_CALLTREE_RESTS_H */
