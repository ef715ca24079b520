// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which bytes libgprof-heap.so samples, without it: each is as likely, whatever the program
 * does, and where the period changes too.
 */
#include "harness.h"
#include "lib_util.h"

#include "../../userlib/shim/byte_sample.c"

__thread struct shim_thread shim_thread;

static void begin(uint64_t seed, uint64_t period)
{
	shim_thread = (struct shim_thread){ .random = seed * 0x9e3779b97f4a7c15ULL + 1 };
	shim_byte_sample_init(&shim_thread, period);
}

/* For how many bytes @n do. */
static double told_of(size_t n, uint64_t wanted)
{
	uint64_t stands_for = shim_skips(n) ? 0 : shim_byte_sample(&shim_thread, n, wanted);

	return stands_for && stands_for < n ? (double)n : (double)stands_for;
}

/* Within so many standard errors, of which the square is @variance? */
static bool is_near(double got, double expected, double variance, double errors)
{
	return (got - expected) * (got - expected) <= errors * errors * variance;
}

TEST(bytes_in_a_row_are_wrong_by_less_than_a_sample)
{
	static const size_t sizes[] = { 1, 40, 3000, 40000, 65535 };
	const uint64_t period = 65536;

	for (unsigned int k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
		double told = 0, all = 0;

		begin(k, period);
		while (all < 100. * (double)period) {
			told += told_of(sizes[k], period);
			all += (double)sizes[k];
			ASSERT_LT(told - all, (double)period);
			ASSERT_LT(all - told, (double)period);
		}
	}
}

TEST(what_has_as_many_bytes_as_the_period_stands_for_itself)
{
	begin(1, 1000);
	for (int i = 0; i < 10000; i++) {
		told_of((size_t)i % 999, 1000);
		ASSERT_EQ(1000 + i, told_of(1000 + (size_t)i, 1000));
	}
	begin(2, 1);
	for (int i = 1; i < 1000; i++)
		ASSERT_EQ(i, told_of((size_t)i, 1));
}

/* Each of a program's allocations, of threads that end soon. */
TEST(no_place_of_a_new_thread_is_favoured)
{
	const size_t sizes[] = { 100, 900, 16, 600, 2000, 300, 999, 1, 1000, 300 };
	const int nr = sizeof(sizes) / sizeof(sizes[0]), runs = 200000;
	double told[10] = { 0 };

	for (int run = 0; run < runs; run++) {
		begin(run, 1000);
		for (int i = 0; i < nr; i++)
			told[i] += told_of(sizes[i], 1000);
	}
	for (int i = 0; i < nr; i++) {
		double size = (double)sizes[i];

		EXPECT_TRUE(is_near(told[i], runs * size, size < 1000 ? runs * size * 1000 : 0, 4))
			TH_LOG("%.0f bytes: %.1f", size, told[i] / runs);
	}
}

/* As a recorder comes, and as it goes: nothing is told twice, or less likely, for that. */
TEST(no_byte_is_favoured_where_the_period_changes)
{
	static const uint64_t periods[] = { 4096, 1000, 10000, 10000, 64, 20000 };
	const int runs = 20000, each = 101, nr = 6 * each;
	static double told[6 * 101];

	memset(told, 0, sizeof(told));
	for (int run = 0; run < runs; run++) {
		begin(run, periods[0]);
		for (int i = 0; i < nr; i++)
			told[i] += told_of(37 + (size_t)i % 7 * 400, periods[i / each]);
	}
	for (int i = 0; i < nr; i++) {
		double size = 37 + i % 7 * 400;

		/* None stands for more than the largest, with the one in which it changes. */
		EXPECT_TRUE(is_near(told[i], runs * size, runs * size * 20000, 4))
			TH_LOG("allocation %d of %.0f bytes: %.1f", i, size, told[i] / runs);
	}
	for (int i = 0; i < 6; i++) {
		double sum = 0, size = 0;

		for (int k = 0; k < each; k++) {
			sum += told[i * each + k];
			size += 37 + (i * each + k) % 7 * 400;
		}
		EXPECT_TRUE(is_near(sum / runs, size, 2 * 20000. * 20000 / runs, 4))
			TH_LOG("stretch %d: %.1f of %.0f", i, sum / runs, size);
	}
}

TEST_HARNESS_MAIN
