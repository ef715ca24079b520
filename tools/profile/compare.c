// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which functions of two sets of profiles differ by more than chance explains.
 *
 * Many rows are judged at once, so each is judged more strictly: 1 of 20 comparisons of a program
 * with itself may tell a difference, whatever the number of functions (Sidak). Rows with so few
 * samples that no difference could be told are not counted among them (Tarone), or programs with
 * many rare functions would hide what changed.
 */
#include "compare.h"

#include <math.h>

/* Steps of the integral of Student's distribution, and of halving an interval. */
#define STEPS	128
#define HALVES	60

/* Of rates of the runs of one side. */
static double mean_of(const struct comparison *c, const double *v, size_t from, size_t to)
{
	double sum = 0;

	for (size_t r = from; r < to; r++)
		sum += v[r] / c->exposure[r];
	return sum / (double)(to - from);
}

/* By substitution of t = sqrt(df) tan(x) there is nothing infinite, by Simpson's rule. */
static double student_tail(double t, double df)
{
	double from = atan2(t, sqrt(df)), step = (M_PI_2 - from) / STEPS, sum = 0;

	for (int i = 0; i <= STEPS; i++)
		sum += pow(cos(from + i * step), df - 1) * (i % 2 ? 4 : i && i < STEPS ? 2 : 1);
	return sum * step / 3 * exp(lgamma((df + 1) / 2) - lgamma(df / 2)) / sqrt(M_PI);
}

double compare_p(double t, double df)
{
	t = fabs(t);
	return isinf(df) ? erfc(t / M_SQRT2) : 2 * student_tail(t, df);
}

/* The t of a p. */
static double t_of(double p, double df)
{
	double low = 0, high = 1e9;

	for (int i = 0; i < HALVES; i++) {
		double t = i < HALVES / 2 ? sqrt((low + 1e-9) * high) : (low + high) / 2;

		if (compare_p(t, df) > p)
			low = t;
		else
			high = t;
	}
	return high;
}

/* Variance of the difference of both means where samples alone vary. */
static double variance_of_samples(const struct comparison *c, const struct compare_row *r)
{
	size_t nr[2] = { c->nr_before, c->nr_runs - c->nr_before };
	double value = 0, samples = 0, exposure = 0, variance = 0, rate;

	for (size_t i = 0; i < c->nr_runs; i++) {
		value += r->values[i];
		samples += r->samples[i];
		exposure += c->exposure[i];
	}
	if (!samples)
		return 0;
	rate = value / exposure;
	for (size_t i = 0; i < c->nr_runs; i++) {
		double runs = nr[i >= c->nr_before];

		variance += rate * (value / samples) / c->exposure[i] / (runs * runs);
	}
	return c->shares ? variance * fmax(1 - rate, 0) : variance;
}

/* Likewise, where runs do; there are more than two. */
static double variance_of_runs(const struct comparison *c, const struct compare_row *r)
{
	double sum = 0;

	for (size_t i = 0; i < c->nr_runs; i++) {
		double d = r->values[i] / c->exposure[i] -
			   (i < c->nr_before ? r->before : r->after);

		sum += d * d;
	}
	return sum / (double)(c->nr_runs - 2) *
	       (1.0 / (double)c->nr_before + 1.0 / (double)(c->nr_runs - c->nr_before));
}

static double samples_of(const struct comparison *c, const struct compare_row *r)
{
	double sum = 0;

	for (size_t i = 0; i < c->nr_runs; i++)
		sum += r->samples[i];
	return sum;
}

/* The largest t that chance can make of a row: all its samples are of one side. */
static double most_of(const struct comparison *c, const struct compare_row *r)
{
	double sides[2] = { 0 }, least;

	for (size_t i = 0; i < c->nr_runs; i++)
		sides[i >= c->nr_before] += c->exposure[i];
	least = fmin(sides[0], sides[1]) / (sides[0] + sides[1]);
	return sqrt(samples_of(c, r) * (1 - least) / least);
}

/* Rows that are judged, of all comparisons. */
static double judged_of(const struct comparison *c)
{
	return (double)(c->judged ? c->judged : 1) * (double)(c->families ? c->families : 1);
}

static double alpha_of(const struct comparison *c)
{
	return -expm1(log1p(-COMPARE_ALPHA) / judged_of(c));
}

/* Rows that can differ by as much as that many rows ask for. */
static void choose(struct comparison *c)
{
	size_t before;

	c->judged = c->nr;
	for (size_t i = 0; i < c->nr; i++)
		c->rows[i].judged = true;
	do {
		double alpha = alpha_of(c);

		before = c->judged;
		c->judged = 0;
		for (size_t i = 0; i < c->nr; i++) {
			struct compare_row *r = &c->rows[i];

			r->judged = r->judged && compare_p(most_of(c, r), INFINITY) < alpha;
			c->judged += r->judged;
		}
	} while (c->judged < before && c->judged);
}

/* Do rows of so many samples vary more from run to run than these explain, by a standard error? */
static bool rows_differ(const struct comparison *c, double least)
{
	double df = c->nr_runs - 2, sum = 0;
	size_t nr = 0;

	for (size_t i = 0; i < c->nr; i++) {
		const struct compare_row *r = &c->rows[i];
		double samples = variance_of_samples(c, r);

		if (!r->judged || samples <= 0 || samples_of(c, r) < least)
			continue;
		sum += variance_of_runs(c, r) / samples;
		nr++;
	}
	return nr && sum / (double)nr > 1 + sqrt(2 / (df * (double)nr));
}

/*
 * Of the variance of one row in a few runs little is known, so all are asked together; and those
 * with most samples, where a small difference shows first.
 */
static bool runs_differ(const struct comparison *c)
{
	double most = 0;

	for (size_t i = 0; i < c->nr; i++)
		most = fmax(most, samples_of(c, &c->rows[i]));
	return rows_differ(c, 0) || rows_differ(c, most / 8) || rows_differ(c, most / 64);
}

/* @most: the t that is told. */
static void judge(const struct comparison *c, struct compare_row *r, double df, double most)
{
	double variance = variance_of_samples(c, r), p;

	/* Few runs may be alike by chance: never less than samples alone vary. */
	if (!isinf(df))
		variance = fmax(variance, variance_of_runs(c, r));
	r->error = r->judged ? most * sqrt(variance) : INFINITY;
	p = variance > 0 ? compare_p((r->after - r->before) / sqrt(variance), df) : 1;
	r->p = r->judged ? -expm1(judged_of(c) * log1p(-fmin(p, 1 - 1e-12))) : 1;
}

bool compare_knows_runs(const struct comparison *c)
{
	return c->nr_before >= COMPARE_RUNS && c->nr_runs - c->nr_before >= COMPARE_RUNS;
}

void compare_rows(struct comparison *c)
{
	double most = 0, df = INFINITY;

	for (size_t i = 0; i < c->nr; i++) {
		struct compare_row *r = &c->rows[i];

		r->before = mean_of(c, r->values, 0, c->nr_before);
		r->after = mean_of(c, r->values, c->nr_before, c->nr_runs);
	}
	choose(c);
	c->runs_differ = compare_knows_runs(c) && runs_differ(c);
	if (c->runs_differ)
		df = c->nr_runs - 2;
	if (c->judged)
		most = t_of(alpha_of(c), df);
	for (size_t i = 0; i < c->nr; i++)
		judge(c, &c->rows[i], df, most);
}
