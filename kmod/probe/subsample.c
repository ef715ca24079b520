// SPDX-License-Identifier: GPL-2.0-only
/*
 * subsample: geometric numbers from integers alone.
 *
 * How many samples are left out before one that is taken with probability p: k with
 * probability p * q^k, q = 1 - p. In such a number the binary digits are independent of
 * each other: written as the sum of its digits b(j) * 2^j, q^k is the product of
 * q^(b(j) * 2^j). So digit j is set with probability r / (1 + r), r = q^(2^j), and there
 * are as many digits to draw as p has, and a few, and no logarithm.
 *
 * A gap has no memory: when the probability changes a new one is drawn, and the rest
 * of the old one is forgotten, which favours nobody.
 */
#include "subsample.h"

#include <linux/math64.h>

/* A digit needs fixed point with 32 bits of fraction; q gets 64, being squared. */
static u64 fraction(u64 part, u64 whole)
{
	u64 q = 0;
	int i;

	for (i = 0; i < 64; i++) {
		part <<= 1;
		q <<= 1;
		if (part >= whole) {
			part -= whole;
			q |= 1;
		}
	}
	return q;
}

/**
 * gprof_subsampling_init() - how to draw gaps
 * @t: where to
 * @part: less than @whole
 * @whole: below 2^63
 *
 * Context: Task.
 */
void gprof_subsampling_init(struct gprof_subsampling *t, u64 part, u64 whole)
{
	u64 r = fraction(whole - part, whole);
	u32 n;

	t->part = part;
	t->whole = whole;
	for (n = 0; n < GPROF_SUBSAMPLE_BITS; n++) {
		u64 high = r >> 32;

		if (!high)
			break;
		t->bits[n] = ((high << 32) + (1ULL << 31)) / ((1ULL << 32) + high);
		r = mul_u64_u64_shr(r, r, 64);
	}
	t->nr_bits = n;
}

/* An interrupt gets another number: the state is moved on in one step. */
static u64 random(struct gprof_subsample *s)
{
	u64 x = local64_add_return(0x9e3779b97f4a7c15ULL, &s->random);

	x = (x ^ x >> 32) * 0xd6e8feb86659fd93ULL;
	x = (x ^ x >> 32) * 0xd6e8feb86659fd93ULL;
	return x ^ x >> 32;
}

/**
 * gprof_subsample_skip() - draw after how many samples one is taken
 * @s: state
 * @t: with which probability
 *
 * Context: As gprof_subsample_takes().
 * Return: 1 for the very next.
 */
u64 gprof_subsample_skip(struct gprof_subsample *s, const struct gprof_subsampling *t)
{
	u64 skip = 0, x = 0;
	u32 n;

	for (n = 0; n < t->nr_bits; n++) {
		x = n & 1 ? x >> 32 : random(s);
		if ((u32)x < t->bits[n])
			skip |= 1ULL << n;
	}
	return skip + 1;
}

/**
 * gprof_subsample_by_chance() - is a sample taken that came with another period?
 * @s: state, for its random numbers
 * @part: less than @whole
 * @whole: the probability is @part / @whole; below 2^63
 *
 * Slower than gaps, for the few that come while a rate changes.
 *
 * Context: As gprof_subsample_takes().
 */
bool gprof_subsample_by_chance(struct gprof_subsample *s, u64 part, u64 whole)
{
	return random(s) < fraction(part, whole);
}

/**
 * gprof_subsample_draws() - the seldom half of gprof_subsample_takes()
 * @s: state
 * @t: how likely
 * @number: of @t
 * @left: after this sample; below 1
 *
 * Context: As gprof_subsample_takes().
 * Return: whether the sample is taken.
 */
bool gprof_subsample_draws(struct gprof_subsample *s, const struct gprof_subsampling *t, u32 number,
			   s64 left)
{
	if (READ_ONCE(s->drawn_for) != number) {
		local64_set(&s->left, gprof_subsample_skip(s, t));
		barrier();	/* an interrupt from here on goes by it */
		WRITE_ONCE(s->drawn_for, number);
		left = local64_sub_return(1, &s->left);
		if (left > 0)
			return false;
	}
	if (!left) {
		local64_add(gprof_subsample_skip(s, t), &s->left);
		return true;
	}
	/* It interrupts one that has been taken and is about to draw: on its own, then. */
	local64_inc(&s->left);
	return gprof_subsample_by_chance(s, t->part, t->whole);
}

/**
 * gprof_subsample_random() - a number
 * @s: state
 *
 * Context: As gprof_subsample_takes().
 */
u64 gprof_subsample_random(struct gprof_subsample *s)
{
	return random(s);
}
