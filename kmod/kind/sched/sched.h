/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sched: scheduler statistics of one recorder.
 *
 *	sched_probe.c	counts at switches, wake-ups and forks
 *	sched_calls.c	counts system calls and page faults, where asked for
 *	sched_tasks.c	whose
 *	sched_read.c	adds up
 *
 * Documentation/schedstat.rst argues which events are counted, and why a reading is
 * consistent.
 */
#ifndef GPROF_SCHED_H
#define GPROF_SCHED_H

#include "histogram.h"
#include "probe/tp_mux.h"
#include "target/target_match.h"
#include "target/task_set.h"

#include <linux/atomic.h>
#include <linux/cache.h>
#include <linux/kprobes.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/spinlock.h>

#define GPROF_SCHED_WAYS	2
#define GPROF_SCHED_SUBS	4
#define GPROF_SCHED_CALL_SUBS	3

/**
 * struct gprof_sched_bucket - some of the tasks that wait for a CPU
 * @task: address of the task, bit 0 set when its delay is a sample; 0: free
 * @since: gprof_cycles() when it became runnable
 *
 * A task is entered when it becomes runnable and taken out when it is switched
 * in, both under the lock of its run queue. Other tasks may want the same
 * bucket at the same time, so that a way is claimed by compare-exchange.
 */
struct gprof_sched_bucket {
	atomic_long_t task[GPROF_SCHED_WAYS];
	u64 since[GPROF_SCHED_WAYS];
};

/**
 * struct gprof_sched_counters - counts of one CPU
 * @last: gprof_cycles() of the last switch; where the task set is tasks, of the last that
 *	one of it had part in
 * @curr: the task that was switched in then, for asking for its task set under RCU;
 *	where the task set is the system, out of date; where it is tasks, NULL for others
 * @busy: the last switch that the idle task had part in was from it
 * @sched: times a task became runnable
 * @missed: times a task was switched in and was not known to have waited
 * @to_idle: switches to the idle task
 * @left_idle: switches from the idle task to one of the task set
 * @created: tasks created
 * @calls: system calls entered
 * @faults: page faults handled
 * @faults_entered: page faults begun, and tried again
 * @faults_left: ... and ended
 * @stall: sum of the times at which the last waiting task was switched in, less
 *	those at which a first one began to wait; wraps, and means something
 *	only summed over all CPUs; only with GPROF_SCHED_F_STALL
 * @delay: ns from runnable to running
 * @on_cpu: ns from switched in to switched out
 *
 * Written by the owning CPU only, without interrupts (@calls to @faults_left:
 * without preemption, in task context), and read by anyone. @last and @curr are
 * also written once at START, by the owning CPU.
 */
struct gprof_sched_counters {
	u64 last;
	struct task_struct *curr;
	bool busy;
	u64 sched;
	u64 missed;
	u64 to_idle;
	u64 left_idle;
	u64 created;
	u64 calls;
	u64 faults;
	u64 faults_entered;
	u64 faults_left;
	u64 stall;
	struct gprof_histogram delay;
	struct gprof_histogram on_cpu;
};

/**
 * struct gprof_sched_totals - counters summed over all CPUs
 *
 * As in struct gprof_sched_counters, but @sched counts those of @missed as
 * well, @faults_missed is of whomever and since START, and @stall is ns, the
 * current one included, at @time_ns, which is of CLOCK_MONOTONIC.
 */
struct gprof_sched_totals {
	u64 sched;
	u64 missed;
	u64 to_idle;
	u64 left_idle;
	u64 created;
	u64 calls;
	u64 faults;
	u64 faults_missed;
	u64 stall;
	u64 time_ns;
	struct gprof_histogram delay;
	struct gprof_histogram on_cpu;
};

/**
 * struct gprof_sched_samples - the seed's ring of delays
 * @lock: protects all below; innermost, taken under run queue locks
 * @count: delays sampled
 * @ns: delays, the newest at (count - 1) % 256
 */
struct gprof_sched_samples {
	raw_spinlock_t lock;		/* protects the members below */
	u64 count;
	u64 ns[GPROF_SCHED_SAMPLES];
};

enum gprof_sched_state {
	GPROF_SCHED_STANDS,	/* detached; the counts to read do not change */
	GPROF_SCHED_COUNTS,
	GPROF_SCHED_ENDS,	/* some of it is detached already */
};

/**
 * struct gprof_sched - scheduler statistics of one recorder
 * @counters: of each CPU
 * @waits: tasks that wait, by the lower bits of their id
 * @wait_mask: number of buckets less 1
 * @next_sample: gprof_cycles() from which on the next task that becomes runnable
 *	is sampled; U64_MAX: none
 * @whose: tasks
 * @flags: GPROF_SCHED_F_*
 * @task_set: its processes, where it is made of tasks
 * @incomplete: some of them are missing
 * @in_call: tasks inside a system call, by id
 * @subs: switches, wake-ups and forks
 * @call_subs: system calls
 * @fault_probe: counts page faults
 * @waiting: tasks in @waits, less 1; only with GPROF_SCHED_F_STALL
 * @hz: delays to sample in a second
 * @sample_period: cycles
 * @samples: sampled delays
 * @phase: protects all below, against readers beside START and STOP; taken under
 *	the recorder's lock, and never held over a grace period
 * @state: GPROF_SCHED_*
 * @started_ns: CLOCK_MONOTONIC of START, 0: never
 * @started_cycles: gprof_cycles() at that moment
 * @base: totals at START
 * @final: totals from START to STOP
 * @doubtful: as in struct gprof_sched_reading, at STOP
 */
struct gprof_sched {
	struct gprof_sched_counters __percpu *counters;
	struct gprof_sched_bucket *waits;
	u32 wait_mask;
	u64 next_sample;
	struct gprof_target_match whose;
	u32 flags;
	struct gprof_task_set task_set;
	bool incomplete;
	unsigned long *in_call;
	struct gprof_tp_sub subs[GPROF_SCHED_SUBS];
	struct gprof_tp_sub call_subs[GPROF_SCHED_CALL_SUBS];
#ifdef CONFIG_KRETPROBES
	struct kretprobe fault_probe;
#endif

	atomic_t waiting ____cacheline_aligned_in_smp;

	u32 hz ____cacheline_aligned_in_smp;
	u64 sample_period;
	struct gprof_sched_samples samples;

	struct mutex phase;		/* protects the members below */
	enum gprof_sched_state state;
	u64 started_ns;
	u64 started_cycles;
	struct gprof_sched_totals base;
	struct gprof_sched_totals final;
	bool doubtful;
};

/**
 * struct gprof_sched_reading - the statistics at one time
 * @started_ns: CLOCK_MONOTONIC of START
 * @totals: since START
 * @all: the task set is the system
 * @flags: GPROF_SCHED_F_*
 * @running: tasks on a CPU
 * @waiting: tasks that wait for one
 * @tasks: tasks alive
 * @in_call: tasks in a system call
 * @in_fault: tasks in a page fault
 * @cpus: CPUs that the task set may use
 * @online: CPUs online
 * @hz: delays sampled in a second
 * @samples: how many were
 * @sample_ns: ring of them
 * @doubtful: the clock may have jumped
 */
struct gprof_sched_reading {
	u64 started_ns;
	struct gprof_sched_totals totals;
	bool all;
	u32 flags;
	u64 running;
	u64 waiting;
	u64 tasks;
	u64 in_call;
	u64 in_fault;
	u64 cpus;
	u64 online;
	u32 hz;
	u64 samples;
	u64 sample_ns[GPROF_SCHED_SAMPLES];
	bool doubtful;
};

/**
 * gprof_sched_matches() - does a task belong to the task set?
 * @s: statistics
 * @task: current, or a task that does not run and cannot begin to
 *
 * Context: Any but NMI.
 */
static inline bool gprof_sched_matches(const struct gprof_sched *s, struct task_struct *task)
{
	return gprof_target_matches(&s->whose, task);
}

int gprof_sched_attach(struct gprof_sched *s);
void gprof_sched_detach(struct gprof_sched *s);
void gprof_sched_set_rate(struct gprof_sched *s, u32 hz);

bool gprof_sched_can_count(u32 flags);
int gprof_sched_attach_calls(struct gprof_sched *s);
void gprof_sched_detach_calls(struct gprof_sched *s);
u64 gprof_sched_faults_missed(const struct gprof_sched *s);

int gprof_sched_attach_tasks(struct gprof_sched *s, u32 *threads);
void gprof_sched_executed(struct gprof_sched *s);
void gprof_sched_detach_tasks(struct gprof_sched *s);
bool gprof_sched_inherits(const struct gprof_sched *s, struct task_struct *child);
bool gprof_sched_matches_now(const struct gprof_sched *s, struct task_struct *task);
void gprof_sched_population(struct gprof_sched *s, struct gprof_sched_reading *r);

void gprof_sched_begin(struct gprof_sched *s);
void gprof_sched_since_start(struct gprof_sched *s, struct gprof_sched_totals *t);
bool gprof_sched_clock_doubtful(struct gprof_sched *s);
bool gprof_sched_read(struct gprof_sched *s, struct gprof_sched_reading *r);

#endif /* GPROF_SCHED_H */
