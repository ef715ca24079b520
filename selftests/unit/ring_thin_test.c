// SPDX-License-Identifier: GPL-2.0-only
/*
 * The module's choice of samples for who asked for fewer: as many as were asked for,
 * each with the same probability, also where the rate changes and where one sample
 * interrupts the choice of another.
 */
#include <math.h>
#include "kselftest_harness.h"
#include "shim/shim.h"
#include "../../kmod/thin.h"

#define RUNS	200

static struct gprof_thin thin_of(u64 seed)
{
	struct gprof_thin s = { 0 };

	local64_set(&s.random, seed);
	return s;
}

static u64 taken_of(struct gprof_thin *s, const struct gprof_thinning *t, u32 number, u64 samples)
{
	u64 taken = 0;

	while (samples--)
		taken += gprof_thin_takes(s, t, number);
	return taken;
}

/* Off by how many standard errors? */
static double off(double got, double expected, double variance)
{
	return fabs(got - expected) / sqrt(variance);
}

FIXTURE(thin) {
	double p;
	struct gprof_thinning t;
};

FIXTURE_VARIANT(thin) {
	u64 part;
	u64 whole;
};

FIXTURE_VARIANT_ADD(thin, half) { .part = 1, .whole = 2 };
FIXTURE_VARIANT_ADD(thin, tenth) { .part = 100000, .whole = 1000000 };
FIXTURE_VARIANT_ADD(thin, thousandth) { .part = 997, .whole = 997000 };
FIXTURE_VARIANT_ADD(thin, most) { .part = 99, .whole = 100 };

FIXTURE_SETUP(thin)
{
	self->p = (double)variant->part / variant->whole;
	gprof_thinning_init(&self->t, variant->part, variant->whole);
}

FIXTURE_TEARDOWN(thin)
{
}

TEST_F(thin, takes_as_many_as_were_asked_for)
{
	double samples = 1000 / self->p, mean = 0;
	int run;

	for (run = 0; run < RUNS; run++) {
		struct gprof_thin s = thin_of(run);

		mean += taken_of(&s, &self->t, 1, samples) / (samples * RUNS);
	}
	EXPECT_LT(off(mean, self->p, self->p * (1 - self->p) / (floor(samples) * RUNS)), 3);
}

/* Were it not so, what is left of a gap would say something about the next sample. */
TEST_F(thin, gaps_vary_as_they_should)
{
	struct gprof_thin s = thin_of(4711);
	double n = 200000, sum = 0, squares = 0, q = 1 - self->p, mean, variance, fourth;
	int i;

	for (i = 0; i < n; i++) {
		double gap = gprof_thin_gap(&s, &self->t);

		sum += gap;
		squares += gap * gap;
	}
	mean = sum / n;
	variance = squares / n - mean * mean;
	EXPECT_LT(off(mean, 1 / self->p, q / (self->p * self->p) / n), 3);
	/* Of a geometric number: kurtosis 9 + p^2 / q. */
	fourth = (9 + self->p * self->p / q - 1) * pow(q / (self->p * self->p), 2);
	EXPECT_LT(off(variance, q / (self->p * self->p), fourth / n), 3);
}

/* A sample at any place of a rhythm is as likely as one at any other. */
TEST_F(thin, has_no_rhythm)
{
	double at[8] = { 0 }, rounds = 2000 / self->p;
	struct gprof_thin s = thin_of(99);
	int i;
	u64 n;

	for (n = 0; n < rounds * 8; n++)
		at[n & 7] += gprof_thin_takes(&s, &self->t, 1);
	for (i = 0; i < 8; i++)
		EXPECT_LT(off(at[i], rounds * self->p, rounds * self->p * (1 - self->p)), 4);
}

/* As when recorders with other rates come and go, more often than a sample is taken. */
TEST_F(thin, changes_favour_nobody)
{
	double samples = 1000 / self->p, mean = 0;
	int run, n;

	for (run = 0; run < RUNS; run++) {
		struct gprof_thin s = thin_of(run);
		u64 taken = 0;

		for (n = 0; n < samples / 7; n++)
			taken += taken_of(&s, &self->t, n + 1, 7);
		mean += taken / (7. * n) / RUNS;
	}
	EXPECT_LT(off(mean, self->p, self->p * (1 - self->p) / (samples * RUNS)), 3);
}

TEST_F(thin, chance_is_as_likely)
{
	double samples = 50 / self->p, mean = 0;
	int run, n;

	for (run = 0; run < RUNS; run++) {
		struct gprof_thin s = thin_of(run);
		u64 taken = 0;

		for (n = 0; n < samples; n++)
			taken += gprof_thin_by_chance(&s, variant->part, variant->whole);
		mean += taken / (double)n / RUNS;
	}
	EXPECT_LT(off(mean, self->p, self->p * (1 - self->p) / (samples * RUNS)), 3);
}

static struct gprof_thin *shared;
static const struct gprof_thinning *shared_thinning;
static u64 inner, inner_taken;

static void interrupt(void)
{
	static bool inside;

	if (inside || rand() % 64)
		return;
	inside = true;
	inner++;
	inner_taken += gprof_thin_takes(shared, shared_thinning, 1);
	inside = false;
}

TEST_F(thin, samples_that_interrupt_each_other_are_as_likely)
{
	struct gprof_thin s = thin_of(1);
	double n = 400000 / self->p, all;
	u64 taken;

	if (variant->whole / variant->part > 100)
		n /= 50;
	shared = &s;
	shared_thinning = &self->t;
	inner = inner_taken = 0;
	shim_nmi = interrupt;
	taken = taken_of(&s, &self->t, 1, n);
	shim_nmi = NULL;
	all = floor(n) + inner;
	EXPECT_GT(inner, n / 100);
	EXPECT_LT(off((taken + inner_taken) / all, self->p, self->p * (1 - self->p) / all), 4);
	/* Nor those that interrupt more often than the others. */
	EXPECT_LT(off((double)inner_taken / inner, self->p, self->p * (1 - self->p) / inner), 4);
}

TEST(gaps_may_be_as_long_as_any_period)
{
	struct gprof_thinning t;
	struct gprof_thin s = thin_of(5);
	double n = 100000, sum = 0;
	int i;

	gprof_thinning_init(&t, 100, 1ULL << 48);
	for (i = 0; i < n; i++)
		sum += gprof_thin_gap(&s, &t);
	EXPECT_LT(off(sum / n, 0x1p48 / 100, 0x1p96 / 10000 / n), 3);
}

TEST_HARNESS_MAIN
