// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * byte_sample.c: random sampling by bytes: one byte of each stretch of a period, each as likely as
 * the others (kmod/probe/byte_sample.c says why).
 *
 * The period may change where a stretch ends, and not before: the rest of the stretch is part of
 * its draw. It changes behind the allocation that has the end, which is sampled as a whole.
 */
#include "shim.h"
#include "base/system_call.h"

#include <time.h>

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

/* A byte of a stretch; the first is 1. */
static uint64_t byte_of(struct shim_thread *t, uint64_t period)
{
	return (uint64_t)((unsigned __int128)shim_random(t) * period >> 64) + 1;
}

void shim_byte_sample_init(struct shim_thread *t, uint64_t period)
{
	uint64_t at = byte_of(t, period);

	t->rest = period - at;
	t->beyond = 0;
	t->ends = false;
	t->left = (int64_t)at;
	t->period = period;
}

/* A signal handler may draw meanwhile: all that is gone by is our own. */
uint64_t shim_byte_sample(struct shim_thread *t, size_t n, uint64_t wanted)
{
	uint64_t at = (uint64_t)t->left, rest = t->rest, beyond = t->beyond, period = t->period;
	uint64_t sum = 0, next;
	bool ends = t->ends, ended = false;

	if (n >= period)
		return period;
	while (at <= n) {
		if (beyond) {
			ended |= ends;
			at += beyond;
			beyond = 0;
			continue;
		}
		sum += period;
		/* Before the next one is drawn, which is to have no part in it. */
		ends = wanted != period;
		next = byte_of(t, period);
		if (rest && (rest + next > period || ends)) {
			at += rest;
			beyond = next;
		} else {
			ended |= ends;
			at += rest + next;
		}
		rest = period - next;
	}
	t->left = (int64_t)(at - n);
	t->rest = rest;
	t->beyond = beyond;
	t->ends = ends;
	if (ended && wanted != period)
		shim_byte_sample_init(t, wanted);
	return sum;
}
