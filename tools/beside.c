// SPDX-License-Identifier: GPL-2.0-only
/*
 * What can be done beside something else: see beside.h.
 */
#include "beside.h"

#include <base/thread.h>
#include <sched.h>

static void *run(void *ctx)
{
	struct beside *b = ctx;

	b->fn(b->ctx);
	return NULL;
}

/* Of those that we may run on; where nobody can tell, there is one. */
static bool second_cpu(void)
{
	cpu_set_t set;

	return !sched_getaffinity(0, sizeof(set), &set) && CPU_COUNT(&set) > 1;
}

void beside_begin(struct beside *b, void (*fn)(void *ctx), void *ctx)
{
	*b = (struct beside){ .fn = fn, .ctx = ctx };
	b->begun = second_cpu() && !gprof_thread_start(&b->thread, run, b, "beside");
	if (!b->begun)
		fn(ctx);
}

void beside_end(struct beside *b)
{
	if (b->begun)
		pthread_join(b->thread, NULL);
	b->begun = false;
}
