/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * thread: one that hears no signal. A signal goes to any thread of a process that does not
 * block it: to one of these it would be the process's end, or be lost where it is ignored,
 * though watch.h waits for it.
 */
#ifndef GPROF_TOOLS_THREAD_H
#define GPROF_TOOLS_THREAD_H

#include <pthread.h>

/* thread_start() - pthread_create() of one; 0 or an errno */
int thread_start(pthread_t *thread, void *(*run)(void *arg), void *arg);

#endif /* GPROF_TOOLS_THREAD_H */
