/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * truth.h: functions whose share of a program's time is known beforehand.
 *
 * A worker runs a loop of a few integer instructions, each dependent on the last, without memory,
 * calls or the kernel, a number of times that its caller says. So its time is proportional to its
 * trips, on every CPU and at every frequency.
 */
#ifndef GPROF_TEST_TRUTH_H
#define GPROF_TEST_TRUTH_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "../helpers/clock.h"

/*
 * @_id keeps compilers from folding equal functions into one; the asm in the
 * loop keeps them from computing its result without running it.
 */
#define WORKER(_name, _id)						\
__attribute__((noinline)) uint64_t _name(uint64_t trips, uint64_t x);	\
__attribute__((noinline)) uint64_t _name(uint64_t trips, uint64_t x)	\
{									\
	uint64_t i;							\
									\
	__asm__ volatile("" : : "i"(_id));				\
	for (i = 0; i < trips; i++) {					\
		x = x * 6364136223846793005ULL + 1442695040888963407ULL; \
		x ^= x >> 29;						\
		__asm__ volatile("" : "+r"(x));				\
	}								\
	return x;							\
}

/* CPU time of the calling thread, ns: what the machine really gave a function. */
static inline uint64_t truth_clock(void)
{
	return clock_now_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* Number in argument @n, or @preset where there is none; leaves on nonsense. */
static inline uint64_t truth_argument(int argc, char **argv, int n, uint64_t preset)
{
	unsigned long long value;
	char *end;

	if (argc <= n)
		return preset;
	value = strtoull(argv[n], &end, 10);
	if (end == argv[n] || *end || !value) {
		fprintf(stderr, "%s: %s is not a positive number\n", argv[0], argv[n]);
		exit(2);
	}
	return value;
}

#endif
