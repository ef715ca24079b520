// SPDX-License-Identifier: GPL-2.0-only
/*
 * Samples become paths of the tree, step by step from the root on: until there are as many
 * paths as may be at hand, see calltree_ways.h. What is left of others goes on later, see
 * calltree_rests.h. Nothing here recurses: stacks come from a file.
 */
#include "calltree.h"

#include <stdlib.h>
#include <string.h>

#include "beside.h"
#include "calltree_rests.h"
#include "cmd.h"
#include "say.h"

/* Frames whose names are sent for before their turn. */
#define AHEAD		16

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
	memcpy(&key, intern_key(&t->frames, t->order[frame], &length), sizeof(key));
	*function = intern_key(&t->texts, key.function, &length);
	*mapping = intern_key(&t->texts, key.mapping, &length);
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

static void know_frame(struct calltree *t, uint32_t n)
{
	while (n >= t->room_known)
		t->known = xgrow(t->known, t->room_known, &t->room_known, sizeof(*t->known));
	t->known[n] = number_of(t, n < t->nr_keys ? t->keys[n] : key_of(t, n));
}

/* Most frames were there before. */
static inline uint32_t find_frame(struct calltree *t, uint32_t n)
{
	if (n >= t->room_known || !t->known[n])
		know_frame(t, n);
	return t->known[n] - 1;
}

/* One after the other takes half of the time that it takes as they come; --by makes more. */
static void know_keys(struct calltree *t, struct view *view)
{
	size_t nr = view_frames(view)->nr;

	t->keys = xraw(nr, sizeof(*t->keys));
	for (; t->nr_keys < nr; t->nr_keys++) {
		if (t->nr_keys + AHEAD < nr)
			__builtin_prefetch(view->frames->all[t->nr_keys + AHEAD].function);
		t->keys[t->nr_keys] = key_of(t, t->nr_keys);
	}
}

/* Frames that are put aside together: they stay where they are. */
#define BLOCK		(1U << 18)

/**
 * struct block - room for frames
 * @last: the one before it
 * @nr: how many are taken
 * @frames: frames
 */
struct block {
	struct block *last;
	size_t nr;
	uint32_t frames[BLOCK];
};

/**
 * struct collector - adds samples
 * @t: tree
 * @to: who gets them
 * @ways: from the root on
 * @batch: samples of the profile that go at a time
 * @stacks: of each
 * @walks: of each
 * @nr_batch: how many
 * @rests: samples that wait
 * @nr_rests: how many
 * @room_rests: of @rests
 * @block: their frames
 */
struct collector {
	struct calltree *t;
	struct arrivals to;
	struct ways ways;
	struct rest batch[BATCH];
	uint32_t stacks[BATCH][CALLTREE_DEPTH_MAX];
	struct walk walks[BATCH];
	size_t nr_batch;
	struct rest *rests;
	size_t nr_rests;
	size_t room_rests;
	struct block *block;
};

static void put_aside(struct collector *c, const uint32_t *frames, const struct rest *r)
{
	struct block *b = c->block;

	if (!b || BLOCK - b->nr < r->nr) {
		b = xraw(1, sizeof(*b));
		b->last = c->block;
		b->nr = 0;
		c->block = b;
	}
	memcpy(b->frames + b->nr, frames, r->nr * sizeof(*frames));
	c->rests = xmore(c->rests, c->nr_rests, &c->room_rests, sizeof(*c->rests));
	c->rests[c->nr_rests] = *r;
	c->rests[c->nr_rests++].frames = b->frames + b->nr;
	b->nr += r->nr;
}

static void forget_rests(struct collector *c)
{
	struct block *last;

	free(c->rests);
	for (struct block *b = c->block; b; b = last) {
		last = b->last;
		free(b);
	}
}

static int add_batch(struct collector *c)
{
	size_t nr = c->nr_batch;

	c->nr_batch = 0;
	ways_go_known(&c->ways, c->walks, nr);
	for (size_t i = 0; i < nr; i++) {
		struct rest *r = &c->batch[i];

		ways_go(&c->ways, &c->walks[i]);
		r->nr = c->walks[i].nr;
		r->path = ways_path(&c->ways, c->walks[i].at);
		if (r->nr)
			put_aside(c, c->stacks[i], r);
		else if (arrive(&c->to, c->t, r))
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
	for (size_t i = s->nr - cut; i-- > 0;)
		stack[i] = find_frame(t, s->frames[cut + i]);
	c->batch[c->nr_batch] = (struct rest){ .value = value, .labels = s->labels };
	c->walks[c->nr_batch++] = (struct walk){ .frames = stack, .nr = s->nr - cut };
	return c->nr_batch == BATCH ? add_batch(c) : 0;
}

/* What waits has its own frames; to give memory back takes as long as to get it. */
static void forget_samples(void *ctx)
{
	gprof_profile_forget_samples(ctx);
}

int calltree_collect(struct calltree *t, struct view *view, bool diff,
		     int (*take)(void *ctx, uint32_t path, uint32_t labels, int64_t value),
		     void *ctx)
{
	struct collector *c = xalloc(1, sizeof(*c));
	struct beside beside = { 0 };
	int status;

	*t = (struct calltree){ .view = view, .diff = diff };
	calltree_add_path(t, CALLTREE_NONE,
			  number_of(t, add_frame(t, FRAME_USER, "all", "")) - 1);
	know_keys(t, view);
	c->t = t;
	c->to = (struct arrivals){ take, ctx };
	ways_init(&c->ways, t, 0);
	ways_begin(&c->ways, 0, PATHS_AT_HAND);
	status = view_each(view, add_sample, c);
	if (status == STATUS_OK && add_batch(c))
		c->nr_rests = 0;
	if (!diff)
		beside_begin(&beside, forget_samples, view->profile);
	if (status == STATUS_OK)
		add_rests(&c->ways, &c->to, c->rests, c->nr_rests);
	beside_end(&beside);
	if (c->to.status)
		status = c->to.status;
	forget_rests(c);
	ways_free(&c->ways);
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
