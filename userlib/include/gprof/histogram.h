/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * gprof/histogram.h: how often which value, in buckets that grow with the value.
 *
 * Buckets below 8 hold one value each; from there on each power of two is
 * parted in eight. A bucket is never wider than an eighth of its values, and
 * every value of 64 bits has one.
 *
 * Threads and fork. All of this is the caller's own memory, and nothing else is
 * touched. Growth: the struct is closed.
 */
#ifndef GPROF_HISTOGRAM_H
#define GPROF_HISTOGRAM_H

#include <stddef.h>
#include <stdint.h>
#include <gprof/recorder.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GPROF_HISTOGRAM_NR	496

/**
 * struct gprof_histogram - counts of values
 * @count: values; the sum of @buckets
 * @sum: of the values, exact
 * @largest: value, exact
 * @buckets: counts; bucket i begins with gprof_histogram_lowest(i)
 */
struct gprof_histogram {
	uint64_t count;
	uint64_t sum;
	uint64_t largest;
	uint64_t buckets[GPROF_HISTOGRAM_NR];
};

/** gprof_histogram_lowest() - smallest value of bucket @i; UINT64_MAX after the last */
GPROF_API uint64_t gprof_histogram_lowest(size_t i);

/** gprof_histogram_bucket() - the bucket that @value is counted in */
GPROF_API size_t gprof_histogram_bucket(uint64_t value);

/** gprof_histogram_below() - values that are counted in buckets before @i */
GPROF_API uint64_t gprof_histogram_below(const struct gprof_histogram *h, size_t i);

/**
 * gprof_histogram_quantile() - the value that a share of all values does not exceed
 * @h: histogram
 * @q: share, 0 to 1
 *
 * Return: an estimate within the right bucket, so off by an eighth at most;
 * exact for 1 (the largest), 0 when there are no values.
 */
GPROF_API uint64_t gprof_histogram_quantile(const struct gprof_histogram *h, double q);

/**
 * gprof_histogram_since() - counts since an earlier reading
 * @h: later reading; gets the difference
 * @earlier: of the same histogram
 *
 * The largest of the difference is exact when it is the largest of all, else
 * the last value of its bucket.
 */
GPROF_API void gprof_histogram_since(struct gprof_histogram *h,
				     const struct gprof_histogram *earlier);

#ifdef __cplusplus
}
#endif

#endif /* GPROF_HISTOGRAM_H */
