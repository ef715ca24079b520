/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * byte_sample: which of many allocations are sampled: each byte with the same probability,
 * so that one of many bytes is sampled more often, and stands for fewer.
 *
 * Compiles in user space too.
 */
#ifndef GPROF_BYTE_SAMPLE_H
#define GPROF_BYTE_SAMPLE_H

#include "subsample.h"

#define GPROF_BYTE_SAMPLE_BITS	48	/* of a number of bytes */

/**
 * struct gprof_byte_sample - the state on one CPU
 * @subsample: its @left are bytes until the next stop, at most a period; and the generator
 * @rest: bytes of the stretch that the last sampled byte was drawn in, behind that
 * @beyond: 0: the stop is a byte that is sampled; else so many behind it is one
 */
struct gprof_byte_sample {
	struct gprof_subsample subsample;
	u64 rest;
	u64 beyond;
};

void gprof_byte_sample_begin(struct gprof_byte_sample *s, u64 period);
u64 gprof_byte_sample_draw(struct gprof_byte_sample *s, u64 period, u64 bytes, s64 *left);
u64 gprof_byte_sample_again(struct gprof_byte_sample *s, u64 period, u64 bytes, u64 stands_for);

/**
 * gprof_byte_sample_take() - is this allocation sampled?
 * @s: the state on this CPU
 * @period: of so many bytes one is sampled
 * @bytes: of it, less than 2^48
 *
 * Context: Any incl. NMI, preemption off.
 * Return: for how many of as many bytes it stands; 0: it is not.
 */
static __always_inline u64 gprof_byte_sample_take(struct gprof_byte_sample *s, u64 period,
						  u64 bytes)
{
	s64 left = local64_sub_return(bytes, &s->subsample.left);
	u64 weight;

	if (likely(left > 0))
		return 0;
	weight = gprof_byte_sample_draw(s, period, bytes, &left);
	local64_add(left, &s->subsample.left);
	return weight;
}

#endif /* GPROF_BYTE_SAMPLE_H */
