// SPDX-License-Identifier: GPL-2.0-only
/*
 * thin_bytes: which allocations are sampled, and for how many each stands.
 *
 * The number of bytes until the next one that is sampled is geometric (thin.c), so it has no
 * memory: whatever is left of it, behind an allocation another one may be drawn. An
 * allocation of n bytes is sampled with probability 1 - q^n, q = 1 - 1/period, and stands for
 * the inverse of that. q^n is the product of q^(2^j) over the digits j of n. The
 * inverse is rounded up with the probability that its fraction is, else down: right on an
 * average, for sums of whole numbers.
 */
#include "thin_bytes.h"

#include <linux/math64.h>

/**
 * gprof_thin_bytes_init() - how to draw
 * @t: where to
 * @period: of so many bytes one is sampled; at least 1, below 2^62
 *
 * Context: Task.
 */
void gprof_thin_bytes_init(struct gprof_thin_bytes *t, u64 period)
{
	u64 none = gprof_thin_fraction(period - 1, period);
	unsigned int n;

	t->period = period;
	if (period == 1)
		return;
	gprof_thinning_init(&t->gaps, 1, period);
	for (n = 0; n < GPROF_THIN_BYTES_BITS; n++) {
		t->none[n] = none;
		none = mul_u64_u64_shr(none, none, 64);
	}
}

/**
 * gprof_thin_bytes_begin() - draw for the first time
 * @s: state, with its random numbers
 * @t: how likely
 *
 * Context: Nobody asks meanwhile.
 */
void gprof_thin_bytes_begin(struct gprof_thin *s, const struct gprof_thin_bytes *t)
{
	local64_set(&s->left, t->period == 1 ? 1 : gprof_thin_gap(s, &t->gaps));
}

/* How likely one of the bytes is sampled; 64 bits of fraction, 0: it is certain. */
static u64 likelihood(const struct gprof_thin_bytes *t, u64 bytes)
{
	u64 none = ~0ULL;
	unsigned int n;

	for (n = 0; bytes && n < GPROF_THIN_BYTES_BITS; n++, bytes >>= 1) {
		if (bytes & 1)
			none = mul_u64_u64_shr(none, t->none[n], 64);
	}
	return -none;
}

static u64 inverse(struct gprof_thin *s, u64 p)
{
	u64 n, rest;

	if (!p)
		return 1;
	n = div64_u64(~0ULL, p);
	rest = ~0ULL - n * p + 1;
	if (rest == p)
		return n + 1;
	return n + (mul_u64_u64_shr(gprof_thin_random(s), p, 64) < rest);
}

/**
 * gprof_thin_bytes_draw() - the seldom half of gprof_thin_bytes_take()
 * @s: state
 * @t: how likely
 * @bytes: of the allocation
 * @left: bytes behind it until the next one that is sampled; below 1
 *
 * Context: As gprof_thin_bytes_take().
 * Return: likewise.
 */
u64 gprof_thin_bytes_draw(struct gprof_thin *s, const struct gprof_thin_bytes *t, u64 bytes,
			  s64 left)
{
	u64 p;

	if (t->period == 1) {
		local64_set(&s->left, 1);
		return 1;
	}
	p = likelihood(t, bytes);
	if (left + (s64)bytes > 0) {
		local64_add(gprof_thin_gap(s, &t->gaps) - left, &s->left);
		return inverse(s, p);
	}
	/* It interrupts one that is sampled and is about to draw: on its own, then. */
	local64_add(bytes, &s->left);
	if (p && gprof_thin_random(s) >= p)
		return 0;
	return inverse(s, p);
}

/**
 * gprof_thin_bytes_again() - somebody else has sampled it; is it a sample here?
 * @s: state, with its random numbers
 * @t: how likely that is
 * @had: how likely it was
 * @bytes: of the allocation; at least 1
 *
 * Who wants more than there is takes all that there is.
 *
 * Context: As gprof_thin_bytes_take().
 * Return: likewise.
 */
u64 gprof_thin_bytes_again(struct gprof_thin *s, const struct gprof_thin_bytes *t,
			   const struct gprof_thin_bytes *had, u64 bytes)
{
	u64 q = had->period == 1 ? 0 : likelihood(had, bytes), p;

	if (t->period <= had->period)
		return inverse(s, q);
	p = likelihood(t, bytes);
	/* p / q; both can be as good as certain. */
	if (p) {
		u64 r = gprof_thin_random(s);

		if ((q ? mul_u64_u64_shr(r, q, 64) : r) >= p)
			return 0;
	}
	return inverse(s, p);
}
