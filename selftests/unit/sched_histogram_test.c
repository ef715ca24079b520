// SPDX-License-Identifier: GPL-2.0-only
/*
 * sched_histogram_test: the module's histogram, in user space: every value is in
 * the bucket that the interface says, and counts do not end at 2^32.
 */
#include "harness.h"
#include "shim.h"
#include "../../kmod/kind/sched/histogram.h"

/* The interface's word, against the kernel's. */
static int holds(unsigned int i, uint64_t v)
{
	if (i >= GPROF_HISTOGRAM_BUCKETS || v < GPROF_HISTOGRAM_LOWEST(i))
		return 0;
	return i + 1 == GPROF_HISTOGRAM_BUCKETS || v < GPROF_HISTOGRAM_LOWEST(i + 1);
}

TEST(every_value_is_in_its_bucket)
{
	unsigned int shift, low, wrong = 0;
	uint64_t v;

	for (v = 0; v < 100000; v++)
		wrong += !holds(gprof_histogram_bucket(v), v);
	for (shift = 3; shift < 64; shift++) {
		for (low = 0; low < 64; low++) {
			v = (1ULL << shift) + ((1ULL << shift) - 1) / 63 * low;
			wrong += !holds(gprof_histogram_bucket(v), v);
			wrong += !holds(gprof_histogram_bucket(v - 1), v - 1);
		}
	}
	EXPECT_EQS(0, wrong, GPROF_HISTOGRAM_BUCKETS - 1, gprof_histogram_bucket(~0ULL));
}

TEST(no_bucket_is_wider_than_an_eighth_of_its_values)
{
	for (unsigned int i = 8; i + 1 < GPROF_HISTOGRAM_BUCKETS; i++)
		EXPECT_LE((GPROF_HISTOGRAM_LOWEST(i + 1) - GPROF_HISTOGRAM_LOWEST(i)) * 8,
			  GPROF_HISTOGRAM_LOWEST(i + 1));
}

TEST(counts_go_beyond_2_to_the_32)
{
	struct gprof_histogram *h = calloc(1, sizeof(*h));
	unsigned int i = gprof_histogram_bucket(1000);

	ASSERT_NE(NULL, h);
	h->buckets[i] = 0xffffffffULL;
	h->sum = 0xffffffffULL * 1000;
	gprof_histogram_add(h, 1000);
	gprof_histogram_add(h, 1000);
	EXPECT_EQS(0x100000001ULL, h->buckets[i], 0x100000001ULL * 1000, h->sum, 1000, h->max);
	gprof_histogram_add(h, 5000000000ULL);
	EXPECT_EQS(5000000000ULL, h->max, 0x100000001ULL * 1000 + 5000000000ULL, h->sum);
	EXPECT_EQ(1, h->buckets[gprof_histogram_bucket(5000000000ULL)]);
	gprof_histogram_add(h, 3);
	EXPECT_EQS(5000000000ULL, h->max, 0x100000001ULL + 2, gprof_histogram_count(h));
	free(h);
}

TEST_HARNESS_MAIN
