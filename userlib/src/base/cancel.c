// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * cancel.c: cancellation of the calling thread's work.
 */
#include "cancel.h"

#include <stddef.h>

#include "base/clock.h"

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
	uint64_t now;

	if (!p || p->is_cancelled)
		return p;
	now = now_ns();
	if (now < p->next_ns)
		return false;
	p->next_ns = now + TICK_NS;
	p->is_cancelled = p->poll(p->ctx);
	return p->is_cancelled;
}
