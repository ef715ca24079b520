// SPDX-License-Identifier: GPL-2.0-only
/*
 * A thread beside the one that hears signals.
 */
#include "helper_thread.h"

#include "base/thread.h"

static void destroy(struct helper_thread *w)
{
	pthread_cond_destroy(&w->wake);
	pthread_mutex_destroy(&w->lock);
}

int helper_thread_start(struct helper_thread *w, void *(*run)(void *arg), void *arg)
{
	pthread_condattr_t attr;
	int err;

	pthread_mutex_init(&w->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&w->wake, &attr);
	pthread_condattr_destroy(&attr);
	err = gprof_thread_start(&w->thread, run, arg, "worker");
	if (err)
		destroy(w);
	return err;
}

void helper_thread_join(struct helper_thread *w)
{
	pthread_join(w->thread, NULL);
	destroy(w);
}
