// SPDX-License-Identifier: GPL-2.0-only
/*
 * Paths of a tree that are made below one of them: see calltree_ways.h.
 */
#include "calltree_ways.h"

#include <stdlib.h>
#include <string.h>

#include "say.h"

uint32_t calltree_add_path(struct calltree *t, uint32_t parent, uint32_t frame)
{
	if (t->nr_paths == t->room_paths)
		t->paths = xmore(t->paths, t->nr_paths, &t->room_paths, sizeof(*t->paths));
	t->paths[t->nr_paths] = (struct call_path){ parent, frame, 0 };
	return t->nr_paths++;
}

void ways_init(struct ways *w, struct calltree *paths, uint32_t uncounted)
{
	*w = (struct ways){
		.paths = paths,
		.uncounted = uncounted,
		.first = xraw(PATHS_AT_HAND, sizeof(*w->first)),
		.all = xraw(PATHS_AT_HAND * 2, sizeof(*w->all)),
		.seed = intern_seed(),
	};
}

void ways_free(struct ways *w)
{
	free(w->first);
	free(w->all);
}

void ways_begin(struct ways *w, uint32_t begin, size_t steps)
{
	size_t nr = 2;

	w->max = steps < PATHS_AT_HAND ? steps + 1 : PATHS_AT_HAND;
	while (nr < w->max * 2)
		nr *= 2;
	memset(w->all, 0, nr * sizeof(*w->all));
	w->mask = nr - 1;
	w->nr = 1;
	w->first[0].path = 0;
	w->begin = begin;
	w->base = w->paths->nr_paths - 1 + w->uncounted;
}

uint32_t ways_make(struct ways *w, uint32_t at, uint32_t frame)
{
	calltree_add_path(w->paths, ways_path(w, at), frame);
	w->first[w->nr].path = 0;
	if (!w->first[at].path)
		w->first[at] = (struct child){ frame, w->nr };
	else
		*ways_slot(w, at, frame) = (struct way){ at, frame, w->nr };
	return w->nr++;
}
