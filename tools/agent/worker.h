/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * worker: a thread beside the one that hears signals, a lock for what they share, and how it is
 * woken.
 */
#ifndef GPROF_TOOLS_FLEET_WORKER_H
#define GPROF_TOOLS_FLEET_WORKER_H

#include <pthread.h>

/**
 * struct worker - the thread
 * @thread: it
 * @lock: of what is shared
 * @wake: with @lock; its times are CLOCK_MONOTONIC's
 */
struct worker {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
};

/* worker_start() - start it, with no signal for it; returns 0, or an errno and all is as before */
int worker_start(struct worker *w, void *(*run)(void *arg), void *arg);

/* worker_end() - wait for its end, which it has been told of */
void worker_end(struct worker *w);

#endif /* GPROF_TOOLS_FLEET_WORKER_H */
