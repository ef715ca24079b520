// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * thread.c: starts the library's own threads.
 */
#include "thread.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "shim_hooks.h"

struct begun {
	void *(*run)(void *arg);
	void *arg;
};

static void *begin(void *ctx)
{
	struct begun b = *(struct begun *)ctx;

	free(ctx);
	gprof_heap_pause();
	return b.run(b.arg);
}

static int start(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *arg), void *arg,
		 const char *name)
{
	struct begun *b = malloc(sizeof(*b));
	sigset_t all, old;
	int err;

	if (!b)
		return ENOMEM;
	*b = (struct begun){ run, arg };
	/* It inherits the mask. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(thread, attr, begin, b);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (err)
		free(b);
	else
		pthread_setname_np(*thread, name);
	return err;
}

int gprof_thread_start(pthread_t *thread, void *(*run)(void *arg), void *arg, const char *name)
{
	return start(thread, NULL, run, arg, name);
}

int gprof_thread_start_deep(pthread_t *thread, void *(*run)(void *arg), void *arg,
			    const char *name, size_t stack)
{
	pthread_attr_t attr;
	int err = pthread_attr_init(&attr);

	if (err)
		return err;
	err = pthread_attr_setstacksize(&attr, stack);
	if (!err)
		err = start(thread, &attr, run, arg, name);
	pthread_attr_destroy(&attr);
	return err;
}
