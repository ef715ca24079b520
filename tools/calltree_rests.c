// SPDX-License-Identifier: GPL-2.0-only
/*
 * Samples that lead further than paths were made at first: see calltree_rests.h. Nothing
 * here recurses: stacks come from a file.
 */
#include "calltree_rests.h"

#include <stdlib.h>
#include <string.h>

#include "beside.h"
#include "say.h"

/* Those that are sent for before their turn. */
#define AHEAD		16
/* Of so many or more, half are given to a second CPU. */
#define MANY		4096
/* Added to the numbers of the paths that it makes, until those before them are counted. */
#define UNCOUNTED	(1U << 31)

/**
 * struct share - of those that wait, some that are gone on with end by end
 * @ways: with what
 * @to: who gets those that arrive
 * @rests: all samples
 * @waiting: those that wait, by ends
 * @nr: how many
 * @left: gets those that still wait
 * @nr_left: how many these are
 * @arrived: where those that arrive are noted, the last one first; NULL: @to gets them now
 * @ended: no other one may arrive
 */
struct share {
	struct ways *ways;
	struct arrivals *to;
	struct rest *rests;
	const uint32_t *waiting;
	size_t nr;
	uint32_t *left;
	size_t nr_left;
	uint32_t *arrived;
	bool ended;
};

/* Those that wait at one end lie together then, and otherwise as before. */
static void sort_by_path(const struct rest *rests, size_t nr_paths, uint32_t *waiting, size_t nr)
{
	uint32_t *at = xalloc(nr_paths + 1, sizeof(*at));
	uint32_t *sorted = xraw(nr, sizeof(*sorted));

	for (size_t i = 0; i < nr; i++)
		at[rests[waiting[i]].path + 1]++;
	for (size_t i = 0; i < nr_paths; i++)
		at[i + 1] += at[i];
	for (size_t i = 0; i < nr; i++)
		sorted[at[rests[waiting[i]].path]++] = waiting[i];
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

/* Those that come soon lie anywhere: what is sent for now is not waited for then. */
static inline void send_for(const struct share *s, const uint32_t *waiting, size_t nr, size_t at,
			    size_t by)
{
	const struct rest *soon = &s->rests[waiting[(at + AHEAD * by) % nr]];

	__builtin_prefetch(&s->rests[waiting[(at + 2 * AHEAD * by) % nr]]);
	__builtin_prefetch(soon->frames);
	__builtin_prefetch(&soon->frames[soon->nr - 1]);
}

static void put(struct share *s, uint32_t n, const struct walk *w)
{
	struct rest *r = &s->rests[n];

	r->nr = w->nr;
	r->path = ways_path(s->ways, w->at);
	if (r->nr)
		s->left[s->nr_left++] = n;
	else if (s->arrived)
		*--s->arrived = n;
	else
		s->ended = arrive(s->to, s->ways->paths, r);
}

/* Goes on with those that wait at one end. */
static void go_on(struct share *s, const uint32_t *waiting, size_t nr)
{
	struct walk walks[BATCH];
	uint32_t at_hand[BATCH];
	size_t steps = 0, at = 0, by;

	for (size_t i = 0; i < nr; i++)
		steps += s->rests[waiting[i]].nr;
	ways_begin(s->ways, s->rests[waiting[0]].path, steps);
	by = steps >= PATHS_AT_HAND ? stride(nr) : 1;
	for (size_t from = 0; from < nr; from += BATCH) {
		size_t batch = nr - from < BATCH ? nr - from : BATCH;

		for (size_t i = 0; i < batch; i++, at = (at + by) % nr) {
			const struct rest *r = &s->rests[waiting[at]];

			send_for(s, waiting, nr, at, by);
			at_hand[i] = waiting[at];
			walks[i] = (struct walk){ .frames = r->frames, .nr = r->nr };
		}
		ways_go_known(s->ways, walks, batch);
		for (size_t i = 0; i < batch && !s->ended; i++) {
			ways_go(s->ways, &walks[i]);
			put(s, at_hand[i], &walks[i]);
		}
	}
}

static void go_on_all(void *ctx)
{
	struct share *s = ctx;

	for (size_t from = 0, to; from < s->nr && !s->ended; from = to) {
		uint32_t path = s->rests[s->waiting[from]].path;

		for (to = from + 1; to < s->nr && s->rests[s->waiting[to]].path == path;)
			to++;
		go_on(s, s->waiting + from, to - from);
		s->ended |= s->ways->paths->nr_paths > CALLTREE_NODES_MAX;
	}
}

/* Where the second half of those that wait begins, at an end. */
static size_t middle(const struct rest *rests, const uint32_t *waiting, size_t nr)
{
	size_t at = nr < MANY ? 0 : nr / 2;

	while (at && rests[waiting[at]].path == rests[waiting[at - 1]].path)
		at--;
	return at ? at : nr;
}

/* The paths of a share come after all of the tree's, as if they had been made there. */
static void count(struct share *s, struct calltree *t)
{
	const struct calltree *made = s->ways->paths;
	uint32_t before = t->nr_paths - UNCOUNTED;
	const uint32_t *last = s->left + s->nr;

	for (size_t i = 0; i < made->nr_paths; i++) {
		const struct call_path *path = &made->paths[i];

		calltree_add_path(t, path->parent < UNCOUNTED ? path->parent :
				  path->parent + before, path->frame);
	}
	for (size_t i = 0; i < s->nr; i++)
		if (s->rests[s->waiting[i]].path >= UNCOUNTED)
			s->rests[s->waiting[i]].path += before;
	while (!s->ended && last > s->arrived)
		s->ended = arrive(s->to, t, &s->rests[*--last]);
}

/* The second has paths of its own, until they are counted. */
static size_t go_on_halves(struct share *first, struct share *second)
{
	struct calltree made = { 0 };
	struct beside beside;
	struct ways ways;

	ways_init(&ways, &made, UNCOUNTED);
	second->ways = &ways;
	beside_begin(&beside, go_on_all, second);
	go_on_all(first);
	beside_end(&beside);
	if (!first->ended)
		count(second, first->ways->paths);
	first->ended |= second->ended;
	memmove(first->left + first->nr_left, second->left,
		second->nr_left * sizeof(*first->left));
	free(made.paths);
	ways_free(&ways);
	return first->nr_left + second->nr_left;
}

/* Each time there are paths below all of the ends at which one waited. */
void add_rests(struct ways *ways, struct arrivals *to, struct rest *rests, size_t nr)
{
	uint32_t *waiting = xraw(nr, sizeof(*waiting));
	uint32_t *left = xraw(nr, sizeof(*left)), *last;
	bool ended = false;

	for (size_t i = 0; i < nr; i++)
		waiting[i] = i;
	while (nr && !ended) {
		struct share first = { ways, to, rests, waiting, .left = left };
		struct share second = { NULL, to, rests, .arrived = left + nr };
		size_t half;

		sort_by_path(rests, ways->paths->nr_paths, waiting, nr);
		half = middle(rests, waiting, nr);
		first.nr = half;
		second.waiting = waiting + half;
		second.nr = nr - half;
		second.left = left + half;

		if (half == nr)
			go_on_all(&first);
		nr = half == nr ? first.nr_left : go_on_halves(&first, &second);
		ended = first.ended;
		last = waiting;
		waiting = left;
		left = last;
	}
	free(waiting);
	free(left);
}
