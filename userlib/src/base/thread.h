/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * thread: the library's own threads. They block signals, which are the program's; and their
 * allocations are not sampled as the program's. The command is built with this file pair too: it
 * waits for signals in one thread, and another thread would die of one, or lose it.
 */
#ifndef GPROF_THREAD_H
#define GPROF_THREAD_H

#include <pthread.h>
#include <stddef.h>

/*
 * pthread_create() of a thread that blocks all signals; @name: at most 15 bytes. Returns 0 or an
 * errno.
 */
int gprof_thread_start(pthread_t *thread, void *(*run)(void *arg), void *arg, const char *name);

/** gprof_thread_start_deep() - likewise, with a stack of @stack bytes */
int gprof_thread_start_deep(pthread_t *thread, void *(*run)(void *arg), void *arg,
			    const char *name, size_t stack);

#endif /* GPROF_THREAD_H */
