// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * trace_points.c: points that wait for their generation to be written.
 */
#include "trace_points.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"

void gprof_trace_points_free(struct gprof_trace_points *t)
{
	free(t->all);
	free(t->merged);
	memset(t, 0, sizeof(*t));
}

/* The rest stays where it is until its room is needed: a piece may end many generations. */
struct gprof_trace_point *gprof_trace_points_room(struct gprof_trace_points *t, size_t nr)
{
	size_t dropped = (size_t)(t->p - t->all);

	if (t->cap - dropped - t->nr >= nr)
		return &t->p[t->nr];
	if (dropped)
		memmove(t->all, t->p, t->nr * sizeof(*t->p));
	t->p = t->all;
	if (gprof_grow(&t->all, &t->cap, t->nr + nr, sizeof(*t->all)))
		return NULL;
	t->p = t->all;
	return &t->p[t->nr];
}

void gprof_trace_points_added(struct gprof_trace_points *t, size_t nr)
{
	if (t->nr && t->p[t->nr].time < t->p[t->nr - 1].time)
		t->unsorted = true;
	t->nr += nr;
}

/* How many from the first on are in order. */
static size_t run_of(const struct gprof_trace_point *p, size_t nr)
{
	size_t i = 1;

	while (i < nr && p[i - 1].time <= p[i].time)
		i++;
	return i < nr ? i : nr;
}

/* Of the same time, those of the first run come first. */
static void merge(struct gprof_trace_point *to, const struct gprof_trace_point *a, size_t nr_a,
		  const struct gprof_trace_point *b, size_t nr_b)
{
	const struct gprof_trace_point *end_a = a + nr_a, *end_b = b + nr_b;

	while (a != end_a && b != end_b)
		*to++ = b->time < a->time ? *b++ : *a++;
	memcpy(to, a, (size_t)(end_a - a) * sizeof(*to));
	memcpy(to + (end_a - a), b, (size_t)(end_b - b) * sizeof(*to));
}

/* Each two runs that follow each other to one; how many there are then. */
static size_t merge_all(const struct gprof_trace_points *t)
{
	const struct gprof_trace_point *p = t->p, *end = p + t->nr;
	struct gprof_trace_point *to = t->merged;
	size_t runs = 0;

	for (; p != end; runs++) {
		size_t left = (size_t)(end - p);
		size_t a = run_of(p, left);
		size_t b = run_of(p + a, left - a);

		merge(to, p, a, p + a, b);
		to += a + b;
		p += a + b;
	}
	return runs;
}

int gprof_trace_points_sort(struct gprof_trace_points *t)
{
	size_t runs;

	if (!t->unsorted)
		return 0;
	if (gprof_grow(&t->merged, &t->cap_merged, t->nr, sizeof(*t->merged)))
		return -ENOMEM;
	do {
		struct gprof_trace_point *all = t->all;
		size_t cap = t->cap;

		runs = merge_all(t);
		t->p = t->all = t->merged;
		t->cap = t->cap_merged;
		t->merged = all;
		t->cap_merged = cap;
	} while (runs > 1);
	t->unsorted = false;
	return 0;
}

size_t gprof_trace_points_before(const struct gprof_trace_points *t, uint64_t time)
{
	size_t from = 0, to = t->nr;

	while (from < to) {
		size_t i = from + (to - from) / 2;

		if (t->p[i].time < time)
			from = i + 1;
		else
			to = i;
	}
	return from;
}

void gprof_trace_points_drop(struct gprof_trace_points *t, size_t nr)
{
	t->nr -= nr;
	t->p = t->nr ? t->p + nr : t->all;
}
