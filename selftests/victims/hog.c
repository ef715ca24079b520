// SPDX-License-Identifier: GPL-2.0-only
/*
 * hog: takes CPU 0 from whoever has it, again and again, and says when.
 *
 * Usage: hog TURNS RUN_US SLEEP_US; of a real-time priority, it runs for RUN_US and then
 * sleeps for SLEEP_US, TURNS times. At the end it prints the first and the last time of each
 * turn that it has seen by CLOCK_MONOTONIC: "FROM TO", in ns. Each look is a system call, so
 * that the kernel can tell of it.
 */
#define _GNU_SOURCE
#include "truth.h"

#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

WORKER(hogs, 1)

#define TRIPS	2000	/* between two looks */

struct turn {
	uint64_t from;
	uint64_t to;
};

static uint64_t now(void)
{
	struct timespec t;

	syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

int main(int argc, char **argv)
{
	uint64_t nr = truth_argument(argc, argv, 1, 1000);
	uint64_t run_ns = truth_argument(argc, argv, 2, 200) * 1000;
	uint64_t sleep_ns = truth_argument(argc, argv, 3, 1000) * 1000;
	const struct timespec nap = { sleep_ns / 1000000000, sleep_ns % 1000000000 };
	const struct sched_param priority = { .sched_priority = 50 };
	struct turn *turns = calloc(nr, sizeof(*turns));
	uint64_t x = 1;
	cpu_set_t cpu;

	CPU_ZERO(&cpu);
	CPU_SET(0, &cpu);
	if (!turns || mlockall(MCL_CURRENT) || sched_setaffinity(0, sizeof(cpu), &cpu) ||
	    sched_setscheduler(0, SCHED_FIFO, &priority)) {
		perror("hog");
		return 1;
	}
	for (uint64_t i = 0; i < nr; i++) {
		clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, NULL);
		turns[i].from = now();
		do {
			x = hogs(TRIPS, x);
			turns[i].to = now();
		} while (turns[i].to - turns[i].from < run_ns);
	}
	for (uint64_t i = 0; i < nr; i++)
		printf("%llu %llu\n", (unsigned long long)turns[i].from,
		       (unsigned long long)turns[i].to);
	return 0;
}
