// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * thread.c: starts the library's own threads.
 */
#include "thread.h"

#include <signal.h>

int gprof_thread_start(pthread_t *thread, void *(*run)(void *arg), void *arg, const char *name)
{
	sigset_t all, old;
	int err;

	/* It inherits the mask. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(thread, NULL, run, arg);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (!err)
		pthread_setname_np(*thread, name);
	return err;
}
