// SPDX-License-Identifier: GPL-2.0-only
/*
 * sched_watch: runs a command with scheduler statistics of the system on, and
 * prints them, a name and a number in each line.
 *
 *	sched_watch [-p] [-s] [-f] [-w] [-n RECORDERS] COMMAND [ARGS...]
 *
 * -p: of the command alone; -s counts system calls, -f page faults, -w
 * the stall; -n 0 runs the command with none on, for comparison.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "sched_stats.h"

#define MOST	8

static struct sched_recorder recorders[MOST];

static void die(const char *what, int error)
{
	fprintf(stderr, "sched_watch: %s: %s\n", what, strerror(-error));
	exit(1);
}

static void print(const struct sched_stats *st)
{
	printf("elapsed_ns %llu\n", (unsigned long long)(st->time_ns - st->started_ns));
#define PRINT(_name) printf(#_name " %llu\n", (unsigned long long)st->_name)
	PRINT(total_exec);
	PRINT(num_exec);
	PRINT(total_sched);
	PRINT(num_sched);
	PRINT(total_task);
	PRINT(num_task);
	PRINT(total_faults);
	PRINT(num_faults);
	PRINT(total_calls);
	PRINT(num_calls);
	PRINT(max_procs);
	PRINT(num_procs);
	PRINT(total_starts);
	PRINT(num_threads);
	PRINT(total_switches);
	PRINT(stall_ns);
	PRINT(num_samples);
	PRINT(missed);
	PRINT(doubtful);
	PRINT(delay.count);
	PRINT(delay.sum);
	PRINT(delay.largest);
	PRINT(on_cpu.count);
	PRINT(on_cpu.sum);
	PRINT(on_cpu.largest);
#undef PRINT
}

/* A child that waits for a byte before it becomes the command. */
static pid_t fork_command(char **argv, int *gate)
{
	int ends[2];
	char byte;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		return -1;
	pid = fork();
	if (!pid) {
		if (read(ends[0], &byte, 1) == 1)
			execvp(argv[0], argv);
		_exit(127);
	}
	close(ends[0]);
	*gate = ends[1];
	return pid;
}

int main(int argc, char **argv)
{
	uint32_t flags = 0, target = GPROF_TARGET_SYSTEM;
	int opt, ret, i, gate = -1, nr = 1, status = 0;
	struct sched_stats st;
	pid_t pid;

	while ((opt = getopt(argc, argv, "+psfwn:")) != -1) {
		switch (opt) {
		case 'p': target = GPROF_TARGET_PROCESS; break;
		case 's': flags |= GPROF_SCHED_F_SYSCALLS; break;
		case 'f': flags |= GPROF_SCHED_F_FAULTS; break;
		case 'w': flags |= GPROF_SCHED_F_STALL; break;
		case 'n': nr = atoi(optarg); break;
		default: return 2;
		}
	}
	if (optind == argc || nr < 0 || nr > MOST)
		return 2;
	pid = fork_command(argv + optind, &gate);
	if (pid < 0)
		die("command", -errno);
	for (i = 0; i < nr; i++) {
		ret = sched_setup(&recorders[i], target,
				  target == GPROF_TARGET_PROCESS ? pid : 0, flags, 100);
		ret = ret ?: device_start(&recorders[i].dev);
		if (ret)
			die("start", ret);
	}
	if (write(gate, "", 1) != 1 || waitpid(pid, &status, 0) < 0)
		die("command", -errno);
	if (nr) {
		ret = sched_read(&recorders[0], &st);
		if (ret)
			die(recorders[0].genl.message, ret);
		print(&st);
	}
	for (i = 0; i < nr; i++)
		sched_close(&recorders[i]);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
