// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * histogram.c: how often which value, in buckets that grow with the value.
 */
#include <assert.h>
#include <gprof/histogram.h>
#include <linux/gprof_netlink.h>

static_assert(GPROF_HISTOGRAM_NR == GPROF_HISTOGRAM_BUCKETS, "the kernel's histograms");

uint64_t gprof_histogram_lowest(size_t i)
{
	return i < GPROF_HISTOGRAM_NR ? GPROF_HISTOGRAM_LOWEST(i) : UINT64_MAX;
}

size_t gprof_histogram_bucket(uint64_t value)
{
	unsigned int octave;

	if (value < 8)
		return value;
	/* The three bits below the highest say which eighth. */
	octave = 63 - __builtin_clzll(value);
	return (octave - 2) * 8 + (value >> (octave - 3) & 7);
}

uint64_t gprof_histogram_below(const struct gprof_histogram *h, size_t i)
{
	uint64_t n = 0;

	while (i--)
		n += i < GPROF_HISTOGRAM_NR ? h->buckets[i] : 0;
	return n;
}

/* Last value of bucket i. */
static uint64_t highest(size_t i)
{
	return i + 1 < GPROF_HISTOGRAM_NR ? gprof_histogram_lowest(i + 1) - 1 : UINT64_MAX;
}

uint64_t gprof_histogram_quantile(const struct gprof_histogram *h, double q)
{
	uint64_t rank, value, before = 0;
	size_t i;

	if (!h->count)
		return 0;
	/* Written so that NaN counts as 0. */
	if (!(q > 0))
		q = 0;
	if (q >= 1)
		return h->largest;
	rank = (uint64_t)(q * (double)h->count);
	for (i = 0; i < GPROF_HISTOGRAM_NR; i++) {
		uint64_t low, width;
		double within;

		if (h->buckets[i] <= rank - before) {
			before += h->buckets[i];
			continue;
		}
		/* As if the values of a bucket were spread evenly over it. */
		low = gprof_histogram_lowest(i);
		width = highest(i) - low;
		within = ((double)(rank - before) + 0.5) / (double)h->buckets[i];
		value = low + (uint64_t)((double)width * within);
		return value < h->largest ? value : h->largest;
	}
	return h->largest;
}

void gprof_histogram_since(struct gprof_histogram *h, const struct gprof_histogram *earlier)
{
	uint64_t last = 0;
	size_t i;

	h->count -= earlier->count;
	h->sum -= earlier->sum;
	for (i = 0; i < GPROF_HISTOGRAM_NR; i++) {
		h->buckets[i] -= earlier->buckets[i];
		if (h->buckets[i])
			last = highest(i);
	}
	if (h->largest == earlier->largest && last < h->largest)
		h->largest = last;
}
