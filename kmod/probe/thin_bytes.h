/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * thin_bytes: which of many allocations are sampled: each byte with the same probability,
 * so that one of many bytes is sampled more often, and stands for fewer.
 *
 * Compiles in user space too.
 */
#ifndef GPROF_THIN_BYTES_H
#define GPROF_THIN_BYTES_H

#include "thin.h"

#define GPROF_THIN_BYTES_BITS	48	/* of a number of bytes */

/**
 * struct gprof_thin_bytes - the state on one CPU
 * @thin: its @left are bytes until the next stop, at most a period; and the generator
 * @rest: bytes of the stretch that the last sampled byte was drawn in, behind that
 * @beyond: 0: the stop is a byte that is sampled; else so many behind it is one
 */
struct gprof_thin_bytes {
	struct gprof_thin thin;
	u64 rest;
	u64 beyond;
};

void gprof_thin_bytes_begin(struct gprof_thin_bytes *s, u64 period);
u64 gprof_thin_bytes_draw(struct gprof_thin_bytes *s, u64 period, u64 bytes, s64 *left);
u64 gprof_thin_bytes_again(struct gprof_thin_bytes *s, u64 period, u64 bytes, u64 stands_for);

/**
 * gprof_thin_bytes_take() - is this allocation sampled?
 * @s: the state on this CPU
 * @period: of so many bytes one is sampled
 * @bytes: of it, less than 2^48
 *
 * Context: Any incl. NMI, preemption off.
 * Return: for how many of as many bytes it stands; 0: it is not.
 */
static __always_inline u64 gprof_thin_bytes_take(struct gprof_thin_bytes *s, u64 period, u64 bytes)
{
	s64 left = local64_sub_return(bytes, &s->thin.left);
	u64 weight;

	if (likely(left > 0))
		return 0;
	weight = gprof_thin_bytes_draw(s, period, bytes, &left);
	local64_add(left, &s->thin.left);
	return weight;
}

#endif /* GPROF_THIN_BYTES_H */
