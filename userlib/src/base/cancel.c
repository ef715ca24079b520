// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * cancel.c: cancellation of the calling thread's work.
 */
#include "cancel.h"

#include <stddef.h>
#include <time.h>

#define TICK_NS		100000000ULL

static __thread struct gprof_cancel *patience;

void gprof_cancel_begin(struct gprof_cancel *p)
{
	patience = p->poll ? p : NULL;
}

void gprof_cancel_end(void)
{
	patience = NULL;
}

bool gprof_is_cancelled(void)
{
	struct gprof_cancel *p = patience;
	struct timespec ts;
	uint64_t now;

	if (!p || p->is_cancelled)
		return p;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	now = (uint64_t)ts.tv_sec * 1000000000ULL + (uint64_t)ts.tv_nsec;
	if (now < p->next_ns)
		return false;
	p->next_ns = now + TICK_NS;
	p->is_cancelled = p->poll(p->ctx);
	return p->is_cancelled;
}
