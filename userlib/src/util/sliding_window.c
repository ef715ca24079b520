// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * sliding_window.c: a window that slides along a utilization function.
 */
#include "sliding_window.h"

#include <errno.h>
#include <stdlib.h>

/* Exact but for utilizations below 2^-10, which lose their bits below 2^-62. */
static uint64_t fixed(double util)
{
	return (uint64_t)(util * (double)(1ULL << GPROF_AREA_SHIFT));
}

/* Times may be anywhere in 64 bits; their distances fit unsigned. */
static uint64_t distance(int64_t from, int64_t to)
{
	return (uint64_t)to - (uint64_t)from;
}

unsigned __int128 gprof_area_of(double util, uint64_t duration)
{
	return (unsigned __int128)fixed(util) * duration;
}

uint64_t gprof_series_duration(const struct gprof_series *s)
{
	return distance(s->changes[0].time, s->changes[s->nr - 1].time);
}

int gprof_series_init(struct gprof_series *s, const struct gprof_util_function *f)
{
	const struct gprof_util_change *c = f->changes;
	unsigned __int128 sum = 0;
	size_t i;

	*s = (struct gprof_series){
		.changes = c, .nr = f->nr, .id = f->id, .lowest = UINT64_MAX,
	};
	for (i = 0; i < f->nr; i++)
		if (!(c[i].util >= 0 && c[i].util <= 1) || (i && c[i].time < c[i - 1].time))
			return -EINVAL;
	/* The range has to fit: lengths are signed, and so are all edges. */
	if (gprof_series_duration(s) > INT64_MAX)
		return -EINVAL;
	s->anchors = calloc(f->nr / GPROF_ANCHOR_STEP + 1, sizeof(*s->anchors));
	if (!s->anchors)
		return -ENOMEM;
	for (i = 0; i < f->nr; i++) {
		if (i % GPROF_ANCHOR_STEP == 0)
			s->anchors[i / GPROF_ANCHOR_STEP] = sum;
		if (i + 1 == f->nr || c[i + 1].time == c[i].time)
			continue;
		sum += gprof_area_of(c[i].util, distance(c[i].time, c[i + 1].time));
		if (fixed(c[i].util) < s->lowest)
			s->lowest = fixed(c[i].util);
	}
	return 0;
}

void gprof_series_free(struct gprof_series *s)
{
	free(s->anchors);
	s->anchors = NULL;
}

/* Go to the last anchor at or before @time, which lies behind the edge. */
static void edge_leap(struct gprof_edge *e, const struct gprof_series *s, int64_t time)
{
	size_t low = e->pos / GPROF_ANCHOR_STEP, high = (s->nr - 1) / GPROF_ANCHOR_STEP;

	while (low < high) {
		size_t middle = high - (high - low) / 2;

		if (s->changes[middle * GPROF_ANCHOR_STEP].time <= time)
			low = middle;
		else
			high = middle - 1;
	}
	if (low == e->pos / GPROF_ANCHOR_STEP)
		return;
	e->pos = low * GPROF_ANCHOR_STEP;
	e->time = s->changes[e->pos].time;
	e->sum = s->anchors[low];
}

static void edge_move(struct gprof_edge *e, const struct gprof_series *s, int64_t time)
{
	const struct gprof_util_change *c = s->changes;
	size_t last = s->nr - 1;

	if (e->pos + GPROF_ANCHOR_STEP < last && c[e->pos + GPROF_ANCHOR_STEP].time <= time)
		edge_leap(e, s, time);
	while (e->pos < last && c[e->pos + 1].time <= time) {
		e->sum += gprof_area_of(c[e->pos].util, distance(e->time, c[e->pos + 1].time));
		e->time = c[++e->pos].time;
	}
	e->sum += gprof_area_of(c[e->pos].util, distance(e->time, time));
	e->time = time;
}

/* When the edge meets its next change. */
static int64_t edge_next(const struct gprof_edge *e, const struct gprof_series *s)
{
	return e->pos + 1 < s->nr ? s->changes[e->pos + 1].time : INT64_MAX;
}

void gprof_sliding_window_init(struct gprof_sliding_window *w, const struct gprof_series *s,
			       uint64_t length)
{
	w->series = s;
	w->length = length;
	w->left = (struct gprof_edge){ .time = s->changes[0].time };
	w->right = w->left;
	edge_move(&w->left, s, s->changes[0].time);
	edge_move(&w->right, s, s->changes[0].time + (int64_t)length);
}

int64_t gprof_sliding_window_last(const struct gprof_sliding_window *w)
{
	return w->series->changes[w->series->nr - 1].time - (int64_t)w->length;
}

void gprof_sliding_window_move(struct gprof_sliding_window *w, int64_t time)
{
	edge_move(&w->left, w->series, time);
	edge_move(&w->right, w->series, time + (int64_t)w->length);
}

int64_t gprof_sliding_window_bend(const struct gprof_sliding_window *w)
{
	int64_t left = edge_next(&w->left, w->series);
	int64_t right = edge_next(&w->right, w->series);

	/* Behind the last change is no other: the window is at its end. */
	if (right == INT64_MAX)
		return left;
	right -= (int64_t)w->length;
	return left < right ? left : right;
}

unsigned __int128 gprof_sliding_window_area(const struct gprof_sliding_window *w)
{
	return w->right.sum - w->left.sum;
}

double gprof_area_mean(unsigned __int128 area, uint64_t length)
{
	return (double)area / (double)(1ULL << GPROF_AREA_SHIFT) / (double)length;
}
