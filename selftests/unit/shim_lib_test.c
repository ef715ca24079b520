// SPDX-License-Identifier: GPL-2.0-only
/*
 * shim_lib_test: what the shim does to programs that have less than others: no dlsym(), as in
 * an old C library, or no library of C++; or more: an allocator of their own. Nobody records.
 * Each is a program of its own, with the shim before it.
 */
#include <dlfcn.h>
#include <libgen.h>
#include <limits.h>
#include "harness.h"

#define PAGE	4096UL

/* @file: beside the room of this program */
static void path_of(char *path, const char *file)
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	self[n < 0 ? 0 : n] = '\0';
	snprintf(path, PATH_MAX, "%s/../%s", dirname(self), file);
}

/* Runs @mode of this program, or the program of that name, with @shim; its status. */
static int status_with(const char *shim, const char *mode)
{
	char path[PATH_MAX], program[PATH_MAX];
	int status;
	pid_t pid;

	path_of(path, shim);
	if (access(path, R_OK))
		return -1;
	pid = fork();
	if (!pid) {
		setenv("LD_PRELOAD", path, 1);
		setenv("SHIM_TEST_MODE", mode, 1);
		path_of(program, mode);
		execl(access(program, X_OK) ? "/proc/self/exe" : program, "shim_lib_test", NULL);
		_exit(127);
	}
	return waitpid(pid, &status, 0) == pid ? status : -1;
}

static char *map(size_t n)
{
	return mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static int maps(void)
{
	char *p = map(2 * PAGE), *q;

	p[0] = 'x';
	q = mremap(p, 2 * PAGE, 64 * PAGE, MREMAP_MAYMOVE);
	if (q == MAP_FAILED || q[0] != 'x')
		return 1;
	errno = 0;
	if (mremap(q + 1, PAGE, PAGE, 0) != MAP_FAILED || errno != EINVAL)
		return 2;
	errno = 0;
	if (munmap(q + 1, PAGE) != -1 || errno != EINVAL)
		return 3;
	errno = 0;
	if (map(0) != MAP_FAILED || errno != EINVAL)
		return 4;
	return munmap(q, 64 * PAGE) ? 5 : 0;
}

static int plugin(void)
{
	void *(*plugin_new)(size_t n);
	char path[PATH_MAX], *throws;
	void *h;

	path_of(path, "shim_plugin.so");
	h = dlopen(path, RTLD_NOW);
	if (!h)
		return 1;
	plugin_new = dlsym(h, "plugin_new");
	throws = dlsym(h, "plugin_throws");
	if (!plugin_new || !throws || plugin_new(10) == throws)
		return 2;
	return plugin_new(PTRDIFF_MAX) == throws ? 0 : 3;
}

TEST(maps_where_functions_cannot_be_looked_for)
{
	EXPECT_EQ(0, status_with("shim_alone.so", "maps"));
	EXPECT_EQ(0, status_with("../lib/libgprof-heap.so", "maps"));
}

TEST(an_operator_that_fails_is_the_callers)
{
	EXPECT_EQ(0, status_with("../lib/libgprof-heap.so", "plugin"));
}

TEST(what_a_program_allocates_itself_is_its_own)
{
	EXPECT_EQ(0, status_with("../lib/libgprof-heap.so", "shim_own_malloc"));
	EXPECT_EQ(0, status_with("shim_alone.so", "shim_own_malloc"));
}

int main(int argc, char **argv)
{
	const char *mode = getenv("SHIM_TEST_MODE");

	if (mode)
		return strcmp(mode, "maps") ? plugin() : maps();
	return test_harness_run(argc, argv);
}
