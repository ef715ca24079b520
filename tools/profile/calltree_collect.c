// SPDX-License-Identifier: GPL-2.0-only
/*
 * Samples become paths of the tree, step by step from the root on.
 *
 * A tree of millions of paths is looked for in memory, which takes most of the time. So only as
 * many paths as the processor keeps at hand are made at first. Samples that lead further wait, and
 * continue end by end: the subtree of one end is soon small again. Nothing here recurses: stacks
 * come from a file.
 */
#include "calltree.h"

#include <stdlib.h>
#include <string.h>

#include "cli/cmd.h"
#include "cli/diag.h"

/* Paths that are looked for at a time. */
#define PATHS_AT_HAND	16384
/* Samples that go at a time: while one waits for memory, the others do not. */
#define BATCH		16
/* Those that are sent for before their turn. */
#define AHEAD		16

/*
 * The key of a frame; texts are kept once each, in any combination. Of a difference files do not
 * tell functions apart, as in the table: another build of a program may have another name.
 */
struct frame_key {
	uint32_t kind;
	uint32_t function;
	uint32_t mapping;	/* 0 in a difference */
};

static uint32_t add_frame(struct calltree *t, enum frame_kind kind, const char *function,
			  const char *mapping)
{
	uint32_t file = intern_add(&t->texts, mapping, strlen(mapping) + 1);
	struct frame_key key = {
		kind,
		intern_add(&t->texts, function, strlen(function) + 1),
		t->diff ? 0 : file,
	};
	size_t before = t->frames.nr;
	uint32_t n = intern_add(&t->frames, &key, sizeof(key));

	if (t->frames.nr > before) {
		t->files = xmore(t->files, n, &t->room_files, sizeof(*t->files));
		t->files[n] = file;
	}
	return n;
}

enum frame_kind calltree_frame(const struct calltree *t, uint32_t frame, const char **function,
			       const char **mapping)
{
	struct frame_key key;
	size_t length;

	/* Keys lie as they come, without alignment. */
	memcpy(&key, intern_key(&t->frames, t->order[frame], &length), sizeof(key));
	*function = intern_key(&t->texts, key.function, &length);
	*mapping = intern_key(&t->texts, t->files[t->order[frame]], &length);
	return key.kind;
}

static uint32_t key_of(struct calltree *t, uint32_t n)
{
	const struct gprof_frame *f = &t->view->frames->all[n];
	char text[VIEW_NAME_MAX];

	return add_frame(t, frame_kind(f), view_function(f, text), f->mapping);
}

/* Numbers are in the order in which samples have frames; + 1. */
static uint32_t number_of(struct calltree *t, uint32_t key)
{
	while (key >= t->room_numbers)
		t->numbers = xgrow(t->numbers, t->room_numbers, &t->room_numbers,
				   sizeof(*t->numbers));
	if (!t->numbers[key]) {
		t->order = xmore(t->order, t->nr_frames, &t->room_order, sizeof(*t->order));
		t->order[t->nr_frames++] = key;
		t->numbers[key] = t->nr_frames;
	}
	return t->numbers[key];
}

static void map_frame(struct calltree *t, uint32_t n)
{
	while (n >= t->room_known)
		t->known = xgrow(t->known, t->room_known, &t->room_known, sizeof(*t->known));
	t->known[n] = number_of(t, n < t->nr_keys ? t->keys[n] : key_of(t, n));
}

/* Most frames were there before. */
static inline uint32_t find_frame(struct calltree *t, uint32_t n)
{
	if (n >= t->room_known || !t->known[n])
		map_frame(t, n);
	return t->known[n] - 1;
}

/* One after the other takes half of the time that it takes as they come; --by makes more. */
static void map_keys(struct calltree *t, struct view *view)
{
	size_t nr = view_frames(view)->nr;

	t->keys = xraw(nr, sizeof(*t->keys));
	for (; t->nr_keys < nr; t->nr_keys++)
		t->keys[t->nr_keys] = key_of(t, t->nr_keys);
}

/**
 * struct way - a step from a path to another; paths have numbers of their own as long as they
 *	are looked for
 * @parent: where it begins
 * @frame: its frame
 * @path: where it leads to; 0 is free, for none leads to the root
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
 * struct rest - a sample that leads further than paths do
 * @value: of the sample
 * @at: its frames, leaf first, in the collector's
 * @nr: how many of them are left
 * @path: where those before them led to
 * @labels: of the sample
 */
struct rest {
	int64_t value;
	size_t at;
	uint32_t nr;
	uint32_t path;
	uint32_t labels;
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
 * struct collector - adds samples
 * @t: tree
 * @weigh: see calltree_collect()
 * @take: likewise
 * @ctx: for it
 * @status: its return
 * @first: the first child of each path
 * @ways: an open hash of the steps to all others
 * @mask: of its slots, a power of two less one
 * @nr: paths; the first is where all begin
 * @max: where there are as many, none is made
 * @begin: the first one's path in the tree
 * @base: the second one's path in the tree, less one
 * @seed: of the hash, which no file foresees
 * @batch: samples of the profile that go at a time
 * @stacks: of each
 * @walks: of each
 * @nr_batch: how many
 * @rests: samples that wait
 * @nr_rests: how many
 * @room_rests: of @rests
 * @frames: of all of them
 * @nr_frames: how many
 * @room_frames: of @frames
 */
struct collector {
	struct calltree *t;
	int64_t (*weigh)(void *ctx, const int64_t *values);
	int (*take)(void *ctx, uint32_t path, uint32_t labels, int64_t value);
	void *ctx;
	int status;
	struct child *first;
	struct way *ways;
	size_t mask;
	uint32_t nr;
	uint32_t max;
	uint32_t begin;
	uint32_t base;
	uint64_t seed;
	struct rest batch[BATCH];
	uint32_t stacks[BATCH][CALLTREE_DEPTH_MAX];
	struct walk walks[BATCH];
	size_t nr_batch;
	struct rest *rests;
	size_t nr_rests;
	size_t room_rests;
	uint32_t *frames;
	size_t nr_frames;
	size_t room_frames;
};

static uint32_t add_path(struct calltree *t, uint32_t parent, uint32_t frame)
{
	if (t->nr_paths == t->room_paths)
		t->paths = xmore(t->paths, t->nr_paths, &t->room_paths, sizeof(*t->paths));
	t->paths[t->nr_paths] = (struct call_path){ parent, frame, 0 };
	return t->nr_paths++;
}

static inline size_t slot_of(const struct collector *c, uint32_t parent, uint32_t frame)
{
	uint64_t key = ((uint64_t)parent << 32 | frame) ^ c->seed;
	unsigned __int128 m = (unsigned __int128)key * 0x9e3779b97f4a7c15;

	return ((uint64_t)m ^ (uint64_t)(m >> 64)) & c->mask;
}

static inline uint32_t path_of(const struct collector *c, uint32_t path)
{
	return path ? c->base + path : c->begin;
}

static uint32_t make_path(struct collector *c, uint32_t parent, uint32_t frame)
{
	add_path(c->t, path_of(c, parent), frame);
	c->first[c->nr].path = 0;
	return c->nr++;
}

/* The slot of a step that is not to the first child, or a free one. */
static inline struct way *way_of(const struct collector *c, uint32_t parent, uint32_t frame)
{
	size_t i = slot_of(c, parent, frame);

	while (c->ways[i].path && (c->ways[i].parent != parent || c->ways[i].frame != frame))
		i = (i + 1) & c->mask;
	return &c->ways[i];
}

/* Where a step leads to; 0 where that is no path. */
static inline uint32_t step(const struct collector *c, uint32_t at, uint32_t frame)
{
	const struct child *first = &c->first[at];

	if (!first->path || first->frame == frame)
		return first->path;
	return way_of(c, at, frame)->path;
}

/* As far as there are paths, all of them a step at a time. */
static void skip_shared(const struct collector *c, struct walk *walks, size_t nr)
{
	bool more;

	do {
		more = false;
		for (struct walk *w = walks; w < walks + nr; w++) {
			uint32_t next = w->ended || !w->nr ? 0 : step(c, w->at, w->frames[w->nr - 1]);

			w->ended = !next;
			w->at = next ? next : w->at;
			w->nr -= !w->ended;
			more |= !w->ended;
		}
	} while (more);
}

/* As far as paths may be made, or were for a sample before it. */
static void add_frames(struct collector *c, struct walk *w)
{
	for (; w->nr; w->nr--) {
		uint32_t frame = w->frames[w->nr - 1], next = step(c, w->at, frame);

		if (!next) {
			if (c->nr == c->max)
				return;
			next = make_path(c, w->at, frame);
			if (!c->first[w->at].path)
				c->first[w->at] = (struct child){ frame, next };
			else
				*way_of(c, w->at, frame) = (struct way){ w->at, frame, next };
		}
		w->at = next;
	}
}

/* Nothing is below @begin yet, and @steps are to come, of which so many are made as may be. */
static void begin_at(struct collector *c, uint32_t begin, size_t steps)
{
	size_t nr = 2;

	c->max = steps < PATHS_AT_HAND ? steps + 1 : PATHS_AT_HAND;
	while (nr < c->max * 2)
		nr *= 2;
	memset(c->ways, 0, nr * sizeof(*c->ways));
	c->mask = nr - 1;
	c->nr = 1;
	c->first[0].path = 0;
	c->begin = begin;
	c->base = c->t->nr_paths - 1;
}

static int arrive(struct collector *c, const struct rest *r)
{
	c->status = c->take(c->ctx, r->path, r->labels, r->value);
	return c->status || c->t->nr_paths > CALLTREE_NODES_MAX;
}

static void put_aside(struct collector *c, const uint32_t *frames, const struct rest *r)
{
	while (c->room_frames - c->nr_frames < r->nr)
		c->frames = xmore(c->frames, c->room_frames, &c->room_frames, sizeof(*c->frames));
	memcpy(c->frames + c->nr_frames, frames, r->nr * sizeof(*frames));
	c->rests = xmore(c->rests, c->nr_rests, &c->room_rests, sizeof(*c->rests));
	c->rests[c->nr_rests] = *r;
	c->rests[c->nr_rests++].at = c->nr_frames;
	c->nr_frames += r->nr;
}

static int add_batch(struct collector *c)
{
	size_t nr = c->nr_batch;

	c->nr_batch = 0;
	skip_shared(c, c->walks, nr);
	for (size_t i = 0; i < nr; i++) {
		struct rest *r = &c->batch[i];

		add_frames(c, &c->walks[i]);
		r->nr = c->walks[i].nr;
		r->path = path_of(c, c->walks[i].at);
		if (r->nr)
			put_aside(c, c->stacks[i], r);
		else if (arrive(c, r))
			return 1;
	}
	return 0;
}

static int add_sample(void *ctx, const struct view_sample *s)
{
	struct collector *c = ctx;
	struct calltree *t = c->t;
	int64_t value = s->values[t->view->type];
	uint32_t *stack = c->stacks[c->nr_batch];
	size_t cut = 0;

	/* In a difference, samples of the base are negative. */
	if (t->diff && view_is_base(t->view, s->labels))
		value = view_size(value);
	if (value < 0)
		t->left_out++;
	if (c->weigh)
		value = c->weigh(c->ctx, s->values);
	if (value <= 0)
		return 0;
	if (s->nr > CALLTREE_DEPTH_MAX) {
		cut = s->nr - CALLTREE_DEPTH_MAX;
		t->cut++;
	}
	for (size_t i = s->nr - cut; i-- > 0;)
		stack[i] = find_frame(t, s->frames[cut + i]);
	c->batch[c->nr_batch] = (struct rest){ .value = value, .labels = s->labels };
	c->walks[c->nr_batch++] = (struct walk){ .frames = stack, .nr = s->nr - cut };
	return c->nr_batch == BATCH ? add_batch(c) : 0;
}

/* Those that wait at one end lie together then, and otherwise as before. */
static void sort_by_path(const struct collector *c, uint32_t *waiting, size_t nr)
{
	uint32_t *at = xalloc(c->t->nr_paths + 1, sizeof(*at));
	uint32_t *sorted = xraw(nr, sizeof(*sorted));

	for (size_t i = 0; i < nr; i++)
		at[c->rests[waiting[i]].path + 1]++;
	for (size_t i = 0; i < c->t->nr_paths; i++)
		at[i + 1] += at[i];
	for (size_t i = 0; i < nr; i++)
		sorted[at[c->rests[waiting[i]].path]++] = waiting[i];
	memcpy(waiting, sorted, nr * sizeof(*sorted));
	free(sorted);
	free(at);
}

static size_t divisor(size_t a, size_t b)
{
	while (b) {
		size_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* Leads over all of @nr, so that the first ones are of everywhere: a file may be sorted. */
static size_t stride(size_t nr)
{
	size_t step = nr / 8 * 5 + 1;

	while (divisor(nr, step) > 1)
		step++;
	return step;
}

/* The next ones lie anywhere in memory: prefetched ones need no wait later. */
static inline void send_for(const struct collector *c, const uint32_t *waiting, size_t nr, size_t at,
			    size_t by)
{
	const struct rest *soon = &c->rests[waiting[(at + AHEAD * by) % nr]];

	__builtin_prefetch(&c->rests[waiting[(at + 2 * AHEAD * by) % nr]]);
	__builtin_prefetch(&c->frames[soon->at]);
	__builtin_prefetch(&c->frames[soon->at + soon->nr - 1]);
}

/* Goes on with those that wait at one end; those that still do are put at @left. */
static size_t resume_rests(struct collector *c, const uint32_t *waiting, size_t nr, uint32_t *left)
{
	size_t steps = 0, at = 0, by, nr_left = 0;

	for (size_t i = 0; i < nr; i++)
		steps += c->rests[waiting[i]].nr;
	begin_at(c, c->rests[waiting[0]].path, steps);
	by = steps >= PATHS_AT_HAND ? stride(nr) : 1;
	for (size_t from = 0; from < nr; from += BATCH) {
		size_t batch = nr - from < BATCH ? nr - from : BATCH;
		uint32_t at_hand[BATCH];

		for (size_t i = 0; i < batch; i++, at = (at + by) % nr) {
			const struct rest *r = &c->rests[waiting[at]];

			send_for(c, waiting, nr, at, by);
			at_hand[i] = waiting[at];
			c->walks[i] = (struct walk){ .frames = c->frames + r->at, .nr = r->nr };
		}
		skip_shared(c, c->walks, batch);
		for (size_t i = 0; i < batch; i++) {
			struct rest *r = &c->rests[at_hand[i]];

			add_frames(c, &c->walks[i]);
			r->nr = c->walks[i].nr;
			r->path = path_of(c, c->walks[i].at);
			if (r->nr)
				left[nr_left++] = at_hand[i];
			else if (arrive(c, r))
				return nr_left;
		}
	}
	return nr_left;
}

/* Each time there are paths below all of the ends at which one waited. */
static void add_rests(struct collector *c)
{
	uint32_t *waiting = xraw(c->nr_rests, sizeof(*waiting));
	uint32_t *left = xraw(c->nr_rests, sizeof(*left));
	size_t nr = c->nr_rests;

	for (size_t i = 0; i < nr; i++)
		waiting[i] = i;
	while (nr && !c->status && c->t->nr_paths <= CALLTREE_NODES_MAX) {
		size_t nr_left = 0;
		uint32_t *last = waiting;

		sort_by_path(c, waiting, nr);
		for (size_t from = 0, to; from < nr && !c->status; from = to) {
			uint32_t path = c->rests[waiting[from]].path;

			for (to = from + 1; to < nr && c->rests[waiting[to]].path == path;)
				to++;
			nr_left += resume_rests(c, waiting + from, to - from, left + nr_left);
		}
		waiting = left;
		left = last;
		nr = nr_left;
	}
	free(waiting);
	free(left);
}

int calltree_collect(struct calltree *t, struct view *view, bool diff,
		     int64_t (*weigh)(void *ctx, const int64_t *values),
		     int (*take)(void *ctx, uint32_t path, uint32_t labels, int64_t value),
		     void *ctx)
{
	struct collector *c = xalloc(1, sizeof(*c));
	int status;

	*t = (struct calltree){ .view = view, .diff = diff };
	add_path(t, CALLTREE_NONE, number_of(t, add_frame(t, FRAME_USER, "all", "")) - 1);
	map_keys(t, view);
	c->t = t;
	c->weigh = weigh;
	c->take = take;
	c->ctx = ctx;
	c->seed = intern_seed();
	c->first = xraw(PATHS_AT_HAND, sizeof(*c->first));
	c->ways = xraw(PATHS_AT_HAND * 2, sizeof(*c->ways));
	begin_at(c, 0, PATHS_AT_HAND);
	status = view_each(view, add_sample, c);
	/* All are among the paths now, or wait. */
	if (!diff)
		gprof_profile_forget_samples(view->profile);
	if (status == STATUS_OK && !add_batch(c))
		add_rests(c);
	if (c->status)
		status = c->status;
	free(c->first);
	free(c->ways);
	free(c->rests);
	free(c->frames);
	free(c);
	if (t->nr_paths <= CALLTREE_NODES_MAX)
		return status;
	return fail("the profile has more than %u different stacks of calls, which no picture "
		    "shows", CALLTREE_NODES_MAX);
}

void calltree_collected(struct calltree *t)
{
	free(t->keys);
	free(t->known);
	free(t->numbers);
	t->keys = NULL;
	t->known = NULL;
	t->numbers = NULL;
}
