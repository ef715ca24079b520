// SPDX-License-Identifier: GPL-2.0-only
/*
 * trace_wait: two processes that wait, in functions whose names are known.
 *
 * Usage: trace_wait ROUNDS MS; in each round one sleeps for MS in sleeps_here, and then
 * wakes the other, which waits in reads_here, from writes_here. Prints what it measured:
 * "FUNCTION NANOSECONDS".
 *
 * Calls of the kernel are made by libc's syscall(), which has no frame of its own.
 */
#include "truth.h"

#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) long sleeps_here(long ms);
__attribute__((noinline)) long sleeps_here(long ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000 };

	return syscall(SYS_nanosleep, &t, NULL) + 1;
}

__attribute__((noinline)) long reads_here(int fd);
__attribute__((noinline)) long reads_here(int fd)
{
	char byte;

	return syscall(SYS_read, fd, &byte, 1) + 1;
}

__attribute__((noinline)) long writes_here(int fd);
__attribute__((noinline)) long writes_here(int fd)
{
	return syscall(SYS_write, fd, "x", 1) + 1;
}

int main(int argc, char **argv)
{
	uint64_t rounds = truth_argument(argc, argv, 1, 10), i, begun, taken = 0;
	long ms = truth_argument(argc, argv, 2, 20);
	int pipes[2], status = 1;
	pid_t child;

	if (pipe(pipes))
		return 1;
	child = fork();
	if (child < 0)
		return 1;
	for (i = 0; i < rounds; i++) {
		begun = now_ns();
		if (!child && reads_here(pipes[0]) != 2)
			return 1;
		if (child && sleeps_here(ms) != 1)
			return 1;
		taken += now_ns() - begun;
		if (child && writes_here(pipes[1]) != 2)
			return 1;
	}
	if (child && (waitpid(child, &status, 0) != child || status))
		return 1;
	printf("%s %llu\n", child ? "sleeps_here" : "reads_here", (unsigned long long)taken);
	return 0;
}
