// SPDX-License-Identifier: GPL-2.0-only
/*
 * Samples are added from the root on, then totals are summed up from the leaves, siblings
 * sorted, and all put in the order in which it will be drawn. Nothing here recurses: stacks
 * come from a file.
 */
#include "calltree.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "say.h"

/* The key of a frame; texts are kept once each, whatever they are combined with. */
struct frame_key {
	uint32_t kind;
	uint32_t function;
	uint32_t mapping;
};

static uint32_t add_frame(struct calltree *t, enum frame_kind kind, const char *function,
			  const char *mapping)
{
	struct frame_key key = {
		kind,
		intern_add(&t->texts, function, strlen(function) + 1),
		intern_add(&t->texts, mapping, strlen(mapping) + 1),
	};

	return intern_add(&t->frames, &key, sizeof(key));
}

enum frame_kind calltree_frame(const struct calltree *t, uint32_t frame, const char **function,
			       const char **mapping)
{
	struct frame_key key;
	size_t length;

	/* Keys lie as they come, without alignment. */
	memcpy(&key, intern_key(&t->frames, frame, &length), sizeof(key));
	*function = intern_key(&t->texts, key.function, &length);
	*mapping = intern_key(&t->texts, key.mapping, &length);
	return key.kind;
}

/* Most frames were there before. */
static uint32_t find_frame(struct calltree *t, uint32_t n)
{
	char text[VIEW_NAME_MAX];

	while (n >= t->room_known)
		t->known = xgrow(t->known, t->room_known, &t->room_known, sizeof(*t->known));
	if (!t->known[n]) {
		const struct gprof_frame *f = &t->view->frames->all[n];

		t->known[n] = 1 + add_frame(t, frame_kind(f), view_function(f, text), f->mapping);
	}
	return t->known[n] - 1;
}

/* Where an edge is looked for first. */
static size_t slot_of(const struct calltree *t, uint32_t parent, uint32_t frame)
{
	uint64_t h = ((uint64_t)parent << 32 | frame) ^ t->seed;

	h *= 0x9e3779b97f4a7c15;
	h = (h ^ h >> 32) * (t->seed | 1);
	return h >> 32 & (t->nr_edges - 1);
}

static struct call_edge *edge_of(const struct calltree *t, uint32_t parent, uint32_t frame)
{
	for (size_t i = slot_of(t, parent, frame);; i = (i + 1) & (t->nr_edges - 1)) {
		struct call_edge *e = &t->edges[i];

		if (!e->path || (e->parent == parent && e->frame == frame))
			return e;
	}
}

/* At most three quarters full. The root is nobody's child: no edge leads to path 0. */
static void grow_edges(struct calltree *t)
{
	struct call_edge *old = t->edges;
	size_t nr = t->nr_edges;

	t->nr_edges = nr ? nr * 2 : 1024;
	t->edges = xalloc(t->nr_edges, sizeof(*t->edges));
	for (size_t i = 0; i < nr; i++)
		if (old[i].path)
			*edge_of(t, old[i].parent, old[i].frame) = old[i];
	free(old);
}

static uint32_t add_path(struct calltree *t, uint32_t parent, uint32_t frame)
{
	t->paths = xmore(t->paths, t->nr_paths, &t->room_paths, sizeof(*t->paths));
	t->paths[t->nr_paths] = (struct call_path){ parent, frame, 0 };
	return t->nr_paths++;
}

static uint32_t child_of(struct calltree *t, uint32_t parent, uint32_t frame)
{
	struct call_edge *e = edge_of(t, parent, frame);

	if (!e->path)
		*e = (struct call_edge){ parent, frame, add_path(t, parent, frame) };
	return e->path;
}

/* Stacks that are added at a time: while one waits for memory, the others do not. */
#define BATCH	16

/**
 * struct waiting - a sample that is to be added
 * @frames: numbers of frames in the tree, leaf first
 * @left: frames that have no path yet
 * @path: of the last that has
 * @labels: of the sample
 * @value: of the sample
 */
struct waiting {
	uint32_t frames[CALLTREE_DEPTH_MAX];
	size_t left;
	uint32_t path;
	uint32_t labels;
	int64_t value;
};

/**
 * struct collector - adds samples
 * @t: tree
 * @take: see calltree_collect()
 * @ctx: for it
 * @status: what it returned
 * @waiting: samples
 * @nr: how many
 */
struct collector {
	struct calltree *t;
	int (*take)(void *ctx, uint32_t path, uint32_t labels, int64_t value);
	void *ctx;
	int status;
	struct waiting waiting[BATCH];
	size_t nr;
};

/* All of them go down by a frame at a time. */
static int add_waiting(struct collector *c)
{
	struct calltree *t = c->t;
	size_t more;

	do {
		more = 0;
		if ((t->nr_paths + BATCH) / 3 * 4 >= t->nr_edges)
			grow_edges(t);
		for (size_t i = 0; i < c->nr; i++) {
			struct waiting *w = &c->waiting[i];

			if (w->left)
				__builtin_prefetch(&t->edges[slot_of(t, w->path,
								     w->frames[w->left - 1])]);
		}
		for (size_t i = 0; i < c->nr; i++) {
			struct waiting *w = &c->waiting[i];

			if (!w->left)
				continue;
			w->path = child_of(t, w->path, w->frames[--w->left]);
			more += w->left;
		}
	} while (more);
	for (size_t i = 0; i < c->nr && !c->status; i++)
		c->status = c->take(c->ctx, c->waiting[i].path, c->waiting[i].labels,
				    c->waiting[i].value);
	c->nr = 0;
	return c->status || t->nr_paths > CALLTREE_NODES_MAX;
}

static int add_sample(void *ctx, const struct view_sample *s)
{
	struct collector *c = ctx;
	struct calltree *t = c->t;
	int64_t value = s->values[t->view->type];
	struct waiting *w = &c->waiting[c->nr];
	size_t cut = 0;

	/* In a difference, samples of the base are negative. */
	if (t->diff && gprof_profile_label_of(t->view->profile, s->labels, "pprof::base", NULL))
		value = view_size(value);
	if (value < 0)
		t->left_out++;
	if (value <= 0)
		return 0;
	if (s->nr > CALLTREE_DEPTH_MAX) {
		cut = s->nr - CALLTREE_DEPTH_MAX;
		t->cut++;
	}
	w->left = s->nr - cut;
	w->path = 0;
	w->labels = s->labels;
	w->value = value;
	for (size_t i = w->left; i-- > 0;)
		w->frames[i] = find_frame(t, s->frames[cut + i]);
	return ++c->nr == BATCH ? add_waiting(c) : 0;
}

int calltree_collect(struct calltree *t, struct view *view, bool diff,
		     int (*take)(void *ctx, uint32_t path, uint32_t labels, int64_t value),
		     void *ctx)
{
	struct collector *c = xalloc(1, sizeof(*c));
	int status;

	*t = (struct calltree){ .view = view, .diff = diff, .seed = intern_seed() };
	add_path(t, CALLTREE_NONE, add_frame(t, FRAME_USER, "all", ""));
	c->t = t;
	c->take = take;
	c->ctx = ctx;
	status = view_each(view, add_sample, c);
	if (status == STATUS_OK && c->nr)
		add_waiting(c);
	if (c->status)
		status = c->status;
	free(c);
	if (t->nr_paths <= CALLTREE_NODES_MAX)
		return status;
	return fail("the profile has more than %u different stacks of calls, which no picture "
		    "shows", CALLTREE_NODES_MAX);
}

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

static int compare_frames(const void *pa, const void *pb, void *ctx)
{
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;
	const char *fa, *fb, *ma, *mb;
	int order;

	calltree_frame(ctx, a, &fa, &ma);
	calltree_frame(ctx, b, &fb, &mb);
	order = strcmp(fa, fb);
	if (!order)
		order = strcmp(ma, mb);
	return order ? order : a < b ? -1 : a > b;
}

static uint32_t *rank_frames(struct calltree *t)
{
	uint32_t *sorted = xalloc(t->frames.nr, sizeof(*sorted));
	uint32_t *rank = xalloc(t->frames.nr, sizeof(*rank));

	for (size_t i = 0; i < t->frames.nr; i++)
		sorted[i] = i;
	qsort_r(sorted, t->frames.nr, sizeof(*sorted), compare_frames, t);
	for (size_t i = 0; i < t->frames.nr; i++)
		rank[sorted[i]] = i;
	free(sorted);
	return rank;
}

static int compare(const void *pa, const void *pb, void *ctx)
{
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;
	const struct order *o = ctx;

	if (o->total[a] != o->total[b])
		return o->total[a] > o->total[b] ? -1 : 1;
	return o->rank[o->t->paths[a].frame] < o->rank[o->t->paths[b].frame] ? -1 : 1;
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

/* Siblings, the largest first; most paths have none. */
static void sort_children(struct order *o)
{
	const struct calltree *t = o->t;

	for (size_t i = 1; i < t->nr_paths; i++)
		o->end[t->paths[i].parent + 1]++;
	for (size_t i = 0; i < t->nr_paths; i++)
		o->end[i + 1] += o->end[i];
	/* Each is put where the children of its parent begin, which thus moves to their end. */
	for (size_t i = 1; i < t->nr_paths; i++)
		o->children[o->end[t->paths[i].parent]++] = i;
	for (size_t i = 0, from = 0; i < t->nr_paths; from = o->end[i++])
		if (o->end[i] > from + 1)
			qsort_r(o->children + from, o->end[i] - from, sizeof(*o->children),
				compare, o);
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
	if (gprof_profile_label_of(t->view->profile, labels, "pprof::base", NULL))
		t->path_base[path] = view_sum(t->path_base[path], value);
	return 0;
}

static void forget_edges(struct calltree *t)
{
	free(t->edges);
	free(t->known);
	t->edges = NULL;
	t->known = NULL;
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
	int status = calltree_collect(t, view, diff, add_value, t);
	struct order o = { .t = t };

	if (status != STATUS_OK)
		return status;
	forget_edges(t);
	if (!diff)
		gprof_profile_forget_samples(view->profile);
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

void calltree_tell(const struct calltree *t)
{
	if (t->left_out)
		say("%" PRIu64 " samples with values below 0 have no width and were left out",
		    t->left_out);
	if (t->cut)
		say("%" PRIu64 " samples with more than %d frames were cut at the leaf's end",
		    t->cut, CALLTREE_DEPTH_MAX);
}

void calltree_free(struct calltree *t)
{
	forget_edges(t);
	forget_paths(t);
	free(t->nodes);
	free(t->base);
	intern_free(&t->texts);
	intern_free(&t->frames);
}
