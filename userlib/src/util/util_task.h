/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * util_task.h: causes that keep tasks from processors, for a function of each task or group of
 * tasks.
 */
#ifndef GPROF_UTIL_TASK_H
#define GPROF_UTIL_TASK_H

#include "base/table.h"
#include "util_function.h"
#include "util_group.h"
#include "util_proc.h"

/**
 * struct gprof_util_task - a task that exists
 * @id: number of the goroutine
 * @proc: where it runs or ran last, or -1
 * @group: place of its group
 * @state: of enum gprof_trace_go_state
 * @wants: it counts as one that wants a processor
 * @held: and as one from which it is kept
 */
struct gprof_util_task {
	int64_t id;
	int64_t proc;
	uint32_t group;
	uint8_t state;
	bool wants;
	bool held;
};

/**
 * struct gprof_util_tasks - all tasks
 * @budget: of which all of this is taken
 * @tasks: those that exist
 * @cap: room in @tasks
 * @nr: how many
 * @by_id: number of a goroutine to index in @tasks
 * @on_proc: goroutine that runs on each processor, or -1
 * @on_proc_cap: room in @on_proc
 * @nr_procs: how many
 * @stopped: whether the world was, at the last event
 * @groups: groups with functions
 * @alone: each task is a group of its own, by its number
 * @group_of: else the group of a task that begins; NULL: all are -1
 * @ctx: for it
 */
struct gprof_util_tasks {
	struct gprof_budget *budget;
	struct gprof_util_task *tasks;
	size_t cap;
	size_t nr;
	struct gprof_map64 by_id;
	int64_t *on_proc;
	size_t on_proc_cap;
	size_t nr_procs;
	bool stopped;
	struct gprof_util_groups groups;
	bool alone;
	int64_t (*group_of)(void *ctx, int64_t task);
	void *ctx;
};

void gprof_util_tasks_init(struct gprof_util_tasks *t, struct gprof_budget *budget);
void gprof_util_tasks_free(struct gprof_util_tasks *t);

/**
 * gprof_util_tasks_event() - bring the functions up to date
 * @t: tasks
 * @procs: which has taken the event into account
 * @set: their functions
 * @ev: the event
 * @late: as gprof_util_procs_late() said
 *
 * Return: 0 or -ENOMEM.
 */
int gprof_util_tasks_event(struct gprof_util_tasks *t, const struct gprof_util_procs *procs,
			   struct gprof_util_set *set, const struct gprof_trace_event *ev,
			   bool late);

/** gprof_util_tasks_end() - the trace has ended; 0 or -ENOMEM */
int gprof_util_tasks_end(struct gprof_util_tasks *t, struct gprof_util_set *set, int64_t time);

#endif /* GPROF_UTIL_TASK_H */
