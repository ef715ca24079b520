// SPDX-License-Identifier: GPL-2.0-only
/*
 * byte_sample: which allocations are sampled, and for how many each stands.
 *
 * Of each stretch of as many bytes as the period, in the order in which they are allocated,
 * one is sampled, each as likely as the others: in every program, a byte is with the
 * probability 1/period, and stands for period bytes. Stretches are drawn for on their own, so
 * that no rhythm meets another; and as each has exactly one such byte, the error by
 * chance of some of the bytes is never more than if each were drawn for by itself (p (1 - p)
 * for the part p of each stretch, instead of p), and next to nothing of many in a row.
 *
 * An allocation of as many bytes as the period, or more, is sampled anyway, stands for itself,
 * and is in no stretch. To come upon it the counter must never be larger than a period: where
 * the next byte that is sampled is farther away, it stops at the end of the stretch as well.
 *
 * Samples stand for whole allocations: the bytes that one stands for, by those that it has,
 * rounded up with the probability that the fraction is, else down, which is right on an average.
 */
#include "byte_sample.h"

#include <linux/math64.h>

static u64 below(struct gprof_byte_sample *s, u64 n)
{
	return mul_u64_u64_shr(gprof_subsample_random(&s->subsample), n, 64);
}

/**
 * gprof_byte_sample_begin() - draw for the first time
 * @s: state, with its random numbers
 * @period: of so many bytes one is sampled; at least 1, below 2^62
 *
 * Context: Nobody asks meanwhile.
 */
void gprof_byte_sample_begin(struct gprof_byte_sample *s, u64 period)
{
	u64 at = below(s, period) + 1;

	s->rest = period - at;
	s->beyond = 0;
	local64_set(&s->subsample.left, at);
}

/* How many of @bytes are sampled, where the stop is in them, at *@at; that gets the next one. */
static u64 draw(struct gprof_byte_sample *s, u64 period, u64 bytes, u64 *at)
{
	u64 nr = 0;

	while (*at <= bytes) {
		u64 skip = s->beyond, next;

		s->beyond = 0;
		if (!skip) {
			next = below(s, period) + 1;
			skip = s->rest + next;
			nr++;
			if (skip > period) {
				skip = s->rest;
				s->beyond = next;
			}
			s->rest = period - next;
		}
		*at += skip;
	}
	barrier();	/* an interrupt once the counter is set goes by it */
	return nr;
}

/* For how many bytes do these stand? @left gets the value from gprof_byte_sample_draw(). */
static u64 bytes_represented(struct gprof_byte_sample *s, u64 period, u64 bytes, s64 *left)
{
	u64 at = *left + bytes, nr;

	if (bytes < period && *left + (s64)bytes > 0) {
		nr = draw(s, period, bytes, &at);
		*left = (s64)(at - bytes) - *left;
		return nr * period;
	}
	*left = bytes;
	if (bytes >= period)
		return bytes;
	/* It interrupts one that has come to the stop and is not over: on its own, then. */
	return below(s, period) < bytes ? period : 0;
}

static u64 weight(struct gprof_byte_sample *s, u64 bytes, u64 stands_for)
{
	return stands_for ? div64_u64(stands_for + below(s, bytes), bytes) : 0;
}

/**
 * gprof_byte_sample_draw() - the seldom half of gprof_byte_sample_take()
 * @s: state
 * @period: of so many bytes one is sampled
 * @bytes: of the allocation
 * @left: bytes behind it until the next stop, below 1; gets the bytes to add to that of @s
 *
 * Sampled bytes are followed by others that are not. The allocation of an interrupt in the taking
 * of a sample, which is more often the longer that takes, would always be among these: so it is
 * on its own, until that is over and @left is added.
 *
 * Context: As gprof_byte_sample_take().
 * Return: likewise.
 */
u64 gprof_byte_sample_draw(struct gprof_byte_sample *s, u64 period, u64 bytes, s64 *left)
{
	return weight(s, bytes, bytes_represented(s, period, bytes, left));
}

/**
 * gprof_byte_sample_again() - somebody else has sampled it; is it a sample here?
 * @s: state
 * @period: of so many bytes one is sampled here
 * @bytes: of the allocation; at least 1
 * @stands_for: for so many bytes it does there; at least @bytes
 *
 * A caller that wants more than there is takes all that there is. Else the bytes that it stands
 * for are like others.
 *
 * Context: As gprof_byte_sample_take().
 * Return: likewise.
 */
u64 gprof_byte_sample_again(struct gprof_byte_sample *s, u64 period, u64 bytes, u64 stands_for)
{
	s64 left;

	if (stands_for < period) {
		left = local64_sub_return(stands_for, &s->subsample.left);
		if (left > 0)
			return 0;
		stands_for = bytes_represented(s, period, stands_for, &left);
		local64_add(left, &s->subsample.left);
	}
	return weight(s, bytes, stands_for);
}
