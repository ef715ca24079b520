// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * patience.c: is what the calling thread makes still wanted?
 */
#include "patience.h"

#include <stddef.h>
#include <time.h>

#define TICK_NS		100000000ULL

static __thread struct gprof_patience *patience;

void gprof_patience_begin(struct gprof_patience *p)
{
	patience = p->over ? p : NULL;
}

void gprof_patience_end(void)
{
	patience = NULL;
}

bool gprof_patience_over(void)
{
	struct gprof_patience *p = patience;
	struct timespec ts;
	uint64_t now;

	if (!p || p->is_over)
		return p;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	now = (uint64_t)ts.tv_sec * 1000000000ULL + (uint64_t)ts.tv_nsec;
	if (now < p->next_ns)
		return false;
	p->next_ns = now + TICK_NS;
	p->is_over = p->over(p->ctx);
	return p->is_over;
}
