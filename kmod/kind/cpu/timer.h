/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * timer: CPU time of a target as an event.
 */
#ifndef GPROF_TIMER_H
#define GPROF_TIMER_H

#include "cpu_clock.h"
#include "target/task_set.h"

struct gprof_charge;
struct gprof_stats;

/**
 * struct gprof_timer - a recorder's timer
 * @spec: its clock
 * @slots: on each CPU
 * @task_set: the target's processes, for targets made of tasks
 * @node: for targets made of CPUs, in the list of those that follow them
 * @sees_idle: likewise: the tracepoint of idle CPUs is joined for it
 */
struct gprof_timer {
	struct gprof_clock_spec spec;
	struct gprof_slot __percpu *slots;
	struct gprof_task_set task_set;
	struct list_head node;
	bool sees_idle;
};

int gprof_timers_init(void);
void gprof_timers_exit(void);

u64 gprof_timer_bytes(const struct gprof_target *target);
struct gprof_timer *gprof_timer_new(const struct gprof_clock_spec *spec,
				    struct gprof_charge *charge);

/* These four fit struct gprof_source_ops, whose state is then struct gprof_timer. */
int gprof_timer_start(void *state, u32 *attached);
void gprof_timer_stop(void *state);
void gprof_timer_stats(void *state, struct gprof_stats *stats);
void gprof_timer_destroy(void *state);

#endif /* GPROF_TIMER_H */
