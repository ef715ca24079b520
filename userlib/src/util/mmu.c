// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * mmu.c: the worst windows of utilization functions.
 *
 * The mean utilization of a sliding window changes by at most 1/length for each
 * ns that it slides, as one end gains 1 where the other loses 0, or less. Hence a
 * search for the minimum need not stop at every bend: from a window that is better
 * than the best one by x ns of work it may go x ns on at once.
 */
#include "base/error.h"
#include "mmu.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "base/table.h"

struct gprof_mmu *gprof_mmu_new(const struct gprof_util_function *functions, size_t nr)
{
	struct gprof_mmu *m = calloc(1, sizeof(*m));
	int ret = m ? 0 : -ENOMEM;
	size_t i;

	if (m && nr) {
		m->series = calloc(nr, sizeof(*m->series));
		ret = m->series ? 0 : -ENOMEM;
	}
	for (i = 0; i < nr && !ret; i++) {
		const struct gprof_util_function *f = &functions[i];

		if (!f->nr || f->changes[0].time == f->changes[f->nr - 1].time)
			continue;
		ret = gprof_series_init(&m->series[m->nr++], f);
	}
	if (!ret)
		return m;
	gprof_mmu_free(m);
	gprof_error_set(NULL, -ret, ret == -ENOMEM ? "no memory for the utilization of windows" :
			"the times of a utilization function go back, or its values are out of "
			"range");
	return NULL;
}

void gprof_mmu_free(struct gprof_mmu *m)
{
	size_t i;

	if (!m)
		return;
	for (i = 0; i < m->nr; i++)
		gprof_series_free(&m->series[i]);
	free(m->series);
	free(m);
}

void gprof_mmu_window(struct gprof_sliding_window *w, const struct gprof_series *s, int64_t length)
{
	uint64_t duration = gprof_series_duration(s);

	gprof_sliding_window_init(w, s, (uint64_t)length < duration ? (uint64_t)length : duration);
}

/**
 * struct stretch - begins that a window may have, and the worst of them
 * @series: which the window lies in
 * @from: earliest begin
 * @to: latest begin
 * @time: begin of the worst window
 * @length: of the window
 * @util: of the worst window
 */
struct stretch {
	const struct gprof_series *series;
	int64_t from;
	int64_t to;
	int64_t time;
	uint64_t length;
	double util;
};

static void find_worst(struct stretch *s)
{
	unsigned __int128 best = (unsigned __int128)s->length << GPROF_AREA_SHIFT, lowest;
	struct gprof_sliding_window w;

	lowest = (unsigned __int128)s->series->lowest * s->length;
	gprof_sliding_window_init(&w, s->series, s->length);
	gprof_sliding_window_move(&w, s->from);
	s->time = s->from;
	for (;;) {
		unsigned __int128 area = gprof_sliding_window_area(&w);
		int64_t next = gprof_sliding_window_bend(&w), skip;

		if (area < best) {
			best = area;
			s->time = w.left.time;
		}
		if (best <= lowest || w.left.time >= s->to)
			break;
		skip = (int64_t)((area - best) >> GPROF_AREA_SHIFT);
		if (skip >= s->to - w.left.time)
			break;
		if (next < w.left.time + skip)
			next = w.left.time + skip;
		gprof_sliding_window_move(&w, next < s->to ? next : s->to);
	}
	s->util = gprof_area_mean(best, s->length);
}

/* All windows of one series. */
static struct stretch whole(const struct gprof_series *series, int64_t window)
{
	struct stretch s = { .series = series };
	struct gprof_sliding_window w;

	gprof_mmu_window(&w, series, window);
	s.length = w.length;
	s.from = w.left.time;
	s.to = gprof_sliding_window_last(&w);
	find_worst(&s);
	return s;
}

double gprof_mmu_lowest(const struct gprof_mmu *m, int64_t window, uint64_t longer)
{
	double mmu = 1;
	size_t i;

	for (i = 0; i < m->nr && mmu > 0; i++) {
		struct stretch s;

		if (gprof_series_duration(&m->series[i]) <= longer)
			continue;
		s = whole(&m->series[i], window);
		if (s.util < mmu)
			mmu = s.util;
	}
	return mmu;
}

double gprof_mmu_at(const struct gprof_mmu *m, int64_t window)
{
	return window > 0 ? gprof_mmu_lowest(m, window, 0) : 0;
}

/**
 * struct stretches - begins that are still open
 * @v: the stretches
 * @nr: how many
 * @cap: room in @v
 */
struct stretches {
	struct stretch *v;
	size_t nr;
	size_t cap;
};

static int add_stretch(struct stretches *all, const struct stretch *s, int64_t from, int64_t to)
{
	int ret = gprof_grow(&all->v, &all->cap, all->nr + 1, sizeof(*all->v));
	struct stretch *added;

	if (ret)
		return ret;
	added = &all->v[all->nr++];
	*added = *s;
	added->from = from;
	added->to = to;
	if (s->time < from || s->time > to)
		find_worst(added);
	return 0;
}

/* Those of @all whose windows do not overlap [begin, end). */
static int exclude(struct stretches *all, int64_t begin, int64_t end)
{
	struct stretches left = { NULL };
	int ret = 0;
	size_t i;

	for (i = 0; i < all->nr && !ret; i++) {
		const struct stretch *s = &all->v[i];
		/* Latest begin before, earliest behind. Edges lie within the series. */
		int64_t to = s->to + (int64_t)s->length <= begin ? s->to :
								    begin - (int64_t)s->length;
		int64_t from = s->from < end ? end : s->from;

		if (s->from + (int64_t)s->length <= begin)
			ret = add_stretch(&left, s, s->from, to);
		if (s->to >= end && !ret)
			ret = add_stretch(&left, s, from, s->to);
	}
	free(all->v);
	*all = left;
	return ret;
}

static const struct stretch *worst_of(const struct stretches *all)
{
	const struct stretch *worst = NULL;
	size_t i;

	for (i = 0; i < all->nr; i++) {
		const struct stretch *s = &all->v[i];

		if (!worst || s->util < worst->util ||
		    (s->util == worst->util && s->time < worst->time))
			worst = s;
	}
	return worst;
}

int gprof_mmu_worst(const struct gprof_mmu *m, int64_t window, struct gprof_util_window *worst,
		    size_t max)
{
	struct stretches all = { NULL };
	size_t i, nr = 0;
	int ret = 0;

	if (window <= 0)
		return 0;
	if (max > INT_MAX)
		max = INT_MAX;
	for (i = 0; i < m->nr && !ret; i++) {
		ret = gprof_grow(&all.v, &all.cap, all.nr + 1, sizeof(*all.v));
		if (!ret)
			all.v[all.nr++] = whole(&m->series[i], window);
	}
	while (nr < max && !ret) {
		const struct stretch *s = worst_of(&all);

		if (!s || s->util >= 1)
			break;
		worst[nr++] = (struct gprof_util_window){
			.time = s->time,
			.length = (int64_t)s->length,
			.util = s->util,
			.id = s->series->id,
		};
		ret = exclude(&all, s->time, s->time + (int64_t)s->length);
	}
	free(all.v);
	if (!ret)
		return (int)nr;
	return gprof_error_set(NULL, -ret, "no memory for the worst windows");
}
