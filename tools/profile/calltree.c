// SPDX-License-Identifier: GPL-2.0-only
/*
 * Of the paths of a tree, totals are summed up from the leaves, siblings sorted, and all put
 * in the order in which it will be drawn. Nothing here recurses: stacks come from a file.
 */
#include "calltree.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd.h"
#include "cli/diag.h"

/**
 * struct order - makes nodes of paths
 * @t: tree
 * @rank: of each frame by its texts, which are compared once for each
 * @total: of each path, with all below
 * @size: nodes of each path: its own and those below
 * @children: those of path 0, then those of path 1, and so on
 * @end: of the children of each path in @children
 */
struct order {
	struct calltree *t;
	uint32_t *rank;
	int64_t *total;
	uint32_t *size;
	uint32_t *children;
	uint32_t *end;
};

/* A frame that is ranked, with its texts at hand. */
struct ranked {
	const char *function;
	const char *mapping;
	uint32_t frame;
};

static int compare_frames(const void *pa, const void *pb)
{
	const struct ranked *a = pa, *b = pb;
	int order = strcmp(a->function, b->function);

	if (!order)
		order = strcmp(a->mapping, b->mapping);
	return order ? order : a->frame < b->frame ? -1 : a->frame > b->frame;
}

static uint32_t *rank_frames(struct calltree *t)
{
	struct ranked *sorted = xraw(t->nr_frames, sizeof(*sorted));
	uint32_t *rank = xraw(t->nr_frames, sizeof(*rank));

	for (size_t i = 0; i < t->nr_frames; i++) {
		sorted[i].frame = i;
		calltree_frame(t, i, &sorted[i].function, &sorted[i].mapping);
	}
	qsort(sorted, t->nr_frames, sizeof(*sorted), compare_frames);
	for (size_t i = 0; i < t->nr_frames; i++)
		rank[sorted[i].frame] = i;
	free(sorted);
	return rank;
}

/**
 * struct sibling - a child to sort, with its sort key
 * @total: of its path
 * @rank: of its frame
 * @path: child
 */
struct sibling {
	int64_t total;
	uint32_t rank;
	uint32_t path;
};

static int compare(const void *pa, const void *pb)
{
	const struct sibling *a = pa, *b = pb;

	if (a->total != b->total)
		return a->total > b->total ? -1 : 1;
	return a->rank < b->rank ? -1 : 1;
}

/* From the leaves on: children come after their parents. */
static void sum_up(struct order *o)
{
	const struct calltree *t = o->t;

	for (size_t i = t->nr_paths; i-- > 0;) {
		uint32_t parent = t->paths[i].parent;

		o->total[i] = view_sum(o->total[i], t->paths[i].self);
		o->size[i]++;
		if (!i)
			break;
		o->total[parent] = view_sum(o->total[parent], o->total[i]);
		o->size[parent] += o->size[i];
		if (t->diff)
			t->path_base[parent] = view_sum(t->path_base[parent], t->path_base[i]);
	}
}

#define FEW	8

/* Most families are small. */
static void sort_siblings(struct sibling *all, size_t nr)
{
	if (nr > FEW) {
		qsort(all, nr, sizeof(*all), compare);
		return;
	}
	for (size_t i = 1; i < nr; i++) {
		struct sibling s = all[i];
		size_t j = i;

		for (; j && compare(&s, &all[j - 1]) < 0; j--)
			all[j] = all[j - 1];
		all[j] = s;
	}
}

/* Siblings, the largest first; most paths have none. */
static void sort_children(struct order *o)
{
	const struct calltree *t = o->t;
	struct sibling *siblings = NULL;
	size_t room = 0;

	for (size_t i = 1; i < t->nr_paths; i++)
		o->end[t->paths[i].parent + 1]++;
	for (size_t i = 0; i < t->nr_paths; i++)
		o->end[i + 1] += o->end[i];
	/* Each is put where the children of its parent begin, which thus moves to their end. */
	for (size_t i = 1; i < t->nr_paths; i++)
		o->children[o->end[t->paths[i].parent]++] = i;
	for (size_t i = 0, from = 0; i < t->nr_paths; from = o->end[i++]) {
		uint32_t *children = o->children + from;
		size_t nr = o->end[i] - from;

		if (nr < 2)
			continue;
		while (room < nr)
			siblings = xmore(siblings, room, &room, sizeof(*siblings));
		for (size_t j = 0; j < nr; j++)
			siblings[j] = (struct sibling){ o->total[children[j]],
				o->rank[t->paths[children[j]].frame], children[j] };
		sort_siblings(siblings, nr);
		for (size_t j = 0; j < nr; j++)
			children[j] = siblings[j].path;
	}
	free(siblings);
}

/* Where each goes is known from how many come before it. */
static void place_nodes(struct order *o)
{
	struct calltree *t = o->t;
	uint32_t *at = xalloc(t->nr_paths, sizeof(*at));

	t->nr = t->nr_paths;
	t->nodes = xraw(t->nr, sizeof(*t->nodes));
	if (t->diff)
		t->base = xraw(t->nr, sizeof(*t->base));
	for (size_t i = 0, from = 0; i < t->nr; from = o->end[i++]) {
		const struct call_path *path = &t->paths[i];
		uint32_t parent = i ? at[path->parent] : CALLTREE_NONE, next = at[i] + 1;

		t->nodes[at[i]] = (struct call_node){
			.parent = parent,
			.frame = path->frame,
			.end = at[i] + o->size[i],
			.self = path->self,
			.total = o->total[i],
		};
		if (t->diff)
			t->base[at[i]] = t->path_base[i];
		for (size_t j = from; j < o->end[i]; j++) {
			at[o->children[j]] = next;
			next += o->size[o->children[j]];
		}
	}
	free(at);
	for (size_t i = 1; i < t->nr; i++) {
		t->nodes[i].depth = t->nodes[t->nodes[i].parent].depth + 1;
		if (t->nodes[i].depth > t->depth)
			t->depth = t->nodes[i].depth;
	}
}

static int add_value(void *ctx, uint32_t path, uint32_t labels, int64_t value)
{
	struct calltree *t = ctx;

	t->paths[path].self = view_sum(t->paths[path].self, value);
	if (!t->diff)
		return 0;
	while (path >= t->room_base)
		t->path_base = xgrow(t->path_base, t->room_base, &t->room_base,
				     sizeof(*t->path_base));
	if (view_is_base(t->view, labels))
		t->path_base[path] = view_sum(t->path_base[path], value);
	return 0;
}

static void forget_paths(struct calltree *t)
{
	free(t->paths);
	free(t->path_base);
	t->paths = NULL;
	t->path_base = NULL;
	t->nr_paths = 0;
}

static int build(struct calltree *t, struct view *view, bool diff)
{
	int status = calltree_collect(t, view, diff, NULL, add_value, t);
	struct order o = { .t = t };

	if (status != STATUS_OK)
		return status;
	calltree_collected(t);
	while (diff && t->nr_paths > t->room_base)
		t->path_base = xgrow(t->path_base, t->room_base, &t->room_base,
				     sizeof(*t->path_base));
	o.rank = rank_frames(t);
	o.total = xalloc(t->nr_paths, sizeof(*o.total));
	o.size = xalloc(t->nr_paths, sizeof(*o.size));
	o.children = xalloc(t->nr_paths, sizeof(*o.children));
	o.end = xalloc(t->nr_paths + 1, sizeof(*o.end));
	sum_up(&o);
	sort_children(&o);
	free(o.rank);
	place_nodes(&o);
	free(o.total);
	free(o.size);
	free(o.children);
	free(o.end);
	forget_paths(t);
	return STATUS_OK;
}

int calltree_build(struct calltree *t, struct view *view)
{
	return build(t, view, false);
}

int calltree_build_diff(struct calltree *t, struct view *view)
{
	return build(t, view, true);
}

void calltree_report(const struct calltree *t)
{
	if (t->left_out)
		diag("%" PRIu64 " samples with values below 0 have no width and were left out",
		     t->left_out);
	if (t->cut)
		diag("%" PRIu64 " samples with more than %d frames were cut at the leaf's end",
		     t->cut, CALLTREE_DEPTH_MAX);
}

void calltree_free(struct calltree *t)
{
	calltree_collected(t);
	forget_paths(t);
	free(t->nodes);
	free(t->base);
	intern_free(&t->texts);
	intern_free(&t->frames);
	free(t->files);
	free(t->order);
}
