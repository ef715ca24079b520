/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * histogram: counts of values by size, log-linear: eight buckets for each power
 * of two, so that a bucket is never wider than an eighth of its values, and
 * none for impossible values: it covers all of u64. GPROF_HISTOGRAM_LOWEST() of
 * linux/gprof_netlink.h is its inverse.
 *
 * Written by one CPU at a time without interrupts, read by anyone: a word of 64
 * bits is stored whole on both architectures. The writer stores the sum, then the
 * largest, then the count; a reader takes them the other way round, so that each
 * covers the values that were seen before it.
 */
#ifndef GPROF_HISTOGRAM_H
#define GPROF_HISTOGRAM_H

#include <asm/barrier.h>
#include <linux/bitops.h>
#include <linux/compiler.h>
#include <linux/gprof_netlink.h>
#include <linux/types.h>

/**
 * struct gprof_histogram - a histogram
 * @sum: of all values
 * @max: largest value
 * @buckets: how many values fell in each
 */
struct gprof_histogram {
	u64 sum;
	u64 max;
	u64 buckets[GPROF_HISTOGRAM_BUCKETS];
};

/**
 * gprof_histogram_bucket() - where a value is counted
 * @v: value
 *
 * Return: index below GPROF_HISTOGRAM_BUCKETS.
 */
static inline unsigned int gprof_histogram_bucket(u64 v)
{
	unsigned int shift = __fls(v | 8) - 3;

	return shift * 8 + (v >> shift);
}

/**
 * gprof_count() - add to a counter that others read
 * @counter: of this CPU
 * @n: number to add
 *
 * Pairs with the READ_ONCE() of sched_read.c.
 *
 * Context: Any, without interrupts, one CPU at a time.
 */
static inline void gprof_count(u64 *counter, u64 n)
{
	/* Nobody else writes. One instruction on amd64, where WRITE_ONCE() makes three. */
	data_race(*counter += n);
}

/**
 * gprof_histogram_add() - count a value
 * @h: histogram
 * @v: value
 *
 * Context: Any, without interrupts, one CPU at a time.
 */
static inline void gprof_histogram_add(struct gprof_histogram *h, u64 v)
{
	gprof_count(&h->sum, v);
	if (unlikely(v > h->max)) {
		smp_wmb();	/* Pairs with the last smp_rmb() of sum_all(). */
		WRITE_ONCE(h->max, v);
	}
	smp_wmb();	/* Pairs with the first two smp_rmb() of sum_all(). */
	gprof_count(&h->buckets[gprof_histogram_bucket(v)], 1);
}

/* How many values were counted. */
static inline u64 gprof_histogram_count(const struct gprof_histogram *h)
{
	u64 n = 0;
	unsigned int i;

	for (i = 0; i < GPROF_HISTOGRAM_BUCKETS; i++)
		n += h->buckets[i];
	return n;
}

#endif /* GPROF_HISTOGRAM_H */
