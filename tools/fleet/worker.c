// SPDX-License-Identifier: GPL-2.0-only
/*
 * A thread beside the one that hears signals.
 */
#include "worker.h"

#include <signal.h>

static void destroy(struct worker *w)
{
	pthread_cond_destroy(&w->wake);
	pthread_mutex_destroy(&w->lock);
}

int worker_start(struct worker *w, void *(*run)(void *arg), void *arg)
{
	pthread_condattr_t attr;
	sigset_t all, old;
	int err;

	pthread_mutex_init(&w->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&w->wake, &attr);
	pthread_condattr_destroy(&attr);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&w->thread, NULL, run, arg);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (err)
		destroy(w);
	return err;
}

void worker_end(struct worker *w)
{
	pthread_join(w->thread, NULL);
	destroy(w);
}
