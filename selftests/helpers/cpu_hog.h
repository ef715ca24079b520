/* SPDX-License-Identifier: GPL-2.0-only */
/* cpu_hog.h: a task of real time that keeps a CPU for itself, without a limit. */
#ifndef GPROF_TEST_CPU_HOG_H
#define GPROF_TEST_CPU_HOG_H

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "workload.h"

#define RT_RUNTIME	"/proc/sys/kernel/sched_rt_runtime_us"
#define HOG_NS		6000000000ULL	/* the hog ends by itself, whatever becomes of the test */
#define HOG_BEGIN_NS	2000000000ULL
#define HOG_PRIORITY	50		/* above all threads of the kernel but stop_machine's */

/**
 * struct hog - a process that spins in user mode on one CPU, and shares this
 * @spins: it has begun
 * @over: it shall end
 * @turns: of the hog's loop
 * @others: turns of a process of no priority that is bound there too
 * @still_ns: longest time for which the test's own CPU has let nothing run, not even what is
 *	above all: then an emulator's CPU stood still, which is nobody's fault here
 * @rt_runtime: what the limit of real time was
 */
struct hog {
	pid_t pid;
	pid_t other;
	pid_t beat;
	struct {
		int spins;
		int over;
		unsigned long turns;
		unsigned long others;
		uint64_t still_ns;
	} *shared;
	char rt_runtime[32];
};

/* Returns why there cannot be one, or NULL. */
static inline const char *hog_prepare(struct hog *hog)
{
	if (online_cpu(1) <= 0)
		return "needs two CPUs";
	if (file_read(RT_RUNTIME, hog->rt_runtime, sizeof(hog->rt_runtime)) ||
	    file_write(RT_RUNTIME, "-1"))
		return "no limit of real time can be set here";
	hog->shared = shared_memory(sizeof(*hog->shared));
	return NULL;
}

static inline void hog_end(struct hog *hog)
{
	__atomic_store_n(&hog->shared->over, 1, __ATOMIC_RELAXED);
	if (hog->pid > 0)
		waitpid(hog->pid, NULL, 0);
	if (hog->other > 0) {
		kill(hog->other, SIGKILL);
		waitpid(hog->other, NULL, 0);
	}
	if (hog->beat > 0) {
		kill(hog->beat, SIGKILL);
		waitpid(hog->beat, NULL, 0);
	}
	hog->pid = hog->other = hog->beat = 0;
}

static inline void hog_clean(struct hog *hog)
{
	if (hog->shared && hog->shared != MAP_FAILED)
		hog_end(hog);
	if (hog->rt_runtime[0])
		file_write(RT_RUNTIME, hog->rt_runtime);
}

/* No call from here on: it would be a place where others may run. */
static inline void hog_spin(struct hog *hog)
{
	uint64_t end = monotonic_ns() + HOG_NS;

	__atomic_store_n(&hog->shared->spins, 1, __ATOMIC_RELAXED);
	while (!__atomic_load_n(&hog->shared->over, __ATOMIC_RELAXED) && monotonic_ns() < end)
		__atomic_add_fetch(&hog->shared->turns, 1, __ATOMIC_RELAXED);
	_exit(0);
}

/* The hog goes on: what had interrupted it has ended. False: it does not. */
static inline bool hog_goes_on(struct hog *hog)
{
	unsigned long turns = __atomic_load_n(&hog->shared->turns, __ATOMIC_RELAXED);
	uint64_t end = monotonic_ns() + HOG_BEGIN_NS;

	while (__atomic_load_n(&hog->shared->turns, __ATOMIC_RELAXED) == turns)
		if (monotonic_ns() > end)
			return false;
	return true;
}

static inline void hog_take_turns(struct hog *hog)
{
	for (;;) {
		hog->shared->others++;
		burn_ns(1000000);
	}
}

/* On the CPU of the caller. */
static inline void hog_beat(struct hog *hog)
{
	struct sched_param param = { .sched_priority = 99 };
	uint64_t last = monotonic_ns(), now;

	if (sched_setscheduler(0, SCHED_FIFO, &param))
		_exit(1);
	for (;;) {
		sleep_ms(10);
		now = monotonic_ns();
		if (now - last > hog->shared->still_ns)
			hog->shared->still_ns = now - last;
		last = now;
	}
}

/* The caller is on another CPU, and does not come back before the hog spins. */
static inline int hog_begin(struct hog *hog, int cpu)
{
	struct sched_param param = { .sched_priority = HOG_PRIORITY };
	uint64_t end = monotonic_ns() + HOG_BEGIN_NS;

	memset(hog->shared, 0, sizeof(*hog->shared));
	hog->beat = fork_bound();
	if (!hog->beat)
		hog_beat(hog);
	hog->other = fork_bound();
	if (!hog->other) {
		pin_to(cpu);
		hog_take_turns(hog);
	}
	hog->pid = fork_bound();
	if (!hog->pid) {
		if (pin_to(cpu) < 0 || sched_setscheduler(0, SCHED_FIFO, &param))
			_exit(1);
		hog_spin(hog);
	}
	while (!__atomic_load_n(&hog->shared->spins, __ATOMIC_RELAXED)) {
		if (monotonic_ns() > end)
			return -ETIMEDOUT;
		sleep_ms(1);
	}
	return 0;
}

#endif /* GPROF_TEST_CPU_HOG_H */
