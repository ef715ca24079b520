// SPDX-License-Identifier: GPL-2.0-only
/*
 * usage: what a command takes.
 *
 * 	usage FILE COMMAND [ARGS...]
 *
 * Its output goes to FILE. Prints its CPU time, ns, and its greatest resident set, KiB; the time is
 * with that of all programs which it began, whether it waited for them or not.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct rusage r;
	int status, fd;
	long peak;
	pid_t pid;

	if (argc < 3) {
		fprintf(stderr, "usage: usage FILE COMMAND [ARGS...]\n");
		return 2;
	}
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	pid = fork();
	if (!pid) {
		fd = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC, 0600);
		if (fd < 0 || dup2(fd, 1) < 0)
			_exit(126);
		execvp(argv[2], argv + 2);
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, &r) != pid) {
		fprintf(stderr, "usage: %s: %s\n", argv[2], strerror(errno));
		return 1;
	}
	if (!WIFEXITED(status) || WEXITSTATUS(status)) {
		fprintf(stderr, "usage: %s ended with %#x\n", argv[2], status);
		return 1;
	}
	peak = r.ru_maxrss;
	while (wait(NULL) > 0)
		;
	getrusage(RUSAGE_CHILDREN, &r);
	printf("%" PRIu64 " %ld\n",
	       (uint64_t)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) * 1000000000 +
	       (uint64_t)(r.ru_utime.tv_usec + r.ru_stime.tv_usec) * 1000, peak);
	return 0;
}
