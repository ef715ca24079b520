// SPDX-License-Identifier: GPL-2.0-only
/*
 * truth_heap: allocates so much here and so much there, and says how much.
 *
 * Usage: truth_heap MODE [N]. Prints for each place "NAME OBJECTS BYTES OBJECTS_LEFT BYTES_LEFT":
 * what was allocated, and what of it never freed.
 */
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define SITE	__attribute__((noinline, noclone))

void *volatile kept;		/* nothing is left out by the compiler */
static void *held[1 << 20];

static void say(const char *name, unsigned long long nr, unsigned long long bytes,
		unsigned long long nr_left, unsigned long long left)
{
	char text[128];
	int n = snprintf(text, sizeof(text), "%s %llu %llu %llu %llu\n", name, nr, bytes, nr_left,
			 left);

	/* stdout has a buffer, which is memory too. */
	if (write(1, text, (size_t)n) != n)
		_exit(9);
}

/* Mappings of a program that is gone at once are not known, and its functions have no names. */
static void stay(void)
{
	usleep(500000);
}

SITE void site_keeps(unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++)
		held[i] = malloc(1000);
}

SITE void site_churns(unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++) {
		kept = malloc(64 + i % 200);
		free(kept);
	}
}

SITE void site_grows(void)
{
	void *p = NULL;

	for (size_t n = 100; n <= 100000; n += 1000) {
		p = realloc(p, n);
		if (!p || ((char *)p)[0] != 0x5a)
			memset(p, 0x5a, 1);
	}
	kept = p;
}

SITE void *site_gives(void)
{
	return malloc(5000);
}

static void *free_it(void *p)
{
	free(p);
	return NULL;
}

SITE void site_calloc(void)
{
	kept = calloc(10, 77);
}

SITE void site_aligns(void)
{
	void *p;

	kept = memalign(64, 300);
	free(kept);
	kept = aligned_alloc(256, 512);
	free(kept);
	kept = valloc(700);
	free(kept);
	kept = reallocarray(NULL, 3, 100);
	free(kept);
	if (posix_memalign(&p, 128, 900))
		_exit(9);
	kept = p;
}

SITE char *site_maps(size_t n)
{
	return mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void exact(void)
{
	pthread_t t;
	unsigned long long grown = 0;
	char *p;

	site_keeps(100);
	for (int i = 0; i < 30; i++)
		free(held[i]);
	say("site_keeps", 100, 100000, 70, 70000);
	site_churns(1000);
	say("site_churns", 1000, 1000 * 64 + 5 * 199 * 100, 0, 0);
	site_grows();
	for (size_t n = 100; n <= 100000; n += 1000)
		grown += n;
	say("site_grows", 100, grown, 1, 99100);
	for (int i = 0; i < 10; i++) {
		if (pthread_create(&t, NULL, free_it, site_gives()))
			_exit(9);
		pthread_join(t, NULL);
	}
	kept = site_gives();
	say("site_gives", 11, 55000, 1, 5000);
	site_calloc();
	say("site_calloc", 1, 770, 1, 770);
	site_aligns();
	say("site_aligns", 5, 300 + 512 + 700 + 300 + 900, 1, 900);
	p = site_maps(16 * 4096);
	munmap(p, 4 * 4096);
	munmap(p + 8 * 4096, 4096);
	munmap(site_maps(4096), 4096);
	say("site_maps", 2, 17 * 4096, 1, 11 * 4096);
}

/* A child frees what is its parent's too, and has more of its own. */
static void forks(void)
{
	int status;
	pid_t pid;

	site_keeps(100);
	pid = fork();
	if (!pid) {
		for (int i = 0; i < 100; i++)
			free(held[i]);
		site_gives();
		_exit(0);
	}
	if (waitpid(pid, &status, 0) != pid || status)
		_exit(9);
	for (int i = 0; i < 40; i++)
		free(held[i]);
	say("site_keeps", 100, 100000, 60, 60000);
	say("site_gives", 1, 5000, 1, 5000);
}

/* Another program follows in the same process, and one that shares the memory. */
static void executes(char *self)
{
	char *args[] = { self, "exact", NULL };
	pid_t pid;

	pid = vfork();
	if (!pid) {
		kept = site_gives();
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	site_keeps(100);
	stay();
	execv(self, args);
	_exit(9);
}

static void on_signal(int nr)
{
	(void)nr;
	/* A handler that interrupts no allocator may allocate. */
	free(site_gives());
}

static void signals(void)
{
	signal(SIGUSR1, on_signal);
	for (int i = 0; i < 100; i++)
		raise(SIGUSR1);
	say("site_gives", 100, 500000, 0, 0);
}

/* Whoever closes all files closes ours. */
static void closes(void)
{
	site_keeps(50);
	for (int fd = 3; fd < 1024; fd++)
		close(fd);
	for (int i = 0; i < 20; i++)
		free(held[i]);
	site_gives();
	say("site_keeps", 50, 50000, 30, 30000);
	say("site_gives", 1, 5000, 1, 5000);
}

/* So many, of which every second is freed. */
static void many(unsigned long nr)
{
	for (unsigned long i = 0; i < nr; i++)
		held[i] = malloc(16);
	say("many", nr, nr * 16, nr, nr * 16);
}

SITE void site_large(unsigned long long bytes)
{
	for (unsigned long long i = 0; i * 3000 < bytes; i++) {
		kept = malloc(3000);
		free(kept);
	}
}

SITE void site_small(unsigned long long bytes)
{
	for (unsigned long long i = 0; i * 40 < bytes; i++) {
		kept = malloc(40);
		free(kept);
	}
}

static void large(unsigned long long mib)
{
	site_large((mib - mib / 8) << 20);
	site_small(mib / 8 << 20);
	say("large", 0, mib << 20, 0, 0);
}

static void no_preload(char *self)
{
	char *args[] = { self, "exact", NULL };
	int status;
	pid_t pid;

	site_keeps(100);
	say("site_keeps", 100, 100000, 100, 100000);
	unsetenv("LD_PRELOAD");
	pid = fork();
	if (!pid) {
		close(1);
		execv(self, args);
		_exit(9);
	}
	waitpid(pid, &status, 0);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	unsigned long n = argc > 2 ? strtoul(argv[2], NULL, 0) : 0;

	if (!strcmp(mode, "exact"))
		exact();
	else if (!strcmp(mode, "forks"))
		forks();
	else if (!strcmp(mode, "executes"))
		executes(argv[0]);
	else if (!strcmp(mode, "signals"))
		signals();
	else if (!strcmp(mode, "closes"))
		closes();
	else if (!strcmp(mode, "many") && n <= 1 << 20)
		many(n);
	else if (!strcmp(mode, "large"))
		large(n);
	else if (!strcmp(mode, "no_preload"))
		no_preload(argv[0]);
	else if (!strcmp(mode, "twice")) {
		site_keeps(1);
		free(held[0]);
		stay();
		free(held[0]);
	} else
		return 2;
	stay();
	return 0;
}
