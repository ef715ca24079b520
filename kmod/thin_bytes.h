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
 * struct gprof_thin_bytes - a probability of each byte
 * @period: its inverse
 * @gaps: bytes until the next one that is sampled
 * @none: of 2^n bytes, how likely it is that none is sampled, 64 bits of fraction
 */
struct gprof_thin_bytes {
	u64 period;
	struct gprof_thinning gaps;
	u64 none[GPROF_THIN_BYTES_BITS];
};

void gprof_thin_bytes_init(struct gprof_thin_bytes *t, u64 period);
void gprof_thin_bytes_begin(struct gprof_thin *s, const struct gprof_thin_bytes *t);
u64 gprof_thin_bytes_draw(struct gprof_thin *s, const struct gprof_thin_bytes *t, u64 bytes,
			  s64 left);
u64 gprof_thin_bytes_again(struct gprof_thin *s, const struct gprof_thin_bytes *t,
			   const struct gprof_thin_bytes *had, u64 bytes);

/**
 * gprof_thin_bytes_take() - is this allocation sampled?
 * @s: the state on this CPU
 * @t: how likely that is
 * @bytes: of it, less than 2^48
 *
 * Context: Any incl. NMI, preemption off.
 * Return: for how many of as many bytes it stands; 0: it is not.
 */
static __always_inline u64 gprof_thin_bytes_take(struct gprof_thin *s,
						 const struct gprof_thin_bytes *t, u64 bytes)
{
	s64 left = local64_sub_return(bytes, &s->left);

	return likely(left > 0) ? 0 : gprof_thin_bytes_draw(s, t, bytes, left);
}

#endif /* GPROF_THIN_BYTES_H */
