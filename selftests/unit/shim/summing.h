/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * summing.h: what kmod/kind/sched/sched_read.c needs besides: two CPUs, a clock that the test moves, and
 * locks that nobody else takes. Whose tasks are counted does not matter to a sum.
 */
#ifndef GPROF_SHIM_SUMMING_H
#define GPROF_SHIM_SUMMING_H

#include "sample.h"

#include "linux/minmax.h"

/* Their place is taken: they need tasks, cgroups and probes. */
#define GPROF_CYCLES_H
#define GPROF_TARGET_MATCH_H
#define GPROF_TASK_SET_H
#define GPROF_TP_MUX_H
#define GPROF_TARGET_H

#define SHIM_CPUS	2

#undef per_cpu_ptr
#undef for_each_possible_cpu
#define per_cpu_ptr(_p, _cpu)		((_p) + (_cpu))
#define for_each_possible_cpu(_cpu)	for ((_cpu) = 0; (_cpu) < SHIM_CPUS; (_cpu)++)
#define for_each_online_cpu(_cpu)	for_each_possible_cpu(_cpu)
#define num_online_cpus()		SHIM_CPUS
#define cpus_read_lock()		do { } while (0)
#define cpus_read_unlock()		do { } while (0)
#define preempt_disable()		do { } while (0)
#define preempt_enable()		do { } while (0)
#define cpu_relax()			do { } while (0)
#define smp_rmb()			__atomic_thread_fence(__ATOMIC_ACQUIRE)

#define ____cacheline_aligned_in_smp
#define NSEC_PER_MSEC			1000000L
#define U64_MAX				UINT64_MAX

typedef struct {
	long a;
} atomic_long_t;

#define atomic_long_read(_a)		((_a)->a)

struct mutex {
	int unused;
};

typedef struct {
	int unused;
} raw_spinlock_t;

#define mutex_lock(_m)			do { } while (0)
#define mutex_unlock(_m)		do { } while (0)
#define raw_spin_lock_irqsave(_l, _f)	((_f) = 0)
#define raw_spin_unlock_irqrestore(_l, _f)	((void)(_f))

/* Whoever calls does it for that CPU. */
static inline int smp_call_function_single(int cpu, void (*func)(void *), void *data, int wait)
{
	func(data);
	return 0;
}

struct gprof_clock {
	bool cheap;
	u64 mult;
	u64 hz;
};

extern struct gprof_clock gprof_clock;
extern u64 shim_cycles;

#define gprof_cycles()			shim_cycles
#define gprof_cycles_ns(_cycles)	(_cycles)

struct cgroup;

struct gprof_target {
	u32 type;
};

struct gprof_target_match {
	unsigned long *tgids;
	struct cgroup *cgroup;
	const struct gprof_target *target;
};

struct gprof_task_set {
	int unused;
};

struct gprof_tp_sub {
	int unused;
};

static inline bool gprof_target_matches(const struct gprof_target_match *m,
					struct task_struct *task)
{
	return true;
}

#endif /* GPROF_SHIM_SUMMING_H */
