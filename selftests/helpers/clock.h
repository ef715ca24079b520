/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * clock.h: what time it is, in nanoseconds.
 */
#ifndef CLOCK_H
#define CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_now_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

static inline uint64_t now_ns(void)
{
	return clock_now_ns(CLOCK_MONOTONIC);
}

#endif /* CLOCK_H */
