// SPDX-License-Identifier: GPL-2.0-only
/*
 * truth_heap: allocates so much here and so much there, and says how much.
 *
 * Usage: truth_heap [later] MODE [N]; later: when a line comes. Prints for each place "NAME OBJECTS BYTES OBJECTS_LEFT BYTES_LEFT":
 * what was allocated, and what of it never freed.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "truth_heap.h"

#ifdef NO_LIBRARIES
#define dlopen(name, flags)	NULL
#define dlsym(library, name)	NULL
#define dlclose(library)	((void)(library))
#endif

#define PAGE	4096UL

void *volatile kept;		/* nothing is left out by the compiler */
static void *held[1 << 20];

SITE void site_keeps(unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++)
		held[i] = malloc(1000);
}

SITE void site_keeps_more(unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++)
		held[1000 + i] = malloc(2000);
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

/* What cannot be had leaves what there is as it was. */
SITE void site_fails(void)
{
	kept = malloc(3000);
	if (realloc(kept, PTRDIFF_MAX / 2) || errno != ENOMEM)
		_exit(9);
}

SITE char *site_maps(size_t n)
{
	return mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

SITE void site_map_grows(void)
{
	if (mremap(site_maps(4 * PAGE), 4 * PAGE, 8 * PAGE, MREMAP_MAYMOVE) == MAP_FAILED)
		_exit(9);
}

#define MAP_SITE(_name, _pages)						\
SITE char *_name(void)							\
{									\
	return mmap(NULL, (_pages) * PAGE, PROT_READ | PROT_WRITE,	\
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);		\
}

MAP_SITE(site_map_shrinks, 8)
MAP_SITE(site_map_moves, 8)
MAP_SITE(site_map_fails, 4)
MAP_SITE(site_map_ends, 8)

/* None of which is memory that it allocates. */
SITE void site_map_others(void)
{
	int fd = open("/proc/self/exe", O_RDONLY);

	if (mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ||
	    mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0) == MAP_FAILED)
		_exit(9);
	close(fd);
}

static void remaps(char *self, unsigned long n, unsigned long m)
{
	char *p, *q;

	site_map_grows();
	say("site_map_grows", 1, 8 * PAGE, 1, 8 * PAGE);
	p = site_map_shrinks();
	/* of the fifth page a part, so all of it */
	if (mremap(p, 8 * PAGE, 5 * PAGE - 100, 0) != p)
		_exit(9);
	say("site_map_shrinks", 1, 8 * PAGE, 1, 5 * PAGE);
	p = site_map_moves();
	q = site_map_moves();
	if (p > q) {
		kept = p;
		p = q;
		q = kept;
	}
	/* over another one, first upwards, then down to where it was */
	if (mremap(p, 8 * PAGE, 8 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, q) != q ||
	    mremap(q, 8 * PAGE, 7 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, p) != p ||
	    munmap(p, 2 * PAGE) || munmap(q, 8 * PAGE))
		_exit(9);
	say("site_map_moves", 2, 16 * PAGE, 1, 5 * PAGE);
	p = site_map_ends();
	/* of the third page a part, so all of it; and one that another comes over */
	if (munmap(p, 3 * PAGE - 100) ||
	    mmap(p + 4 * PAGE, PAGE, PROT_NONE, MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED)
		_exit(9);
	say("site_map_ends", 1, 8 * PAGE, 1, 4 * PAGE);
	site_map_others();
	say("site_map_others", 0, 0, 0, 0);
	p = site_map_fails();
	if (!munmap(p, SIZE_MAX / 2) || mremap(p, 4 * PAGE, SIZE_MAX / 2, MREMAP_MAYMOVE) != MAP_FAILED ||
	    (errno != ENOMEM && errno != EINVAL) || mmap(p, SIZE_MAX / 2, PROT_READ, MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS,
				    -1, 0) != MAP_FAILED)
		_exit(9);
	say("site_map_fails", 1, 4 * PAGE, 1, 4 * PAGE);
}

/* Pieces of one mapping, and of many: every second page is given back. */
static void pieces(char *self, unsigned long nr, unsigned long m)
{
	char *p = site_maps(nr * 2 * PAGE);

	if (p == MAP_FAILED)
		_exit(9);
	for (unsigned long i = 0; i < nr; i++)
		if (munmap(p + i * 2 * PAGE, PAGE))
			_exit(9);
	say("site_maps", 1, nr * 2 * PAGE, 1, nr * PAGE);
}

/* A program expects the least number that is free, and its child none that it did not leave open. */
static void see_whether_files_are_hidden(void)
{
	char path[64], to[64];

	for (int fd = 0; fd < 1024; fd++) {
		ssize_t n;

		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		n = readlink(path, to, sizeof(to));
		if (n == sizeof("/dev/gprof") - 1 && !memcmp(to, "/dev/gprof", (size_t)n) &&
		    (fd < 700 || !(fcntl(fd, F_GETFD) & FD_CLOEXEC)))
			_exit(8);
	}
}

static void exact(char *self, unsigned long n, unsigned long m)
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
	site_fails();
	say("site_fails", 1, 3000, 1, 3000);
	p = site_maps(16 * PAGE);
	munmap(p, 4 * PAGE);
	munmap(p + 8 * PAGE, PAGE);
	munmap(site_maps(PAGE), PAGE);
	say("site_maps", 2, 17 * PAGE, 1, 11 * PAGE);
	see_whether_files_are_hidden();
}

/* A child frees what is its parent's too, and has more of its own. */
static void forks(char *self, unsigned long n, unsigned long m)
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
	/* it had that when it ended */
	say("site_gives", 1, 5000, 0, 0);
}

/* Another program follows in the same process, and one that shares the memory. */
static void executes(char *self, unsigned long n, unsigned long m)
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

static void signals(char *self, unsigned long n, unsigned long m)
{
	signal(SIGUSR1, on_signal);
	for (int i = 0; i < 100; i++)
		raise(SIGUSR1);
	say("site_gives", 100, 500000, 0, 0);
}

/* Whoever closes all files closes ours. */
static void closes(char *self, unsigned long n, unsigned long m)
{
	site_keeps(50);
	for (int fd = 3; fd < 1024; fd++)
		close(fd);
	for (int i = 0; i < 20; i++)
		free(held[i]);
	site_gives();
	say("site_keeps", 50, 50000, 30, 30000);
	say("site_gives", 1, 5000, 1, 5000);
	/* And has others where ours was. */
	for (int fd = 3; fd < 1000; fd++)
		dup2(1, fd);
	site_calloc();
	say("site_calloc", 1, 770, 1, 770);
}

/* So many, of which one in so many is freed, if any is. */
static void many(char *self, unsigned long nr, unsigned long one_in)
{
	unsigned long freed = 0;

	if (nr > sizeof(held) / sizeof(held[0]))
		_exit(9);
	for (unsigned long i = 0; i < nr; i++)
		held[i] = malloc(16);
	for (unsigned long i = 0; one_in && i < nr; i += one_in, freed++)
		free(held[i]);
	say("many", nr, nr * 16, nr - freed, (nr - freed) * 16);
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

/* What a thread allocates until it asks whether somebody has come is not told. */
static void idles(char *self, unsigned long n, unsigned long m)
{
	site_large(4 << 20);
	site_keeps(100);
	say("site_keeps", 100, 100000, 100, 100000);
}

static void large(char *self, unsigned long mib, unsigned long m)
{
	site_large((mib - mib / 8ULL) << 20);
	site_small(mib / 8ULL << 20);
	say("large", 0, (unsigned long long)mib << 20, 0, 0);
}

/* A child that may not open what its parent had, and one that does not see it. */
static void drops(char *self, unsigned long n, unsigned long m)
{
	int status;

	site_keeps(10);
	for (int i = 0; i < 2; i++) {
		pid_t pid = fork();

		if (!pid) {
			if (i ? chroot("/proc/self/fdinfo") : setgroups(0, NULL) || setgid(1001) || setuid(1001))
				_exit(9);
			site_gives();
			stay();
			_exit(0);
		}
		if (waitpid(pid, &status, 0) != pid || status)
			_exit(9);
	}
	say("site_keeps", 10, 10000, 10, 10000);
}

/* So many mappings more, of which the shim does not know. */
static void map_many(unsigned long nr)
{
	long page = sysconf(_SC_PAGESIZE);
	char *at = (char *)syscall(SYS_mmap, NULL, nr * page, PROT_NONE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (unsigned long i = 0; i < nr; i += 2) {
		if (mprotect(at + i * page, page, PROT_READ))
			_exit(9);
	}
}

/* So many children, each with a hundred objects at its end, and with so many mappings. */
static void children(char *self, unsigned long nr, unsigned long mappings)
{
	int status;

	for (unsigned long i = 0; i < nr; i++) {
		pid_t pid = fork();

		if (!pid) {
			map_many(mappings);
			site_keeps(100);
			_exit(0);
		}
		if (waitpid(pid, &status, 0) != pid || status)
			_exit(9);
	}
	kept = site_gives();
	say("site_gives", 1, 5000, 1, 5000);
	stay();
}

static volatile bool loaded_enough;

static void *load(void *none)
{
	while (!loaded_enough) {
		void *library = dlopen("libresolv.so.2", RTLD_NOW);

		if (!library)
			_exit(9);
		dlclose(library);
	}
	return none;
}

static void *allocate(void *none)
{
	for (int i = 0; i < 1000; i++) {
		/* Not touched: it is more than there is. */
		if (!malloc((size_t)(1 + i % 8) << 20))
			_exit(9);
		if (i % 64 == 63)
			usleep(100);
	}
	return none;
}

/* An allocator maps memory while it has locks, for which who has the loader's waits. */
static void loads(char *self, unsigned long n, unsigned long m)
{
	pthread_t loader, threads[4];

	if (pthread_create(&loader, NULL, load, NULL))
		_exit(9);
	for (int i = 0; i < 4; i++)
		if (pthread_create(&threads[i], NULL, allocate, NULL))
			_exit(9);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	loaded_enough = true;
	pthread_join(loader, NULL);
	say("loads", 0, 0, 0, 0);
}

/* What some allocators have besides, given what malloc() returned. */
static void others(char *self, unsigned long n, unsigned long m)
{
	void (*sdallocx)(void *p, size_t n, int flags) = dlsym(RTLD_DEFAULT, "sdallocx");
	void *(*rallocx)(void *p, size_t n, int flags) = dlsym(RTLD_DEFAULT, "rallocx");
	size_t (*xallocx)(void *p, size_t n, size_t extra, int flags) = dlsym(RTLD_DEFAULT, "xallocx");
	void (*tc_free)(void *p) = dlsym(RTLD_DEFAULT, "tc_free");

	site_keeps(10);
	sdallocx(held[0], 1000, 0);
	xallocx(held[1], 900, 0, 0);
	tc_free(held[2]);
	kept = rallocx(held[3], 500, 0);
	say("site_keeps", 10, 10000, 7, 6900);
	say("others", 1, 500, 1, 500);
}

void *_Znwm(size_t n) __attribute__((weak));
void _ZdlPv(void *p) __attribute__((weak));
void _ZdlPvm(void *p, size_t n) __attribute__((weak));

SITE void site_news(void)
{
	kept = _Znwm(500);
	_ZdlPv(kept);
	kept = _Znwm(600);
	_ZdlPvm(kept, 600);
	kept = _Znwm(700);
}

static void operators(char *self, unsigned long n, unsigned long m)
{
	if (!dlopen("libstdc++.so.6", RTLD_NOW | RTLD_GLOBAL))
		_exit(9);
	site_news();
	say("site_news", 3, 1800, 1, 700);
}

static void rest_ms(long ms)
{
	nanosleep(&(struct timespec){ ms / 1000, ms % 1000 * 1000000 }, NULL);
}

SITE void site_rises(void **v, unsigned int nr)
{
	while (nr--)
		v[nr] = malloc(3000);
}

/* Three times: the second is the peak, and stays for long. Memory that stays is allocated before and behind it. */
static void phases(char *self, unsigned long n, unsigned long m)
{
	static const unsigned int rises[] = { 400, 1000, 300 };
	static void *risen[1000];

	site_keeps(200);
	for (int i = 0; i < 3; i++) {
		rest_ms(300);
		site_rises(risen, rises[i]);
		rest_ms(i == 1 ? 1800 : 300);
		for (unsigned int j = 0; j < rises[i]; j++)
			free(risen[j]);
		site_churns(500);
		if (i == 1)
			site_keeps_more(100);
	}
	say("site_keeps", 200, 200000, 200, 200000);
	say("site_keeps_more", 100, 200000, 100, 200000);
	say("site_rises", 1700, 5100000, 0, 0);
}

static void no_preload(char *self, unsigned long n, unsigned long m)
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

static void twice(char *self, unsigned long n, unsigned long m)
{
	site_keeps(1);
	free(held[0]);
	stay();
	free(held[0]);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(char *self, unsigned long n, unsigned long m);
	} modes[] = {
		{ "exact", exact }, { "forks", forks }, { "executes", executes },
		{ "signals", signals }, { "closes", closes }, { "many", many },
		{ "idles", idles }, { "large", large }, { "remaps", remaps },
		{ "pieces", pieces }, { "drops", drops }, { "children", children },
		{ "loads", loads }, { "others", others }, { "operators", operators },
		{ "no_preload", no_preload }, { "twice", twice }, { "phases", phases },
	};
	const char *mode = argc > 1 ? argv[1] : "";
	unsigned long n = argc > 2 ? strtoul(argv[2], NULL, 0) : 0;
	char line[16];

	if (!strcmp(mode, "later")) {
		/* The shim finds that nobody records. */
		site_churns(10);
		if (read(0, line, sizeof(line)) <= 0)
			return 2;
		argv[1] = argv[0];
		return main(argc - 1, argv + 1);
	}
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		if (!strcmp(mode, modes[i].name)) {
			modes[i].run(argv[0], n, argc > 3 ? strtoul(argv[3], NULL, 0) : 0);
			stay();
			return 0;
		}
	return 2;
}
