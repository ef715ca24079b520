// SPDX-License-Identifier: GPL-2.0-only
/* shim.c: clocks, and the place where an NMI may come. */
#include "shim.h"
#include "../../../kmod/user/event_queue.h"

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

unsigned int shim_readable;

void gprof_event_raise(struct gprof_event_queue *q, enum gprof_event_type type)
{
	if (type == GPROF_EVENT_READABLE)
		__atomic_fetch_add(&shim_readable, 1, __ATOMIC_RELAXED);
}

u64 ktime_get_real_fast_ns(void)
{
	return now_ns(CLOCK_REALTIME);
}
