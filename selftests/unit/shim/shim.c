// SPDX-License-Identifier: GPL-2.0-only
/* shim.c: clocks, and the place where an NMI may come. */
#include "shim.h"

#include <time.h>

__thread void (*shim_nmi)(void);

void shim_point(void)
{
	if (shim_nmi)
		shim_nmi();
}

static u64 now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

u64 ktime_get_mono_fast_ns(void)
{
	return now_ns(CLOCK_MONOTONIC);
}

struct gprof_notices;

void gprof_notice(struct gprof_notices *n, u32 what)
{
}

u64 ktime_get_real_fast_ns(void)
{
	return now_ns(CLOCK_REALTIME);
}
