// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * draw.c: how many bytes are left out until one is sampled, each with the same
 * probability: a geometric number.
 */
#include "shim.h"
#include "base/system_call.h"

#include <time.h>

#define GAP_MAX	(1LL << 60)

/* Of what is above 0 and at most 1; there may be no C library for numbers. */
static double logarithm(double x)
{
	union { double d; uint64_t bits; } u = { x };
	int exponent = (int)(u.bits >> 52) - 1023, i;
	double s, square, sum = 0;

	u.bits = (u.bits & 0xfffffffffffffULL) | 1023ULL << 52;
	if (u.d > 1.4142135623730951) {
		u.d /= 2;
		exponent++;
	}
	/* ln m = 2 (s + s^3/3 + s^5/5 + ...), s below 0.172 */
	s = (u.d - 1) / (u.d + 1);
	square = s * s;
	for (i = 17; i > 0; i -= 2)
		sum = sum * square + 1.0 / i;
	return 2 * s * sum + exponent * 0.69314718055994530942;
}

/* ln(1 - 1/period) */
static double logarithm_of_none(uint64_t period)
{
	double part = 1.0 / (double)period;

	return period > 4096 ? -part * (1 + part * (0.5 + part / 3)) : logarithm(1 - part);
}

static uint64_t seed(void)
{
	struct timespec now = { 0 };
	uint64_t random = 0;

	if (gprof_syscall(SYS_getrandom, (long)&random, sizeof(random), 1, 0, 0, 0) ==
	    (long)sizeof(random) && random)
		return random;
	/* Before the kernel has any. */
	gprof_syscall(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&now, 0, 0, 0, 0);
	return ((uint64_t)now.tv_nsec ^ (uint64_t)(uintptr_t)&now) * 0xd6e8feb86659fd93ULL | 1;
}

uint64_t shim_random(struct shim_thread *t)
{
	uint64_t x;

	if (!t->random)
		t->random = seed();
	x = t->random += 0x9e3779b97f4a7c15ULL;
	x = (x ^ x >> 32) * 0xd6e8feb86659fd93ULL;
	x = (x ^ x >> 32) * 0xd6e8feb86659fd93ULL;
	return x ^ x >> 32;
}

int64_t shim_gap(struct shim_thread *t, uint64_t period)
{
	double gap;

	if (period == 1)
		return 1;
	gap = logarithm((double)((shim_random(t) >> 11) + 1) * 0x1p-53) /
	      logarithm_of_none(period);
	return gap < (double)GAP_MAX ? 1 + (int64_t)gap : GAP_MAX;
}
