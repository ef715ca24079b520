// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * libgprof-self.so: has any program record itself, from before its main() until it exits:
 *
 *	LD_PRELOAD=libgprof-self.so GPROF=cpu,event=cycles,period=100000,out=cpu.pb.gz ./program
 *
 * Its children are recorded with it, and find no GPROF in their environment: two processes would
 * write one file. A program that cannot be recorded runs all the same, with an error on stderr. A
 * set-user-ID program takes nothing from the environment.
 *
 * A program may end by _exit(), which runs no destructor: the library interposes it. It may be
 * called in a signal handler, in the middle of malloc(), so another thread writes the files, and
 * the caller waits for it no longer than PATIENCE_S.
 */
#include <errno.h>
#include <gprof/flags.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_S	20

static struct gprof_flags *flags;
static pid_t owner;		/* a child of vfork() has its parent's memory */
static bool writes;		/* there is a thread that does */
static sem_t asked, written;
static atomic_flag begun = ATOMIC_FLAG_INIT;	/* a thread writes, or has written */

/* Not by unsetenv(), of which some shells have one of their own, which does not work yet. */
static void forget(void)
{
	char **from, **to;

	for (from = to = environ; *from; from++)
		if (strncmp(*from, "GPROF=", 6))
			*to++ = *from;
	*to = NULL;
}

/* One thread may call exit() while another calls _exit(). A child waits for no parent. */
static void write_files(void)
{
	if (atomic_flag_test_and_set(&begun)) {
		while (getpid() == owner && sem_wait(&written))
			;
	} else {
		if (gprof_flags_stop(flags))
			fprintf(stderr, "gprof: %s\n", gprof_error());
		gprof_flags_free(flags);
	}
	sem_post(&written);
}

static void *write_when_asked(void *arg)
{
	while (sem_wait(&asked))
		;
	write_files();
	return arg;
}

/* It takes no signal: signals are the program's. */
static bool begin_writer(void)
{
	sigset_t all, old;
	pthread_t thread;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&thread, NULL, write_when_asked, NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (err)
		return false;
	pthread_setname_np(thread, "gprof-end");
	pthread_detach(thread);
	return true;
}

__attribute__((destructor)) static void end(void)
{
	writes = false;
	if (flags)
		write_files();
}

__attribute__((constructor)) static void begin(void)
{
	const char *text = secure_getenv("GPROF");

	if (!text)
		return;
	flags = gprof_flags_parse_text(text);
	forget();
	sem_init(&asked, 0, 0);
	sem_init(&written, 0, 0);
	if (flags && !gprof_flags_start(flags)) {
		owner = getpid();
		writes = begin_writer();
		/* quick_exit() ends by a call that is not interposed. */
		at_quick_exit(end);
		return;
	}
	fprintf(stderr, "gprof: not recording: %s\n", gprof_error());
	gprof_flags_free(flags);
	flags = NULL;
}

static void have_written(void)
{
	static const char late[] = "gprof: no profile was written: the program has ended by _exit() in "
				   "the middle of what that takes\n";
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += PATIENCE_S;
	sem_post(&asked);
	while (sem_timedwait(&written, &until)) {
		if (errno == EINTR)
			continue;
		if (write(STDERR_FILENO, late, sizeof(late) - 1) < 0)
			break;
		return;
	}
	/* Another thread may end as well. */
	sem_post(&written);
}

__attribute__((visibility("default"))) void _exit(int status)
{
	if (writes && getpid() == owner)
		have_written();
	for (;;)
		syscall(SYS_exit_group, status);
}

__attribute__((visibility("default"))) void _Exit(int status)
{
	_exit(status);
}
