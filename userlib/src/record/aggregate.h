/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * aggregate.h: the tasks and samples of a recording, each once, in a builder (builder.h).
 */
#ifndef GPROF_AGGREGATE_H
#define GPROF_AGGREGATE_H

#include <stdbool.h>
#include <stdint.h>

#include "device/decode.h"
#include "symbol/process.h"
#include "profile/profile.h"
#include "lifetimes.h"
#include "live_samples.h"
#include "lock_waits.h"
#include "stack_ends.h"
#include "device/stacks.h"
#include "resolve.h"
#include "base/table.h"

/**
 * struct gprof_task - a task as the kernel named it
 * @process: the process that it belongs to
 * @tid: thread id
 * @comm: number of its name in the builder's names
 * @own: of the calling process, whose threads may have labels
 */
struct gprof_task {
	struct gprof_process process;
	uint32_t tid;
	uint32_t comm;
	bool own;
};

/**
 * struct gprof_count - samples with one stack, task and CPU, of one slice of time
 * @addr: data address, where @has_addr
 * @wait: reason and end of the wait, GPROF_WAIT_*, where @has_wait
 * @samples: how many
 * @weight: events that they stand for
 * @first: time of the first of them
 * @last: and of the last
 * @value: sum of the measured values of these events
 * @runnable: sum of the ns after a wait until the task ran
 * @live_weight: the part of @weight that was live at the last gprof_builder_mark_live()
 * @live_value: of @value, likewise
 * @parallelism: how many tasks of the target ran, 0: not told
 * @owner: thread id of the lock's owner, 0: none, or not known
 * @owner_comm: number of its name in the builder's names
 * @stack: index, or GPROF_NONE
 * @task: index, or GPROF_NONE
 * @tid: thread id
 * @cpu: CPU
 * @labels: number of the thread's labels in the builder's
 * @has_addr: is there a data address?
 * @has_wait: were they waits?
 * @state: number of the task's state in the builder's, from 1; 0: none
 * @slice: number of the slice, from 1; 0: there are none
 * @end: index in the builder's @ends
 */
struct gprof_count {
	uint64_t addr;
	uint64_t samples;
	uint64_t weight;
	uint64_t first;
	uint64_t last;
	uint64_t value;
	uint64_t live_weight;
	uint64_t live_value;
	uint64_t runnable;
	uint32_t parallelism;
	uint32_t owner;
	uint32_t owner_comm;
	uint32_t stack;
	uint32_t task;
	uint32_t tid;
	uint32_t cpu;
	uint32_t labels;
	uint16_t wait;
	bool has_addr;
	bool has_wait;
	uint32_t state;
	uint32_t slice;
	uint8_t end;
};

/**
 * struct gprof_instant - how a task was, and when
 * @time: ns
 * @state: as the kernel tells it
 */
struct gprof_instant {
	uint64_t time;
	struct gprof_task_state state;
};

/**
 * struct gprof_builder - a profile in the making
 * @spaces: address spaces, and the files in them
 * @names: of tasks
 * @labels: of threads of the calling process, each set of them a text (labels.h)
 * @labels_forgotten: samples whose labels were no longer kept
 * @stacks: each once; samples of this and of earlier recordings refer to them
 * @tasks: each once
 * @counts: samples of this recording
 * @instants: of those that tell how a task was
 * @first_instant: the earliest of them
 * @ends: samples of @counts by how the walk of their user stack ended
 * @from: samples of before are not of the profile
 * @early: how many these were
 * @live_samples: which samples last, by slot of the kernel's table
 * @unknown: live objects beside these
 * @lock_waits: waits for locks, where releases are charged with them
 * @lifetimes: when objects began and ended, where that is wanted
 * @p: profile with the samples that are not in @counts any more, or NULL
 * @r: makes locations of @p, where there is one
 * @services: samples have a label of their service
 * @goes_on: there are profiles after this one, and processes are looked at meanwhile
 * @last: there is none after the next one: samples and stacks go when they are in it
 * @slice_ns: length of a slice of time; 0: there are none
 * @slice_base: begin of the first, CLOCK_MONOTONIC
 * @rest: of divisions for it, in units of 1 / 2^32
 */
struct gprof_builder {
	struct gprof_spaces spaces;
	struct gprof_strings names;
	struct gprof_strings labels;
	uint64_t labels_forgotten;
	struct gprof_stacks stacks;
	GPROF_ARRAY(struct gprof_task, tasks);
	GPROF_ARRAY(struct gprof_count, counts);
	GPROF_ARRAY(struct gprof_instant, instants);
	uint64_t first_instant;
	struct gprof_table tasks_table;
	struct gprof_table counts_table;
	uint64_t ends[GPROF_END_OTHER + 1];
	uint64_t from;
	uint64_t early;
	struct gprof_live_samples live_samples;
	struct gprof_live_unsampled unknown;
	struct gprof_lock_waits lock_waits;
	struct gprof_lifetimes lifetimes;
	struct gprof_profile *p;
	struct gprof_resolver r;
	uint64_t slice_ns;
	uint64_t slice_base;
	uint64_t rest;
	bool services;
	bool goes_on;
	bool last;
};

/* Slices of time, beyond which they become longer: their samples are to be few. */
#define GPROF_SLICES_MAX	512

/** gprof_builder_ops - functions for a decoder; its context is the builder */
extern const struct gprof_decode_ops gprof_builder_ops;

/**
 * gprof_builder_mark_live() - mark the samples of live objects
 * @b: builder that has all samples of before
 * @t: the kernel's table
 */
void gprof_builder_mark_live(struct gprof_builder *b, const struct gprof_object_table *t);

/**
 * gprof_builder_read_python() - read code objects for stacks that came before their mappings; 0 or
 * -ENOMEM
 */
int gprof_builder_read_python(struct gprof_builder *b);

/** gprof_builder_renumbered() - samples, or their stacks or tasks, have other numbers; 0 or -ENOMEM */
int gprof_builder_renumbered(struct gprof_builder *b);

/**
 * gprof_builder_keep_tasks() - forget tasks, so that the others have new numbers
 * @b: builder
 * @numbers: of each task: GPROF_NONE: forget it; else gets its new number
 *
 * Return: 0 or -ENOMEM, all being left as it was.
 */
int gprof_builder_keep_tasks(struct gprof_builder *b, uint32_t *numbers);

#endif /* GPROF_AGGREGATE_H */
