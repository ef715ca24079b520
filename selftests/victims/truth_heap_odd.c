// SPDX-License-Identifier: GPL-2.0-only
/*
 * truth_heap_odd: what few programs do to their allocator, or to what is loaded into them.
 *
 * Usage: truth_heap_odd [later] MODE; later: when a line comes. Prints what truth_heap does.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "truth_heap.h"

#define BYTES	1000

extern char **environ;

void *volatile kept;		/* nothing is left out by the compiler */
static void *held[100];

SITE void *site_before(void)
{
	return malloc(BYTES);
}

SITE void *site_within(void)
{
	return malloc(BYTES);
}

SITE void *site_after(void)
{
	return malloc(BYTES);
}

static void hold(void *(*site)(void), unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++)
		held[i] = site();
}

/* What a thread allocates until it asks whether it is recorded again. */
SITE void site_asks(void)
{
	for (int i = 0; i < 4096; i++) {
		kept = malloc(BYTES);
		free(kept);
	}
}

static void close_all(void)
{
	for (int fd = 3; fd < 1024; fd++)
		close(fd);
}

static void wait_for(pid_t pid)
{
	int status;

	if (pid <= 0 || waitpid(pid, &status, 0) != pid || status)
		_exit(9);
}

/* ---- calls ---- */

SITE void *site_zero(void)
{
	return malloc(3100);
}

SITE void *site_page(void)
{
	return pvalloc(700);
}

/* realloc() of no bytes frees; pvalloc() gives more than it is asked for. */
static void sizes(void)
{
	volatile size_t none = 0;

	kept = site_zero();
	if (realloc(kept, none))
		_exit(9);
	say("site_zero", 1, 3100, 0, 0);
	kept = site_page();
	say("site_page", 1, 700, 1, 700);
}

/* Another C library in the same program, which has an allocator of its own. */
static void namespace(void)
{
	void *library = dlmopen(LM_ID_NEWLM, "libc.so.6", RTLD_NOW);
	void *(*allocate)(size_t n) = library ? dlsym(library, "malloc") : NULL;
	void (*end)(void *p) = library ? dlsym(library, "free") : NULL;
	void *theirs[50];

	if (!allocate || !end || allocate == malloc)
		_exit(9);
	for (int i = 0; i < 50; i++) {
		theirs[i] = allocate(BYTES);
		memset(theirs[i], 1, BYTES);
		held[i] = site_before();
		if (i % 2)
			end(theirs[i - 1]);
	}
	for (int i = 0; i < 20; i++)
		free(held[i]);
	say("site_before", 50, 50 * BYTES, 30, 30 * BYTES);
}

/* ---- files ---- */

/* What was to be told meanwhile is not, and what comes afterwards is. */
static void no_file(void)
{
	struct rlimit none, had;

	hold(site_before, 20);
	if (getrlimit(RLIMIT_NOFILE, &had))
		_exit(9);
	none = had;
	none.rlim_cur = 3;
	if (setrlimit(RLIMIT_NOFILE, &none))
		_exit(9);
	close_all();
	for (int i = 0; i < 10; i++)
		free(site_within());
	if (setrlimit(RLIMIT_NOFILE, &had))
		_exit(9);
	site_asks();
	hold(site_after, 10);
	say("site_before", 20, 20 * BYTES, 20, 20 * BYTES);
	say("site_within", 0, 0, 0, 0);
	say("site_after", 10, 10 * BYTES, 10, 10 * BYTES);
}

static void no_device(void)
{
	hold(site_before, 20);
	if (chroot("/proc/self/fdinfo"))
		_exit(9);
	hold(site_within, 5);
	close_all();
	for (int i = 0; i < 10; i++)
		free(site_after());
	site_asks();
	say("site_before", 20, 20 * BYTES, 20, 20 * BYTES);
	say("site_within", 5, 5 * BYTES, 5, 5 * BYTES);
	say("site_after", 0, 0, 0, 0);
}

/* ---- threads ---- */

static unsigned long long allocated;

SITE void site_churns(void)
{
	void *p = malloc(BYTES);

	__atomic_fetch_add(&allocated, 1, __ATOMIC_RELAXED);
	p = realloc(p, 2 * BYTES);
	kept = p;
	free(p);
}

static void *churn(void *none)
{
	for (int i = 0; ; i++) {
		if (i < 500)
			site_churns();
		pthread_testcancel();
	}
	return none;
}

/* Each is cancelled wherever it is, which it notices where it may be. */
static void cancels(void)
{
	for (int i = 0; i < 60; i++) {
		pthread_t threads[3];

		for (int k = 0; k < 3; k++)
			if (pthread_create(&threads[k], NULL, churn, NULL))
				_exit(9);
		usleep(500 * (i % 8));
		for (int k = 0; k < 3; k++)
			pthread_cancel(threads[k]);
		for (int k = 0; k < 3; k++)
			pthread_join(threads[k], NULL);
	}
	hold(site_after, 10);
	say("site_churns", 2 * allocated, 3 * BYTES * allocated, 0, 0);
	say("site_after", 10, 10 * BYTES, 10, 10 * BYTES);
}

/* ---- processes ---- */

/* A child that has this memory, until it executes another program. */
static void vforks(void)
{
	for (int i = 0; i < 10; i++) {
		pid_t pid = vfork();

		if (!pid) {
			held[i] = site_within();
			execl("/bin/true", "true", NULL);
			_exit(9);
		}
		wait_for(pid);
	}
	for (int i = 0; i < 4; i++)
		free(held[i]);
	say("site_within", 10, 10 * BYTES, 6, 6 * BYTES);
}

/* One that the C library knows nothing of. */
static void clones(void)
{
	pid_t pid;

	hold(site_before, 20);
	pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	if (!pid) {
		for (int i = 0; i < 20; i++)
			free(held[i]);
		hold(site_within, 5);
		free(held[0]);
		syscall(SYS_exit_group, 0);
	}
	wait_for(pid);
	for (int i = 0; i < 5; i++)
		free(held[i]);
	say("site_before", 20, 20 * BYTES, 15, 15 * BYTES);
	say("site_within", 5, 5 * BYTES, 0, 0);
}

/* It has this memory, too, but a stack of its own, and runs beside its parent. */
static int shares(void *none)
{
	hold(site_within, 50);
	for (int i = 0; i < 20; i++)
		free(held[i]);
	return none != NULL;
}

static void shared(void)
{
	static char stack[65536] __attribute__((aligned(16)));
	pid_t pid = clone(shares, stack + sizeof(stack), CLONE_VM | SIGCHLD, NULL);

	wait_for(pid);
	for (int i = 20; i < 30; i++)
		free(held[i]);
	say("site_within", 50, 50 * BYTES, 20, 20 * BYTES);
}

static void spawned(void)
{
	hold(site_after, 5);
	say("site_after", 5, 5 * BYTES, 0, 0);
}

static void spawns(char *self)
{
	char *args[] = { self, "spawned", NULL };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	pid_t pid;

	hold(site_before, 20);
	if (posix_spawn_file_actions_init(&actions) || posix_spawnattr_init(&attr) ||
	    posix_spawn_file_actions_adddup2(&actions, 1, 2) ||
	    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP) ||
	    posix_spawn(&pid, self, &actions, &attr, args, environ))
		_exit(9);
	wait_for(pid);
	for (int i = 0; i < 5; i++)
		free(held[i]);
	say("site_before", 20, 20 * BYTES, 15, 15 * BYTES);
}

int main(int argc, char **argv)
{
	static const struct { const char *name; void (*run)(void); } modes[] = {
		{ "sizes", sizes }, { "namespace", namespace }, { "no_file", no_file },
		{ "no_device", no_device }, { "cancels", cancels }, { "vforks", vforks },
		{ "clones", clones }, { "shared", shared }, { "spawned", spawned },
	};
	const char *mode = argc > 1 ? argv[1] : "";
	char line[16];

	if (!strcmp(mode, "later")) {
		if (read(0, line, sizeof(line)) <= 0)
			return 2;
		argv[1] = argv[0];
		return main(argc - 1, argv + 1);
	}
	if (!strcmp(mode, "spawns")) {
		spawns(argv[0]);
		stay();
		return 0;
	}
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		if (!strcmp(mode, modes[i].name)) {
			modes[i].run();
			stay();
			return 0;
		}
	return 2;
}
