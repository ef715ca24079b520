// SPDX-License-Identifier: GPL-2.0-only
/*
 * mmu_cost: run a command and say what it cost.
 *
 *	mmu_cost COMMAND [ARGS...]
 *
 * Its stdout goes nowhere; ours is "CPU WALL KIB": seconds of CPU time (user and
 * system) and by the clock, and the most memory that it had resident.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct timespec begin, end;
	struct rusage use;
	int status;
	pid_t pid;

	if (argc < 2) {
		fputs("usage: mmu_cost COMMAND [ARGS...]\n", stderr);
		return 2;
	}
	clock_gettime(CLOCK_MONOTONIC, &begin);
	pid = fork();
	if (!pid) {
		dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
		execvp(argv[1], argv + 1);
		perror(argv[1]);
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, &use) != pid || status) {
		fprintf(stderr, "mmu_cost: %s failed\n", argv[1]);
		return 1;
	}
	clock_gettime(CLOCK_MONOTONIC, &end);
	printf("%.3f %.3f %ld\n", use.ru_utime.tv_sec + use.ru_stime.tv_sec +
	       (use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1e6,
	       end.tv_sec - begin.tv_sec + (end.tv_nsec - begin.tv_nsec) / 1e9, use.ru_maxrss);
	return 0;
}
