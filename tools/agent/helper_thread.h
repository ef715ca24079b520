/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * helper_thread: a thread beside the one that takes signals, a lock for shared state, and a
 * condition to wake it.
 */
#ifndef GPROF_TOOLS_AGENT_HELPER_THREAD_H
#define GPROF_TOOLS_AGENT_HELPER_THREAD_H

#include <pthread.h>

/**
 * struct helper_thread - the thread
 * @thread: it
 * @lock: of shared state
 * @wake: with @lock; its times are CLOCK_MONOTONIC's
 */
struct helper_thread {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
};

/* helper_thread_start() - start it, with no signal for it; returns 0, or an errno and all is as before */
int helper_thread_start(struct helper_thread *w, void *(*run)(void *arg), void *arg);

/* helper_thread_join() - wait for its end, after a request to end */
void helper_thread_join(struct helper_thread *w);

#endif /* GPROF_TOOLS_AGENT_HELPER_THREAD_H */
