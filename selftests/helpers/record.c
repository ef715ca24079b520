// SPDX-License-Identifier: GPL-2.0-only
/* record.c: run a program under the library's recorder. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "device.h"
#include "record.h"
#include "workload.h"

int record_file(void)
{
	return memfd_create("profile", MFD_CLOEXEC);
}

struct gprof_profile *record_profile(int fd, const char **error)
{
	struct gprof_profile *p;

	lseek(fd, 0, SEEK_SET);
	p = gprof_profile_read(fd);
	*error = gprof_error();
	close(fd);
	return p;
}

/* A child that waits for a byte on *@to before it becomes the program. */
static pid_t begin(char *const *argv, int *to)
{
	int fds[2];
	pid_t pid;
	char byte;

	if (pipe(fds))
		return -1;
	pid = fork_bound();
	if (!pid) {
		close(fds[1]);
		if (read(fds[0], &byte, 1) != 1)
			_exit(126);
		close(fds[0]);
		execv(argv[0], argv);
		_exit(127);
	}
	close(fds[0]);
	*to = fds[1];
	return pid;
}

struct gprof_profile *record_command(char *const *argv, const struct gprof_cpu_event *event,
				     bool no_tables, struct gprof_recorder_stats *st,
				     const char **error)
{
	struct gprof_cpu_config cfg = {
		.sz = sizeof(cfg), .events = event, .nr_events = 1, .on_exec = true,
		.no_unwind_tables = no_tables,
	};
	struct gprof_recorder *r;
	static char text[256];
	int to = -1, fd, status, ret;
	pid_t pid;

	pid = begin(argv, &to);
	cfg.target.type = GPROF_PROCESS;
	cfg.target.id = pid;
	fd = record_file();
	r = gprof_cpu_recorder_new(&cfg);
	ret = r ? gprof_recorder_start(r, fd) : -errno;
	if (!ret && write(to, "", 1) != 1)
		ret = -errno;
	if (ret)
		kill(pid, SIGKILL);
	close(to);
	waitpid(pid, &status, 0);
	if (!ret)
		ret = gprof_recorder_stop(r);
	if (ret) {
		snprintf(text, sizeof(text), "%s (%d)", gprof_error(), -ret);
		*error = text;
	} else if (st) {
		gprof_recorder_stats(r, 0, st);
	}
	if (!ret && status) {
		snprintf(text, sizeof(text), "%s ended with %#x", argv[0], status);
		*error = text;
		ret = -ECHILD;
	}
	gprof_recorder_free(r);
	if (ret) {
		close(fd);
		return NULL;
	}
	return record_profile(fd, error);
}

struct gprof_cpu_event record_best_event(uint64_t cycles_period, uint64_t timer_hz)
{
	if (!perf_refuses(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, true))
		return (struct gprof_cpu_event){ .name = "cycles", .period = cycles_period };
	return (struct gprof_cpu_event){ .name = "timer", .hz = timer_hz };
}
