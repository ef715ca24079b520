// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * mud.c: quantiles of the mutator utilization distribution.
 *
 * Between two bends the utilization of a sliding window goes straight from one
 * value to another, so it spends equal times in equal parts of the way: each
 * straight piece adds its duration to the distribution, spread evenly from its
 * lowest to its highest value, or all at one value where it is level.
 *
 * A quantile is found as in a book: first the page, then the line. A pass along
 * the series sorts the pieces into buckets; the next pass looks into the bucket
 * that the quantile fell into, until the distribution is straight within it or it
 * is as narrow as doubles are dense. Thus nothing is kept for a piece, however
 * many there are.
 *
 * No sum here is the difference of larger ones: whole pieces are added up as integers, of others a
 * part is taken. A running sum of densities would not stand a piece that rounding makes almost
 * level, hence infinitely dense. And where no piece crosses from one bucket to the next, the sum
 * below is an integer: so a quantile that falls on a gap, as half of two processors does, is on
 * its lower side.
 */
#include "base/error.h"
#include "mmu.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

/* Buckets of a pass: a power of two, so that their bounds are exact. */
#define BUCKETS		1024

/* Buckets are not divided further from this width on. */
#define NARROW		(8 * DBL_EPSILON)

/**
 * struct piece - a straight piece of the utilization of a sliding window
 * @low: lowest value
 * @high: highest value, the same for a level piece
 * @duration: ns
 */
struct piece {
	double low;
	double high;
	uint64_t duration;
};

/**
 * struct bucket - durations, in ns, that windows have a utilization within it
 * @mass: of pieces that begin or end in it
 * @step: of pieces that cross it, less those that cross the bucket before
 * @pieces: number of pieces that cross it, likewise
 * @opens: number of pieces that begin in it, less those that end in it
 * @closed: duration of pieces that end in it, ns
 * @level: of level pieces
 * @at: where these are; NAN when that differs
 * @end: lowest place where a piece begins or ends inside, INFINITY for none
 */
struct bucket {
	double mass;
	double step;
	int64_t pieces;
	int64_t opens;
	uint64_t closed;
	double level;
	double at;
	double end;
};

/**
 * struct search - for one quantile
 * @mass: duration of windows at or below it, in units of sliding_window.h
 * @begin: of the range that it is in; afterwards the quantile itself
 * @width: of the range, 0 when the quantile is found
 * @below: duration of pieces that lie below the range, ns
 * @part: of pieces that reach into it from below, the part below, ns
 * @open: how many these are
 * @last: highest value in the range
 * @buckets: of the range; one more for pieces that end behind it
 */
struct search {
	unsigned __int128 mass;
	double begin;
	double width;
	uint64_t below;
	double part;
	int64_t open;
	double last;
	struct bucket buckets[BUCKETS + 1];
};

static double lower(double a, double b)
{
	return a < b ? a : b;
}

static double higher(double a, double b)
{
	return a > b ? a : b;
}

/* The bounds of ranges and buckets are multiples of powers of two: all this is exact. */
static size_t bucket_of(const struct search *s, double value)
{
	return (size_t)((value - s->begin) * (BUCKETS / s->width));
}

static double bucket_begin(const struct search *s, size_t i)
{
	return s->begin + (double)i * (s->width / BUCKETS);
}

static void search_clear(struct search *s)
{
	size_t i;

	s->below = 0;
	s->part = 0;
	s->open = 0;
	s->last = s->begin;
	for (i = 0; i <= BUCKETS; i++)
		s->buckets[i] = (struct bucket){ .end = INFINITY };
}

static void add_level(struct search *s, double value, uint64_t duration)
{
	struct bucket *b = &s->buckets[bucket_of(s, value)];

	if (!b->level)
		b->at = value;
	else if (b->at != value)
		b->at = NAN;
	b->closed += duration;
	b->level += (double)duration;
	b->mass += (double)duration;
	b->end = lower(b->end, value);
}

static void mark(struct search *s, size_t i, double value)
{
	if (value > bucket_begin(s, i))
		s->buckets[i].end = lower(s->buckets[i].end, value);
}

/* A piece that is not level, with a part in the range. */
static void add_slope(struct search *s, const struct piece *p)
{
	double density = (double)p->duration / (p->high - p->low);
	size_t from = 0, to = BUCKETS;

	if (p->high < s->begin + s->width) {
		to = bucket_of(s, p->high);
		mark(s, to, p->high);
		s->buckets[to].opens--;
		s->buckets[to].closed += p->duration;
	}
	if (p->low < s->begin) {
		s->part += density * (s->begin - p->low);
		s->open++;
	} else {
		from = bucket_of(s, p->low);
		mark(s, from, p->low);
		s->buckets[from].opens++;
		if (from == to) {
			s->buckets[from].mass += (double)p->duration;
			return;
		}
		s->buckets[from].mass += density * (bucket_begin(s, from + 1) - p->low);
		from++;
	}
	if (to < BUCKETS)
		s->buckets[to].mass += density * (p->high - bucket_begin(s, to));
	/* Only the part that crosses a whole bucket: then no step is more than the duration. */
	if (from < to) {
		s->buckets[from].step += density * (s->width / BUCKETS);
		s->buckets[from].pieces++;
		s->buckets[to].step -= density * (s->width / BUCKETS);
		s->buckets[to].pieces--;
	}
}

static void add_piece(struct search *s, const struct piece *p)
{
	if (p->high < s->begin || (p->high == s->begin && p->low < p->high)) {
		s->below += p->duration;
	} else if (p->low < s->begin + s->width) {
		s->last = higher(s->last, lower(p->high, s->begin + s->width));
		if (p->low == p->high)
			add_level(s, p->low, p->duration);
		else
			add_slope(s, p);
	}
}

static void found(struct search *s, double value)
{
	s->begin = value;
	s->width = 0;
}

/* How much of the mass is left when @below ns are taken off; not below 0. */
static double rest(const struct search *s, uint64_t below)
{
	unsigned __int128 area = (unsigned __int128)below << GPROF_AREA_SHIFT;

	return s->mass > area ? gprof_area_mean(s->mass - area, 1) : 0;
}

/*
 * Go into the bucket in which the quantile is: the lowest place at and below
 * which windows of its mass lie.
 */
static void search_deeper(struct search *s)
{
	double wanted = rest(s, s->below) - s->part, crossing = 0, width = s->width / BUCKETS;
	uint64_t closed = s->below;
	int64_t open = s->open, pieces = 0;
	size_t i;

	/*
	 * Only the rounding of pieces that cross it can have led to a range that begins too high.
	 */
	if (wanted <= 0 && s->begin > 0) {
		found(s, s->begin);
		return;
	}
	for (i = 0; i < BUCKETS; i++) {
		const struct bucket *b = &s->buckets[i];
		double mass, left;

		/* Of a sum that went up and down, rounding leaves a rest. */
		pieces += b->pieces;
		crossing = pieces ? higher(crossing + b->step, 0) : 0;
		mass = b->mass + crossing;
		open += b->opens;
		closed += b->closed;
		left = open ? wanted - mass : rest(s, closed);
		if (left > 0 || !mass) {
			wanted = left;
			continue;
		}
		if (mass - b->level < wanted && wanted <= b->level && !isnan(b->at)) {
			found(s, b->at);
		} else if (isinf(b->end)) {
			found(s, bucket_begin(s, i) + width * lower(wanted / mass, 1));
		} else if (width <= NARROW) {
			found(s, b->end);
		} else {
			s->begin = bucket_begin(s, i);
			s->width = width;
		}
		return;
	}
	found(s, s->last);
}

/* Show all pieces of all series to all searches. */
static void pass(const struct gprof_mmu *m, int64_t window, struct search *searches, size_t nr)
{
	size_t i, j;

	for (i = 0; i < m->nr; i++) {
		struct gprof_sliding_window w;
		int64_t last;
		double mean;

		gprof_mmu_window(&w, &m->series[i], window);
		last = gprof_sliding_window_last(&w);
		mean = gprof_area_mean(gprof_sliding_window_area(&w), w.length);
		while (w.left.time < last) {
			int64_t from = w.left.time, to = gprof_sliding_window_bend(&w);
			double next;
			struct piece p;

			gprof_sliding_window_move(&w, to < last ? to : last);
			next = gprof_area_mean(gprof_sliding_window_area(&w), w.length);
			p = (struct piece){
				.low = lower(mean, next),
				.high = higher(mean, next),
				.duration = (uint64_t)w.left.time - (uint64_t)from,
			};
			for (j = 0; j < nr; j++)
				if (searches[j].width)
					add_piece(&searches[j], &p);
			mean = next;
		}
	}
}

static bool unfinished(const struct search *searches, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++)
		if (searches[i].width)
			return true;
	return false;
}

/* Duration of all windows together. */
static uint64_t total(const struct gprof_mmu *m, int64_t window)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < m->nr; i++) {
		uint64_t duration = gprof_series_duration(&m->series[i]);

		if (duration > (uint64_t)window)
			sum += duration - (uint64_t)window;
	}
	return sum;
}

int gprof_mmu_quantiles(const struct gprof_mmu *m, int64_t window, const double *q, size_t nr,
			double *util)
{
	uint64_t mass = window > 0 ? total(m, window) : 0;
	struct search *searches;
	double lowest;
	size_t i;

	for (i = 0; i < nr; i++) {
		if (!(q[i] >= 0 && q[i] <= 1))
			return gprof_error_set(NULL, EINVAL, "%g is no quantile; they are 0 to 1",
					       q[i]);
	}
	searches = calloc(nr ? nr : 1, sizeof(*searches));
	if (!searches)
		return gprof_error_set(NULL, ENOMEM, "no memory for quantiles");
	/* A window as long as its series has one place, and no distribution. */
	lowest = mass ? gprof_mmu_lowest(m, window, (uint64_t)window) : gprof_mmu_at(m, window);
	for (i = 0; i < nr; i++) {
		struct search *s = &searches[i];

		/* Utilization 1 lies within [0, 2), and not at its end. */
		s->width = 2;
		s->mass = gprof_area_of(q[i], mass);
		if (!s->mass)
			found(s, lowest);
	}
	while (unfinished(searches, nr)) {
		for (i = 0; i < nr; i++)
			search_clear(&searches[i]);
		pass(m, window, searches, nr);
		for (i = 0; i < nr; i++)
			if (searches[i].width)
				search_deeper(&searches[i]);
	}
	for (i = 0; i < nr; i++)
		util[i] = searches[i].begin;
	free(searches);
	return 0;
}
