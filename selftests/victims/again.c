// SPDX-License-Identifier: GPL-2.0-only
/*
 * again: a program that is executed again and again. Each burns a millisecond of CPU
 * time.
 *
 * Usage: again N		executes itself N times, in one process
 *	  again N children	has N children, one after the other, that execute it
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include "workload.h"

static int execute(unsigned long n)
{
	char text[24];

	snprintf(text, sizeof(text), "%lu", n);
	execl("/proc/self/exe", "again", text, NULL);
	perror("again");
	return 1;
}

int main(int argc, char **argv)
{
	unsigned long n = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	int status;

	if (argc < 3) {
		burn_ns(1000000);
		return n ? execute(n - 1) : 0;
	}
	while (n--) {
		pid_t pid = fork();

		if (!pid)
			_exit(execute(0));
		if (pid < 0 || waitpid(pid, &status, 0) != pid || status) {
			fprintf(stderr, "again: a child went wrong\n");
			return 1;
		}
	}
	return 0;
}
