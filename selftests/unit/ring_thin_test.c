// SPDX-License-Identifier: GPL-2.0-only
/*
 * The module's choice of samples for who asked for fewer: as many as were asked for,
 * each with the same probability, also where the rate changes and where one sample
 * interrupts the choice of another. And its choice of allocations: as likely as they have
 * bytes, and each standing for as many as it should.
 */
#include <math.h>
#include "kselftest_harness.h"
#include "shim/shim.h"
#include "../../kmod/thin.h"
#include "../../kmod/thin_bytes.h"

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

/* ---- by bytes ---- */

FIXTURE(bytes) {
	double p;
	struct gprof_thin_bytes t;
};

FIXTURE_VARIANT(bytes) {
	u64 period;
	u64 size;
};

FIXTURE_VARIANT_ADD(bytes, seldom) { .period = 65536, .size = 96 };
FIXTURE_VARIANT_ADD(bytes, often) { .period = 4096, .size = 3000 };
FIXTURE_VARIANT_ADD(bytes, mostly) { .period = 1000, .size = 4096 };
FIXTURE_VARIANT_ADD(bytes, one_byte) { .period = 7, .size = 1 };
FIXTURE_VARIANT_ADD(bytes, nearly_all) { .period = 2, .size = 3 };
FIXTURE_VARIANT_ADD(bytes, large) { .period = 512 << 10, .size = 4 << 20 };

FIXTURE_SETUP(bytes)
{
	self->p = -expm1(variant->size * log1p(-1. / variant->period));
	gprof_thin_bytes_init(&self->t, variant->period);
}

FIXTURE_TEARDOWN(bytes)
{
}

static struct gprof_thin bytes_of(u64 seed, const struct gprof_thin_bytes *t)
{
	struct gprof_thin s = thin_of(seed);

	gprof_thin_bytes_begin(&s, t);
	return s;
}

/* Of what one stands for: its variance, with what rounding by chance adds. */
static double variance_of(double p)
{
	double fraction = 1 / p - floor(1 / p);

	return (1 - p) / p + p * fraction * (1 - fraction);
}

TEST_F(bytes, are_as_likely_and_stand_for_all)
{
	double n = floor(500 / self->p), taken = 0, weight = 0;
	int run, i;

	for (run = 0; run < RUNS; run++) {
		struct gprof_thin s = bytes_of(run, &self->t);

		for (i = 0; i < n; i++) {
			u64 w = gprof_thin_bytes_take(&s, &self->t, variant->size);

			taken += w > 0;
			weight += w;
		}
	}
	n *= RUNS;
	if (self->p > 1 - 1e-6) {
		EXPECT_LT(fabs(taken / n - self->p), 1e-2);
		EXPECT_LT(fabs(weight / n - 1), 1e-3);
		return;
	}
	EXPECT_LT(off(taken, n * self->p, n * self->p * (1 - self->p)), 3.5);
	EXPECT_LT(off(weight, n, n * variance_of(self->p)), 3.5);
}

static const struct gprof_thin_bytes *shared_bytes;
static u64 inner_size, inner_weight;

static void interrupt_bytes(void)
{
	static bool inside;

	if (inside || rand() % 64)
		return;
	inside = true;
	inner++;
	inner_weight += gprof_thin_bytes_take(shared, shared_bytes, inner_size);
	inside = false;
}

TEST_F(bytes, that_interrupt_each_other_stand_for_all)
{
	struct gprof_thin s = bytes_of(3, &self->t);
	double n = floor(200000 / self->p), weight = 0, variance = variance_of(self->p), i;

	if (n > 4e6)
		n = 4e6;
	shared = &s;
	shared_bytes = &self->t;
	inner_size = variant->size;
	inner = inner_weight = 0;
	shim_nmi = interrupt_bytes;
	for (i = 0; i < n; i++)
		weight += gprof_thin_bytes_take(&s, &self->t, variant->size);
	shim_nmi = NULL;
	EXPECT_GT(inner, n / 100);
	if (self->p > 1 - 1e-6)
		return;
	EXPECT_LT(off(weight, n, n * variance), 4);
	EXPECT_LT(off(inner_weight, inner, inner * variance), 4);
}

/* Of many sizes the sum of bytes is right, whatever came before whom. */
TEST(bytes_of_allocations_of_many_sizes_add_up)
{
	struct gprof_thin_bytes t;
	double all = 0, told = 0, variance = 0;
	int run, i;

	gprof_thin_bytes_init(&t, 10000);
	for (run = 0; run < RUNS; run++) {
		struct gprof_thin s = bytes_of(run, &t);

		for (i = 0; i < 2000; i++) {
			u64 size = i % 10 ? 8 << i % 10 : 30000;
			double p = -expm1(size * log1p(-1e-4));

			all += size;
			told += size * gprof_thin_bytes_take(&s, &t, size);
			variance += (double)size * size * variance_of(p);
		}
	}
	EXPECT_LT(off(told, all, variance), 3.5);
}

TEST(each_is_taken_where_each_byte_is)
{
	struct gprof_thin_bytes t;
	struct gprof_thin s;
	int i;

	gprof_thin_bytes_init(&t, 1);
	s = bytes_of(8, &t);
	for (i = 1; i < 10000; i++)
		ASSERT_EQ(1, gprof_thin_bytes_take(&s, &t, i));
}

TEST_HARNESS_MAIN
