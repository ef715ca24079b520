// SPDX-License-Identifier: GPL-2.0-only
/*
 * The module's choice of samples for who asked for fewer: as many as were asked for,
 * each with the same probability, also where the rate changes and where one sample
 * interrupts the choice of another. And its choice of allocations: each byte as likely, each
 * standing for as many as it should, and totals that chance has little part in.
 */
#include <math.h>
#include "harness.h"
#include "shim/shim.h"
#include "../../kmod/probe/subsample.h"
#include "../../kmod/probe/byte_sample.h"

#define RUNS	200

static struct gprof_subsample thin_of(u64 seed)
{
	struct gprof_subsample s = { 0 };

	local64_set(&s.random, seed);
	return s;
}

static u64 taken_of(struct gprof_subsample *s, const struct gprof_subsampling *t, u32 number,
		    u64 samples)
{
	u64 taken = 0;

	while (samples--)
		taken += gprof_subsample_takes(s, t, number);
	return taken;
}

/* Off by how many standard errors? */
static double off(double got, double expected, double variance)
{
	return fabs(got - expected) / sqrt(variance);
}

FIXTURE(subsample) {
	double p;
	struct gprof_subsampling t;
};

FIXTURE_VARIANT(subsample) {
	u64 part;
	u64 whole;
};

FIXTURE_VARIANT_ADD(subsample, half) { .part = 1, .whole = 2 };
FIXTURE_VARIANT_ADD(subsample, tenth) { .part = 100000, .whole = 1000000 };
FIXTURE_VARIANT_ADD(subsample, thousandth) { .part = 997, .whole = 997000 };
FIXTURE_VARIANT_ADD(subsample, most) { .part = 99, .whole = 100 };

FIXTURE_SETUP(subsample)
{
	self->p = (double)variant->part / variant->whole;
	gprof_subsampling_init(&self->t, variant->part, variant->whole);
}

FIXTURE_TEARDOWN(subsample)
{
}

TEST_F(subsample, takes_as_many_as_were_asked_for)
{
	double samples = 1000 / self->p, mean = 0;

	for (int run = 0; run < RUNS; run++) {
		struct gprof_subsample s = thin_of(run);

		mean += taken_of(&s, &self->t, 1, samples) / (samples * RUNS);
	}
	EXPECT_LT(off(mean, self->p, self->p * (1 - self->p) / (floor(samples) * RUNS)), 3);
}

/* Were it not so, what is left of a gap would say something about the next sample. */
TEST_F(subsample, gaps_vary_as_they_should)
{
	struct gprof_subsample s = thin_of(4711);
	double n = 200000, sum = 0, squares = 0, q = 1 - self->p, mean, variance, fourth;

	for (int i = 0; i < n; i++) {
		double skip = gprof_subsample_skip(&s, &self->t);

		sum += skip;
		squares += skip * skip;
	}
	mean = sum / n;
	variance = squares / n - mean * mean;
	EXPECT_LT(off(mean, 1 / self->p, q / (self->p * self->p) / n), 3);
	/* Of a geometric number: kurtosis 9 + p^2 / q. */
	fourth = (9 + self->p * self->p / q - 1) * pow(q / (self->p * self->p), 2);
	EXPECT_LT(off(variance, q / (self->p * self->p), fourth / n), 3);
}

/* A sample at any place of a rhythm is as likely as one at any other. */
TEST_F(subsample, has_no_rhythm)
{
	double at[8] = { 0 }, rounds = 2000 / self->p;
	struct gprof_subsample s = thin_of(99);
	u64 n;

	for (n = 0; n < rounds * 8; n++)
		at[n & 7] += gprof_subsample_takes(&s, &self->t, 1);
	for (int i = 0; i < 8; i++)
		EXPECT_LT(off(at[i], rounds * self->p, rounds * self->p * (1 - self->p)), 4);
}

/* As when recorders with other rates come and go, more often than a sample is taken. */
TEST_F(subsample, changes_favour_no_sample)
{
	double samples = 1000 / self->p, mean = 0;
	int run, n;

	for (run = 0; run < RUNS; run++) {
		struct gprof_subsample s = thin_of(run);
		u64 taken = 0;

		for (n = 0; n < samples / 7; n++)
			taken += taken_of(&s, &self->t, n + 1, 7);
		mean += taken / (7. * n) / RUNS;
	}
	EXPECT_LT(off(mean, self->p, self->p * (1 - self->p) / (samples * RUNS)), 3);
}

TEST_F(subsample, chance_is_as_likely)
{
	double samples = 50 / self->p, mean = 0;
	int run, n;

	for (run = 0; run < RUNS; run++) {
		struct gprof_subsample s = thin_of(run);
		u64 taken = 0;

		for (n = 0; n < samples; n++)
			taken += gprof_subsample_by_chance(&s, variant->part, variant->whole);
		mean += taken / (double)n / RUNS;
	}
	EXPECT_LT(off(mean, self->p, self->p * (1 - self->p) / (samples * RUNS)), 3);
}

static struct gprof_subsample *shared;
static const struct gprof_subsampling *shared_thinning;
static u64 inner, inner_taken;

static void interrupt(void)
{
	static bool inside;

	if (inside || rand() % 64)
		return;
	inside = true;
	inner++;
	inner_taken += gprof_subsample_takes(shared, shared_thinning, 1);
	inside = false;
}

TEST_F(subsample, samples_that_interrupt_each_other_are_as_likely)
{
	struct gprof_subsample s = thin_of(1);
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
	struct gprof_subsampling t;
	struct gprof_subsample s = thin_of(5);
	double n = 100000, sum = 0;

	gprof_subsampling_init(&t, 100, 1ULL << 48);
	for (int i = 0; i < n; i++)
		sum += gprof_subsample_skip(&s, &t);
	EXPECT_LT(off(sum / n, 0x1p48 / 100, 0x1p96 / 10000 / n), 3);
}

/* ---- by bytes ---- */

FIXTURE(bytes) {
	double p;
};

FIXTURE_VARIANT(bytes) {
	u64 period;
	u64 size;
};

FIXTURE_VARIANT_ADD(bytes, seldom) { .period = 65536, .size = 96 };
FIXTURE_VARIANT_ADD(bytes, often) { .period = 4096, .size = 3000 };
FIXTURE_VARIANT_ADD(bytes, just_less) { .period = 4096, .size = 4095 };
FIXTURE_VARIANT_ADD(bytes, just_as_many) { .period = 4096, .size = 4096 };
FIXTURE_VARIANT_ADD(bytes, one_byte) { .period = 7, .size = 1 };
FIXTURE_VARIANT_ADD(bytes, large) { .period = 512 << 10, .size = 4 << 20 };

FIXTURE_SETUP(bytes)
{
	self->p = (double)variant->size / variant->period;
}

FIXTURE_TEARDOWN(bytes)
{
}

static struct gprof_byte_sample bytes_of(u64 seed, u64 period)
{
	struct gprof_byte_sample s = { .subsample = thin_of(seed) };

	gprof_byte_sample_begin(&s, period);
	return s;
}

/* At most, of what one stands for, if it were drawn for by itself; with what rounding adds. */
static double variance_of(double p)
{
	return p < 1 ? 1 / p + 0.25 * p : 1e-9;
}

TEST_F(bytes, stand_for_all)
{
	double n = floor(500 / self->p) + 1, taken = 0, weight = 0, stretches = 0;

	for (int run = 0; run < RUNS; run++) {
		struct gprof_byte_sample s = bytes_of(run, variant->period);

		for (int i = 0; i < n; i++) {
			u64 w = gprof_byte_sample_take(&s, variant->period, variant->size);

			taken += w > 0;
			weight += w;
		}
		stretches += self->p * n;
	}
	if (self->p >= 1) {
		EXPECT_EQS(n * RUNS, taken, n * RUNS, weight);
		return;
	}
	/* Of each run what the last stretch has, and each sample is rounded. */
	EXPECT_LT(off(weight, n * RUNS, RUNS * 0.25 / (self->p * self->p) + stretches * 0.25), 3.5);
	EXPECT_LE(taken, weight);
}

/* One of each stretch: no total is wrong by as much as a sample stands for, ever. */
TEST(bytes_in_a_row_are_wrong_by_less_than_a_sample)
{
	const u64 period = 65536, size = 64;

	for (int run = 0; run < RUNS; run++) {
		struct gprof_byte_sample s = bytes_of(run, period);
		double told = 0;

		for (int i = 1; i < 20000; i++) {
			told += size * gprof_byte_sample_take(&s, period, size);
			ASSERT_LT(fabs(told - (double)size * i), period);
		}
	}
}

/*
 * Bytes of one place in each @every, whatever that is: right on an average, and no worse than
 * if each were drawn for by itself.
 */
TEST(a_rhythm_favours_no_byte)
{
	static const u64 others[] = { 96, 4096 / 3 - 64, 2048 - 64, 4096 * 2 / 3 - 64, 4096 - 64,
				      4095 - 64, 3000, 4095 };
	const double period = 4096, size = 64, nr = 2000, runs = 2000;

	for (unsigned int k = 0; k < sizeof(others) / sizeof(others[0]); k++) {
		double sum = 0, squares = 0, truth = nr * size;

		for (int run = 0; run < runs; run++) {
			struct gprof_byte_sample s = bytes_of(run, period);
			double told = 0;

			for (int i = 0; i < nr; i++) {
				told += size * gprof_byte_sample_take(&s, period, size);
				gprof_byte_sample_take(&s, period, others[k]);
			}
			sum += told - truth;
			squares += (told - truth) * (told - truth);
		}
		EXPECT_LT(off(sum, 0, runs * truth * period), 3.5);
		/* The variance of a variance is about twice its square. */
		EXPECT_LT(squares / runs, truth * period * (1 + 4 * sqrt(2 / runs)))
			TH_LOG("beside %llu bytes", (unsigned long long)others[k]);
	}
}

/* Wherever it begins: each of its bytes is as likely, also the first ones. */
TEST(counters_that_are_new_favour_no_place)
{
	double at[16] = { 0 }, runs = 200000;

	for (int run = 0; run < runs; run++) {
		struct gprof_byte_sample s = bytes_of(run, 1000);

		for (int i = 0; i < 16; i++)
			at[i] += gprof_byte_sample_take(&s, 1000, 200);
	}
	/* As one stands for five. */
	for (int i = 0; i < 16; i++)
		EXPECT_LT(off(at[i], runs, runs * 5), 4);
}

static struct gprof_byte_sample *shared_bytes;
static u64 inner_period, inner_size, inner_weight;

static void interrupt_bytes(void)
{
	static bool inside;

	if (inside || rand() % 64)
		return;
	inside = true;
	inner++;
	inner_weight += gprof_byte_sample_take(shared_bytes, inner_period, inner_size);
	inside = false;
}

TEST_F(bytes, that_interrupt_each_other_stand_for_all)
{
	struct gprof_byte_sample s = bytes_of(3, variant->period);
	double n = floor(200000 / self->p), weight = 0, variance = variance_of(self->p), i;

	if (n > 4e6)
		n = 4e6;
	shared_bytes = &s;
	inner_period = variant->period;
	inner_size = variant->size;
	inner = inner_weight = 0;
	shim_nmi = interrupt_bytes;
	for (i = 0; i < n; i++)
		weight += gprof_byte_sample_take(&s, variant->period, variant->size);
	shim_nmi = NULL;
	EXPECT_GT(inner, n / 100);
	EXPECT_LTS(off(weight, n, n * variance), 4, off(inner_weight, inner, inner * variance), 4);
}

/* Of many sizes the sum of bytes is right, whatever came before whom. */
TEST(bytes_of_allocations_of_many_sizes_add_up)
{
	const u64 period = 10000;
	double all = 0, told = 0, variance = 0;

	for (int run = 0; run < RUNS; run++) {
		struct gprof_byte_sample s = bytes_of(run, period);

		for (int i = 0; i < 2000; i++) {
			u64 size = i % 10 ? 8 << i % 10 : 30000;

			all += size;
			told += size * gprof_byte_sample_take(&s, period, size);
			/* What rounding adds, to each sample. */
			variance += size < period ? (double)size * size * 0.25 * size / period : 0;
		}
		variance += 0.25 * period * period;
	}
	EXPECT_LT(off(told, all, variance), 3.5);
}

/* However far the next byte is that is sampled. */
TEST(what_has_as_many_bytes_as_the_period_is_taken)
{
	struct gprof_byte_sample s = bytes_of(4, 1000);

	for (int i = 0; i < 20000; i++) {
		gprof_byte_sample_take(&s, 1000, i % 700);
		ASSERT_EQ(1, gprof_byte_sample_take(&s, 1000, 1000 + i % 900));
	}
}

TEST(each_is_taken_where_each_byte_is)
{
	struct gprof_byte_sample s = bytes_of(8, 1);

	for (int i = 1; i < 10000; i++)
		ASSERT_EQ(1, gprof_byte_sample_take(&s, 1, i));
}

/* What another has sampled by fewer bytes, or by more. */
TEST(samples_of_others_stand_for_all)
{
	static const struct { u64 had, period, size;
	} cases[] = {
		{ 1000, 1000, 300 },   { 1000, 10000, 300 }, { 1000, 3500, 999 },
		{ 1000, 10000, 5000 }, { 1000, 4000, 5000 }, { 10000, 1000, 300 },
		{ 10000, 1000, 3000 }, { 1, 5000, 80 },
	};
	const double nr = 2e6;

	for (unsigned int k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
		u64 had = cases[k].had, period = cases[k].period, size = cases[k].size;
		struct gprof_byte_sample theirs = bytes_of(k, had),
					 ours = bytes_of(k + 100, period);
		double weight = 0, least = period > had ? period : had;

		for (int i = 0; i < nr; i++) {
			u64 w = gprof_byte_sample_take(&theirs, had, size);

			if (w)
				weight += gprof_byte_sample_again(&ours, period, size, w * size);
		}
		/* In a row, so that only rounding is wrong, twice. */
		EXPECT_LT(off(weight, nr, 2 * nr * size / least + least * least / size / size), 4)
			TH_LOG("case %u", k);
	}
}

TEST_HARNESS_MAIN
