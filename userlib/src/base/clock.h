/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * clock.h: what time it is, in nanoseconds.
 */
#ifndef GPROF_CLOCK_H
#define GPROF_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_now_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Of CLOCK_MONOTONIC, as the times of records are. */
static inline uint64_t now_ns(void)
{
	return clock_now_ns(CLOCK_MONOTONIC);
}

#endif /* GPROF_CLOCK_H */
