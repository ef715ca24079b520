/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cpu_clock: one interrupt per CPU for all timers that run there.
 */
#ifndef GPROF_CPU_CLOCK_H
#define GPROF_CPU_CLOCK_H

#include <linux/bits.h>
#include <linux/list.h>
#include <linux/percpu.h>
#include <linux/hrtimer.h>
#include <linux/types.h>

struct gprof_capture;
struct gprof_sampler;
struct gprof_target;

/**
 * struct gprof_clock_spec - the request of a clock, and the consumer of its samples
 * @target: whose time it is
 * @sampler: takes the samples
 * @period: ns for each sample
 * @with_idle: the idle task belongs to the target
 * @user_only: samples in kernel mode are left out
 * @selective: some of the time may be left out, as each sample is looked at
 */
struct gprof_clock_spec {
	const struct gprof_target *target;
	struct gprof_sampler *sampler;
	u64 period;
	bool with_idle;
	bool user_only;
	bool selective;
};

/**
 * struct gprof_slot - the part of a clock on one CPU
 * @node: in the list of those that run on the CPU; empty: it stands
 * @spec: whose clock; NULL: not begun
 * @due: next sample, CLOCK_MONOTONIC; ns until then, perhaps below 0, while it stands
 * @place: of the next sample in its period, ns: 0 to period - 1
 * @random: state of the generator of places
 * @time: ns that it ran; while it runs, when it would have begun without a
 *	pause, and GPROF_SLOT_RUNS. One word, for readers on other CPUs.
 *
 * Written by its CPU alone, with interrupts off.
 */
struct gprof_slot {
	struct list_head node;
	const struct gprof_clock_spec *spec;
	u64 due;
	u64 place;
	u64 random;
	u64 time;
};

#define GPROF_SLOT_RUNS		BIT_ULL(63)

/**
 * struct gprof_cpu_clock - the clock of a CPU
 * @timer: its interrupt
 * @expires: when that comes, CLOCK_MONOTONIC; U64_MAX: not at all
 * @rest: no sample by interrupt before this time, which belongs to the tasks
 * @online: slots may run here
 * @sleeps: the CPU does, as the tracepoint of idle CPUs says; a hint where the idle task is not
 *	current
 * @calls_off: so many more sleeps begin by calling the interrupt off; see
 *	gprof_cpu_clock_sleeps()
 * @called_off: when the interrupt would have come that was; 0: none was
 * @always: slots that run until they are stopped
 * @task: slots that run while the current task does
 */
struct gprof_cpu_clock {
	struct hrtimer timer;
	u64 expires;
	u64 rest;
	bool online;
	bool sleeps;
	u8 calls_off;
	u64 called_off;
	struct list_head always;
	struct list_head task;
};

DECLARE_PER_CPU(struct gprof_cpu_clock, gprof_cpu_clock);

void gprof_cpu_clock_init(unsigned int cpu);
void gprof_cpu_clock_online(void);
void gprof_cpu_clock_offline(void);

void gprof_slot_run(struct gprof_slot *slot, struct list_head *list,
		    const struct gprof_clock_spec *spec, u64 now);
void gprof_slot_halt(struct gprof_slot *slot, u64 now);
void gprof_slots_halt(struct list_head *slots, u64 now);
void gprof_slot_expire(struct gprof_slot *slot, struct gprof_capture *c);
void gprof_cpu_clock_sleeps(struct gprof_cpu_clock *c);
void gprof_cpu_clock_wakes(struct gprof_cpu_clock *c);
void gprof_cpu_clock_rest(struct gprof_cpu_clock *c, u64 began);
bool gprof_slot_runs(const struct gprof_slot *slot);
u64 gprof_slot_time(const struct gprof_slot *slot);

#endif /* GPROF_CPU_CLOCK_H */
