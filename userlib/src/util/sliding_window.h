/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * sliding_window.h: a window that slides along a utilization function.
 *
 * As the window slides, its mean utilization is a continuous function of its
 * begin, made of straight pieces: it bends only where an edge of the window
 * meets a change. All curves are read off these bends.
 *
 * Areas (utilization times ns) are integers in units of 2^-62 ns. So they are
 * exact, however long the trace: two windows of equal utilization compare equal,
 * and a window of 1 microsecond behind a day of sums is as good as at its begin.
 * A double rounds such sums after seconds.
 */
#ifndef GPROF_SLIDING_WINDOW_H
#define GPROF_SLIDING_WINDOW_H

#include <stddef.h>
#include <stdint.h>
#include <gprof/utilization.h>

#define GPROF_AREA_SHIFT	62

/* Every how many changes a series keeps the sum up to there. */
#define GPROF_ANCHOR_STEP	32

/**
 * struct gprof_series - a utilization function and its integral
 * @changes: of the function, borrowed
 * @nr: how many, at least 2; the first and the last differ in time
 * @id: of the function
 * @anchors: integral from the begin to each GPROF_ANCHOR_STEP-th change
 * @lowest: lowest utilization that lasts for a time
 */
struct gprof_series {
	const struct gprof_util_change *changes;
	size_t nr;
	int64_t id;
	unsigned __int128 *anchors;
	uint64_t lowest;
};

/** gprof_series_init() - prepare a function that has a duration; 0, -EINVAL or -ENOMEM */
int gprof_series_init(struct gprof_series *s, const struct gprof_util_function *f);
void gprof_series_free(struct gprof_series *s);

/** gprof_series_duration() - from the first to the last change, above 0 */
uint64_t gprof_series_duration(const struct gprof_series *s);

/**
 * struct gprof_edge - a place in a series
 * @pos: last change at or before it
 * @time: where it is
 * @sum: integral from the begin of the series to it
 */
struct gprof_edge {
	size_t pos;
	int64_t time;
	unsigned __int128 sum;
};

/**
 * struct gprof_sliding_window - a window over a series
 * @series: which
 * @length: ns, above 0 and at most the series' duration
 * @left: its begin
 * @right: its end
 */
struct gprof_sliding_window {
	const struct gprof_series *series;
	uint64_t length;
	struct gprof_edge left;
	struct gprof_edge right;
};

/** gprof_sliding_window_init() - put it at the begin of the series */
void gprof_sliding_window_init(struct gprof_sliding_window *w, const struct gprof_series *s,
			       uint64_t length);

/** gprof_sliding_window_last() - latest begin that it can have */
int64_t gprof_sliding_window_last(const struct gprof_sliding_window *w);

/** gprof_sliding_window_move() - slide it on until it begins at @time, not before it does now */
void gprof_sliding_window_move(struct gprof_sliding_window *w, int64_t time);

/** gprof_sliding_window_bend() - next begin at which its slope changes, INT64_MAX for none */
int64_t gprof_sliding_window_bend(const struct gprof_sliding_window *w);

/** gprof_sliding_window_area() - its utilization times its length */
unsigned __int128 gprof_sliding_window_area(const struct gprof_sliding_window *w);

/** gprof_area_of() - @duration ns at a utilization of @util */
unsigned __int128 gprof_area_of(double util, uint64_t duration);

/** gprof_area_mean() - utilization of a window of that area */
double gprof_area_mean(unsigned __int128 area, uint64_t length);

#endif /* GPROF_SLIDING_WINDOW_H */
