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

static void know_frame(struct calltree *t, uint32_t n)
{
	const struct gprof_frame *f = &t->view->frames->all[n];
	char text[VIEW_NAME_MAX];

	while (n >= t->room_known)
		t->known = xgrow(t->known, t->room_known, &t->room_known, sizeof(*t->known));
	t->known[n] = 1 + add_frame(t, frame_kind(f), view_function(f, text), f->mapping);
}

/* Most frames were there before. */
static inline uint32_t find_frame(struct calltree *t, uint32_t n)
{
	if (n >= t->room_known || !t->known[n])
		know_frame(t, n);
	return t->known[n] - 1;
}

/* The hash of a way from that of the way without its last step. */
static uint64_t step(const struct calltree *t, uint64_t h, uint32_t frame)
{
	unsigned __int128 m = (unsigned __int128)(h ^ frame ^ 0x9e3779b97f4a7c15) * (t->seed | 1);

	return (uint64_t)m ^ (uint64_t)(m >> 64);
}

static void put_way(struct calltree *t, struct call_way way)
{
	size_t i = way.hash & (t->nr_ways - 1);

	while (t->ways[i].path)
		i = (i + 1) & (t->nr_ways - 1);
	t->ways[i] = way;
}

/* At most three quarters full. The root is at the end of no way: path 0 marks what is free. */
static void grow_ways(struct calltree *t)
{
	struct call_way *old = t->ways;
	size_t nr = t->nr_ways;

	t->nr_ways = nr ? nr * 2 : 1024;
	t->ways = xalloc(t->nr_ways, sizeof(*t->ways));
	for (size_t i = 0; i < nr; i++)
		if (old[i].path)
			put_way(t, old[i]);
	free(old);
}

static uint32_t add_path(struct calltree *t, uint32_t parent, uint32_t frame)
{
	t->paths = xmore(t->paths, t->nr_paths, &t->room_paths, sizeof(*t->paths));
	t->paths[t->nr_paths] = (struct call_path){ parent, frame, 0 };
	return t->nr_paths++;
}

/* Stacks that are added at a time: while one waits for memory, the others do not. */
#define BATCH	16

/**
 * struct waiting - a sample that is to be added
 * @frames: numbers of frames in the tree, leaf first
 * @hashes: of the way from the root to each of them
 * @nr: how many
 * @from: first of them that a path is known of
 * @path: this one, or that of the root, whose @from is @nr
 * @checked: up to which frame @path was followed
 * @at: where that led to
 * @labels: of the sample
 * @value: of the sample
 */
struct waiting {
	uint32_t frames[CALLTREE_DEPTH_MAX];
	uint32_t hashes[CALLTREE_DEPTH_MAX];
	size_t nr;
	size_t from;
	uint32_t path;
	size_t checked;
	uint32_t at;
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

/* The slot of the way to the @i-th frame, or of another with its hash, or a free one. */
static const struct call_way *way_to(const struct calltree *t, const struct waiting *w, size_t i)
{
	size_t slot = w->hashes[i] & (t->nr_ways - 1);

	while (t->ways[slot].path && t->ways[slot].hash != w->hashes[i])
		slot = (slot + 1) & (t->nr_ways - 1);
	return &t->ways[slot];
}

/* What most samples will look at: the whole way, and that without its last step. */
static void send_for(const struct calltree *t, const struct waiting *w)
{
	for (size_t i = 0; i < 2 && i < w->nr; i++)
		__builtin_prefetch(&t->ways[w->hashes[i] & (t->nr_ways - 1)]);
}

/* Most ways were gone before but for their last steps: looked for is the longest. */
static void guess(const struct calltree *t, struct waiting *w)
{
	w->path = 0;
	for (w->from = 0; w->from < w->nr; w->from++) {
		w->path = way_to(t, w, w->from)->path;
		if (w->path)
			break;
	}
	w->checked = w->from;
	w->at = w->path;
	__builtin_prefetch(&t->paths[w->at]);
}

/* Goes up by a step; whether there is another. */
static bool check_step(const struct calltree *t, struct waiting *w)
{
	if (!w->at || w->checked == w->nr || t->paths[w->at].frame != w->frames[w->checked])
		return false;
	w->at = t->paths[w->at].parent;
	w->checked++;
	__builtin_prefetch(&t->paths[w->at]);
	return true;
}

/* A hash is no proof: each guess is followed to the root, all of them at once. */
static void check(const struct calltree *t, struct waiting *waiting, size_t nr)
{
	bool more;

	do {
		more = false;
		for (size_t i = 0; i < nr; i++)
			more |= check_step(t, &waiting[i]);
	} while (more);
	for (size_t i = 0; i < nr; i++) {
		struct waiting *w = &waiting[i];

		if (!w->at && w->checked == w->nr)
			continue;
		w->path = 0;
		w->from = w->nr;
	}
}

/* Does a path lead from the @i-th frame to the one that is known? */
static bool leads_over(const struct calltree *t, uint32_t path, const struct waiting *w, size_t i)
{
	for (; path && i < w->from && t->paths[path].frame == w->frames[i]; i++)
		path = t->paths[path].parent;
	return i == w->from && path == w->path;
}

/* The path to the @i-th frame, or 0. */
static uint32_t find_path(const struct calltree *t, const struct waiting *w, size_t i)
{
	size_t slot = w->hashes[i] & (t->nr_ways - 1);

	for (; t->ways[slot].path; slot = (slot + 1) & (t->nr_ways - 1))
		if (t->ways[slot].hash == w->hashes[i] && leads_over(t, t->ways[slot].path, w, i))
			return t->ways[slot].path;
	return 0;
}

/* Samples before it may have gone further than what was known. */
static uint32_t path_of(struct calltree *t, const struct waiting *w)
{
	uint32_t path = 0;
	size_t i = 0;

	while (i < w->from && !(path = find_path(t, w, i)))
		i++;
	if (!path)
		path = w->path;
	while ((t->nr_paths + i) / 3 * 4 >= t->nr_ways)
		grow_ways(t);
	while (i-- > 0) {
		path = add_path(t, path, w->frames[i]);
		put_way(t, (struct call_way){ w->hashes[i], path });
	}
	return path;
}

static int add_waiting(struct collector *c)
{
	struct calltree *t = c->t;

	for (size_t i = 0; i < c->nr; i++)
		send_for(t, &c->waiting[i]);
	for (size_t i = 0; i < c->nr; i++)
		guess(t, &c->waiting[i]);
	check(t, c->waiting, c->nr);
	for (size_t i = 0; i < c->nr && !c->status; i++) {
		const struct waiting *w = &c->waiting[i];

		c->status = c->take(c->ctx, path_of(t, w), w->labels, w->value);
	}
	c->nr = 0;
	return c->status || t->nr_paths > CALLTREE_NODES_MAX;
}

static int add_sample(void *ctx, const struct view_sample *s)
{
	struct collector *c = ctx;
	struct calltree *t = c->t;
	int64_t value = s->values[t->view->type];
	struct waiting *w = &c->waiting[c->nr];
	uint64_t hash = 0;
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
	w->nr = s->nr - cut;
	w->labels = s->labels;
	w->value = value;
	for (size_t i = w->nr; i-- > 0;) {
		w->frames[i] = find_frame(t, s->frames[cut + i]);
		hash = step(t, hash, w->frames[i]);
		w->hashes[i] = hash >> 32;
	}
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
	grow_ways(t);
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
	struct ranked *sorted = xraw(t->frames.nr, sizeof(*sorted));
	uint32_t *rank = xraw(t->frames.nr, sizeof(*rank));

	for (size_t i = 0; i < t->frames.nr; i++) {
		sorted[i].frame = i;
		calltree_frame(t, i, &sorted[i].function, &sorted[i].mapping);
	}
	qsort(sorted, t->frames.nr, sizeof(*sorted), compare_frames);
	for (size_t i = 0; i < t->frames.nr; i++)
		rank[sorted[i].frame] = i;
	free(sorted);
	return rank;
}

/**
 * struct sibling - a child that is sorted, with what it is sorted by at hand
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
	if (gprof_profile_label_of(t->view->profile, labels, "pprof::base", NULL))
		t->path_base[path] = view_sum(t->path_base[path], value);
	return 0;
}

void calltree_collected(struct calltree *t)
{
	free(t->ways);
	free(t->known);
	t->ways = NULL;
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
	calltree_collected(t);
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
	calltree_collected(t);
	forget_paths(t);
	free(t->nodes);
	free(t->base);
	intern_free(&t->texts);
	intern_free(&t->frames);
}
