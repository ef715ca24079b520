// SPDX-License-Identifier: GPL-2.0-only
/*
 * hold: recorders without a reader.
 *
 *	hold N timer|cycles PERIOD PID
 *	hold N block|mutex PERIOD 0
 *	hold 1 trace FLIGHT 0
 *
 * Starts N recorders of the same event on all threads of a process, of the waits of the
 * system (PERIOD waits per sample), or a trace of the
 * system (into a flight ring where FLIGHT is not 0, with triggers that never fire where it
 * is 2), waits for SIGINT, and prints in a line
 *
 *	started=NS	what START of all of them took
 *	produced=N	samples, of all together
 *	lost=N		of these, those that found no room
 *	bytes=N		what was written into the rings
 *	size=N		bytes of a ring
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "../helpers/device.h"

#define MOST	256
#define BUFFER	(4 << 20)	/* room for what nobody reads */
#define TRACE_BUFFER (64 << 20)	/* a million round trips */

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

static void check(int ret, const char *what)
{
	if (!ret)
		return;
	fprintf(stderr, "hold: %s: %s\n", what, strerror(-ret));
	exit(1);
}

static uint64_t written(const struct device *dev)
{
	uint64_t bytes = 0;
	unsigned int cpu;

	for (cpu = 0; cpu < dev->nr_cpus; cpu++)
		if (dev->rings[cpu].head)
			bytes += dev->rings[cpu].head->head;
	return bytes;
}

/* What a switch is held to. */
static void look_out(struct device *dev)
{
	static const uint32_t causes[] = {
		GPROF_TRIGGER_OFF_CPU, GPROF_TRIGGER_DELAY, GPROF_TRIGGER_BLOCKED,
	};
	size_t i;

	for (i = 0; i < sizeof(causes) / sizeof(causes[0]); i++) {
		struct gprof_trigger t = {
			.size = sizeof(t), .what = causes[i], .number = GPROF_TRIGGER_ANY,
			.threshold_ns = 3600000000000,
		};

		check(device_ioctl(dev->fd, GPROF_IOC_TRIGGER, &t), "TRIGGER");
	}
}

int main(int argc, char **argv)
{
	uint64_t started, produced = 0, lost = 0, bytes = 0;
	static struct device devices[MOST];
	struct gprof_trace_params trace = { .size = sizeof(trace) };
	struct gprof_block_params block = { .size = sizeof(block) };
	struct gprof_cpu_params params;
	struct gprof_stats st;
	sigset_t set;
	int i, n, signal;

	n = argc == 5 ? atoi(argv[1]) : 0;
	if (n < 1 || n > MOST) {
		fprintf(stderr, "usage: hold N timer|cycles|trace|block|mutex PERIOD PID\n");
		return 2;
	}
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, NULL);

	params = strcmp(argv[2], "timer") ?
		event_params(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, atoll(argv[3])) :
		timer_params(atoll(argv[3]));
	params.flags = GPROF_CPU_F_KERNEL;
	for (i = 0; i < n; i++) {
		struct gprof_setup setup = device_setup_of(GPROF_TARGET_PROCESS, atoi(argv[4]), &params);

		setup.buffer_size = BUFFER;
		setup.stack |= GPROF_STACK_F_KERNEL;
		if (!strcmp(argv[2], "trace")) {
			setup = device_setup_of(GPROF_TARGET_SYSTEM, 0, &trace);
			setup.kind = GPROF_KIND_TRACE;
			setup.stack = 0;
			setup.buffer_size = TRACE_BUFFER;
			setup.flags = atoi(argv[3]) ? GPROF_SETUP_F_FLIGHT : 0;
		}
		/* The two have the same parameters. */
		if (!strcmp(argv[2], "block") || !strcmp(argv[2], "mutex")) {
			block.period = atoll(argv[3]);
			setup = device_setup_of(GPROF_TARGET_SYSTEM, 0, &block);
			setup.kind = argv[2][0] == 'b' ? GPROF_KIND_BLOCK : GPROF_KIND_MUTEX;
			setup.stack |= GPROF_STACK_F_KERNEL;
			setup.buffer_size = BUFFER;
		}
		check(device_setup(&devices[i], &setup), "SETUP");
		check(device_map(&devices[i]), "mmap");
		if (!strcmp(argv[2], "trace") && atoi(argv[3]) == 2)
			look_out(&devices[i]);
	}
	started = now();
	for (i = 0; i < n; i++)
		check(device_start(&devices[i]), "START");
	started = now() - started;
	sigwait(&set, &signal);
	for (i = 0; i < n; i++) {
		check(device_stop(&devices[i]), "STOP");
		check(device_stats(&devices[i], GPROF_STATS_ALL_CPUS, &st), "STATS");
		produced += st.out_produced;
		lost += device_lost(&st);
		bytes += written(&devices[i]);
	}
	printf("started=%" PRIu64 " produced=%" PRIu64 " lost=%" PRIu64 " bytes=%" PRIu64
	       " size=%" PRIu64 "\n", started, produced, lost, bytes, devices[0].data_size);
	return 0;
}
