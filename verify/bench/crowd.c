// SPDX-License-Identifier: GPL-2.0-only
/*
 * crowd: recorders of many processes that do nothing.
 *
 * 	crowd RECORDERS PROCESSES [latency|host]
 *
 * Records itself by so many recorders of three kinds, perhaps none, forks so many processes, which
 * all of them record too and which sleep, and waits for SIGINT. With "latency" samples of CPU time
 * tell how many of them run; with "host" one recorder more tells of the whole host how many do.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>
#include "../../selftests/helpers/device.h"

#define PERIOD_NS	100000000
#define BUFFER		4096
#define AT_ONCE		32	/* processes between two pauses, in which memory is made */

static void record_one(struct gprof_setup *setup)
{
	struct device *dev = calloc(1, sizeof(*dev));
	int ret = dev ? device_record(dev, setup) : -1;

	if (!ret)
		return;
	fprintf(stderr, "crowd: %s, reason %u\n", strerror(-ret), setup->out_reason);
	exit(1);
}

static void record_host(void)
{
	struct gprof_cpu_params timer = timer_params(PERIOD_NS * 100ULL);
	struct gprof_setup setup = device_setup_of(GPROF_TARGET_SYSTEM, 0, &timer);

	setup.flags = GPROF_SETUP_F_PARALLELISM;
	record_one(&setup);
}

/* Every fourth counts what its tasks do on run queues, every fourth writes it down. */
static void record(unsigned int n, bool latency)
{
	struct gprof_cpu_params timer = timer_params(PERIOD_NS);
	struct gprof_sched_params sched = { .size = sizeof(sched) };
	struct gprof_trace_params trace = { .size = sizeof(trace) };
	struct gprof_setup setup;

	while (n--) {
		setup = device_setup_of(GPROF_TARGET_PROCESS, getpid(), &timer);
		setup.buffer_size = BUFFER;
		if (n % 4 == 1) {
			setup.kind = GPROF_KIND_SCHED;
			setup.params = (uintptr_t)&sched;
			setup.stack = 0;
			setup.buffer_size = 0;
		} else if (n % 4 == 3) {
			setup.kind = GPROF_KIND_TRACE;
			setup.params = (uintptr_t)&trace;
			setup.stack = 0;
		} else if (latency) {
			setup.flags = GPROF_SETUP_F_PARALLELISM;
		}
		record_one(&setup);
	}
}

static void sleep_forever(pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (getppid() == parent)
		pause();
	_exit(0);
}

int main(int argc, char **argv)
{
	pid_t self = getpid(), pid;
	sigset_t set;
	int i, n, signal;

	n = argc == 3 || argc == 4 ? atoi(argv[2]) : 0;
	if (n < 1) {
		fprintf(stderr, "usage: crowd RECORDERS PROCESSES [latency|host]\n");
		return 2;
	}
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	record(atoi(argv[1]), argc == 4 && !strcmp(argv[3], "latency"));
	if (argc == 4 && !strcmp(argv[3], "host"))
		record_host();
	for (i = 0; i < n; i++) {
		pid = fork();
		if (!pid)
			sleep_forever(self);
		if (pid < 0) {
			perror("crowd: fork");
			return 1;
		}
		if (i % AT_ONCE == AT_ONCE - 1)
			usleep(20000);
	}
	sigwait(&set, &signal);
	return 0;
}
