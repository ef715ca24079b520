// SPDX-License-Identifier: GPL-2.0-only
/*
 * hold: recorders without a reader.
 *
 *	hold N timer|cycles PERIOD PID
 *	hold N block|mutex PERIOD 0
 *	hold 1 task 0 PID
 *	hold 1 trace FLIGHT 0
 *
 * Starts N recorders of the same event on all threads of a process, of the waits of the
 * system (PERIOD waits per sample), of the stacks of a process' tasks, or a trace of the
 * system (into a flight ring where FLIGHT is not 0, with triggers that never fire where it
 * is 2), waits for SIGINT, and prints in a line
 *
 *	started=NS	what START of all of them took; of CPU time, the module's thread
 *			included, where it is that which takes the stacks
 *	produced=N	samples, of all together
 *	lost=N		of these, those that found no room
 *	bytes=N		what was written into the rings
 *	size=N		bytes of a ring
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "../../selftests/helpers/clock.h"
#include "../../selftests/helpers/device.h"

#define MOST	256
#define BUFFER	(4 << 20)	/* room for what nobody reads */
#define TRACE_BUFFER (64 << 20)	/* a million round trips */

static uint64_t run_time(const char *process)
{
	char path[300], text[64] = "";
	uint64_t ns = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%s/comm", process);
	f = fopen(path, "re");
	if (!f)
		return 0;
	if (!fgets(text, sizeof(text), f) || strncmp(text, "gprof/", 6))
		text[0] = 0;
	fclose(f);
	snprintf(path, sizeof(path), "/proc/%s/schedstat", process);
	f = text[0] ? fopen(path, "re") : NULL;
	if (!f)
		return 0;
	if (fscanf(f, "%" SCNu64, &ns) != 1)
		ns = 0;
	fclose(f);
	return ns;
}

/* Of this process and the module's threads. */
static uint64_t cpu_time(void)
{
	DIR *dir = opendir("/proc");
	struct dirent *e;
	struct timespec t;
	uint64_t ns = 0;

	while (dir && (e = readdir(dir)))
		if (e->d_name[0] >= '0' && e->d_name[0] <= '9')
			ns += run_time(e->d_name);
	if (dir)
		closedir(dir);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return ns + t.tv_sec * 1000000000ULL + t.tv_nsec;
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

	for (unsigned int cpu = 0; cpu < dev->nr_cpus; cpu++)
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

	for (size_t i = 0; i < sizeof(causes) / sizeof(causes[0]); i++) {
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
	struct gprof_task_params task = { .size = sizeof(task) };
	uint64_t (*clock)(void) = now_ns;
	struct gprof_cpu_params params;
	struct gprof_stats st;
	sigset_t set;
	int i, n, signal;

	n = argc == 5 ? atoi(argv[1]) : 0;
	if (n < 1 || n > MOST) {
		fprintf(stderr, "usage: hold N timer|cycles|trace|block|mutex|task PERIOD PID\n");
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
		struct gprof_setup setup =
			device_setup_of(GPROF_TARGET_PROCESS, atoi(argv[4]), &params);

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
		if (!strcmp(argv[2], "task")) {
			setup = device_setup_of(GPROF_TARGET_PROCESS, atoi(argv[4]), &task);
			setup.kind = GPROF_KIND_TASK;
			setup.stack |= GPROF_STACK_F_KERNEL;
			setup.buffer_size = BUFFER;
			clock = cpu_time;
		}
		check(device_setup(&devices[i], &setup), "SETUP");
		check(device_map(&devices[i]), "mmap");
		if (!strcmp(argv[2], "trace") && atoi(argv[3]) == 2)
			look_out(&devices[i]);
	}
	started = clock();
	for (i = 0; i < n; i++)
		check(device_start(&devices[i]), "START");
	started = clock() - started;
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
