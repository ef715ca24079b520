/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Paths of a tree that are made below one of them, and samples that go along them.
 *
 * A tree of millions of paths is looked for in memory, which takes most of the time. So only
 * as many as the processor keeps at hand are made at a time. All that is done for each step
 * is in this file.
 */
#ifndef TOOLS_CALLTREE_WAYS_H
#define TOOLS_CALLTREE_WAYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "calltree.h"

/* Paths that are looked for at a time. */
#define PATHS_AT_HAND	16384

/**
 * struct way - a step from a path to another; paths have numbers of their own as long as they
 *	are looked for
 * @parent: where it begins
 * @frame: what it is
 * @path: where it leads to; 0 is what is free, for none leads to where all begin
 */
struct way {
	uint32_t parent;
	uint32_t frame;
	uint32_t path;
};

/**
 * struct child - the first child of a path, which most ways lead over
 * @frame: last step
 * @path: 0: there is none
 */
struct child {
	uint32_t frame;
	uint32_t path;
};

/**
 * struct walk - a sample that goes
 * @frames: leaf first
 * @nr: how many of them are left
 * @at: where those before them led to
 * @ended: there is no path that leads further
 */
struct walk {
	const uint32_t *frames;
	size_t nr;
	uint32_t at;
	bool ended;
};

/**
 * struct ways - all steps from one path on
 * @paths: what is made is added to these
 * @uncounted: what is added to their numbers, for others are still to come before them; or 0
 * @first: the first child of each path
 * @all: an open hash of the steps to all others
 * @mask: of its slots, a power of two less one
 * @nr: paths; the first is where all begin
 * @max: where there are as many, none is made
 * @begin: what the first is in the tree
 * @base: what the second would be in the tree, less one
 * @seed: of the hash, which no file foresees
 */
struct ways {
	struct calltree *paths;
	uint32_t uncounted;
	struct child *first;
	struct way *all;
	size_t mask;
	uint32_t nr;
	uint32_t max;
	uint32_t begin;
	uint32_t base;
	uint64_t seed;
};

/* ways_init() - none yet; ways_free() */
void ways_init(struct ways *w, struct calltree *paths, uint32_t uncounted);
void ways_free(struct ways *w);

/* ways_begin() - nothing is below @begin yet, and @steps are to come; make no more than may be */
void ways_begin(struct ways *w, uint32_t begin, size_t steps);

/* ways_make() - one that is not there, and the path that it leads to */
uint32_t ways_make(struct ways *w, uint32_t at, uint32_t frame);

/* calltree_add_path() - one more, without a value; returns its number */
uint32_t calltree_add_path(struct calltree *t, uint32_t parent, uint32_t frame);

/* ways_path() - the number in the tree of a path that has one of its own here */
static inline uint32_t ways_path(const struct ways *w, uint32_t path)
{
	return path ? w->base + path : w->begin;
}

/* ways_slot() - the slot of a step that is not to the first child, or a free one */
static inline struct way *ways_slot(const struct ways *w, uint32_t parent, uint32_t frame)
{
	uint64_t key = ((uint64_t)parent << 32 | frame) ^ w->seed;
	unsigned __int128 m = (unsigned __int128)key * 0x9e3779b97f4a7c15;
	size_t i = ((uint64_t)m ^ (uint64_t)(m >> 64)) & w->mask;

	while (w->all[i].path && (w->all[i].parent != parent || w->all[i].frame != frame))
		i = (i + 1) & w->mask;
	return &w->all[i];
}

/* Where a step leads to; 0 where that is no path. */
static inline uint32_t ways_step(const struct ways *w, uint32_t at, uint32_t frame)
{
	const struct child *first = &w->first[at];

	if (!first->path || first->frame == frame)
		return first->path;
	return ways_slot(w, at, frame)->path;
}

/* ways_go_known() - go as far as there are paths, all of them a step at a time */
static inline void ways_go_known(const struct ways *ways, struct walk *walks, size_t nr)
{
	bool more;

	do {
		more = false;
		for (struct walk *w = walks; w < walks + nr; w++) {
			uint32_t next = w->ended || !w->nr ? 0 :
					ways_step(ways, w->at, w->frames[w->nr - 1]);

			w->ended = !next;
			w->at = next ? next : w->at;
			w->nr -= !w->ended;
			more |= !w->ended;
		}
	} while (more);
}

/* ways_go() - go as far as paths may be made, or were for a sample before it */
static inline void ways_go(struct ways *ways, struct walk *w)
{
	for (; w->nr; w->nr--) {
		uint32_t frame = w->frames[w->nr - 1], next = ways_step(ways, w->at, frame);

		if (!next) {
			if (ways->nr == ways->max)
				return;
			next = ways_make(ways, w->at, frame);
		}
		w->at = next;
	}
}

#endif /* TOOLS_CALLTREE_WAYS_H */
