/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * source: a producer of events inside the kernel. One file per source, one row
 * in the table of linux/gprof.h.
 */
#ifndef GPROF_SOURCE_H
#define GPROF_SOURCE_H

#include <linux/gprof.h>
#include <linux/types.h>

struct gprof_charge;
struct gprof_event_queue;
struct gprof_object_table;
struct gprof_sampler;
struct gprof_stats;
struct gprof_target;
struct gprof_trigger;

/**
 * struct gprof_request - the request of SETUP to a source
 * @params: the kind's parameters, source->params_size bytes, zero-extended
 * @target: the tasks to record; fixed, and outlives the source's state
 * @sampler: where samples go; outlives the source's state
 * @charge: has paid for as much as source->bytes() told; for more, as it comes
 * @events: where triggers fire; outlive the source's state
 * @objects: table with as many slots as source->slots() told, or NULL; outlives the source's state
 * @stack: GPROF_STACK_F_*
 * @kernel_frames: the kernel's call chain is wanted
 * @weight: the source sets the usual weight of a sample
 * @kernel: the source sets whether kernel addresses may be recorded
 * @reason: the source sets GPROF_REASON_* on error
 */
struct gprof_request {
	const void *params;
	const struct gprof_target *target;
	struct gprof_sampler *sampler;
	struct gprof_charge *charge;
	struct gprof_event_queue *events;
	struct gprof_object_table *objects;
	u32 stack;
	bool kernel_frames;
	u64 weight;
	bool kernel;
	u32 reason;
};

/**
 * struct gprof_source_ops - a kind of recorder
 * @kind: GPROF_KIND_*
 * @no_buffer: the kind has no samples
 * @parallelism: each is of a task that runs, and may tell how many do: @start has
 *	gprof_oncpu_scan() called, and the task set of the samples keep its map
 * @params_size: sizeof the kind's parameters
 * @params_min: their first published size
 * @features: GPROF_FEAT_* that the kind brings; NULL: none
 * @bytes: memory that its state takes, for the charge; asked before @setup has
 *	checked the parameters. NULL: little
 * @buffer_size: bytes of data of each CPU's buffer for the events that are asked for, a power of
 *	two, where SETUP names none; asked likewise. NULL: GPROF_BUFFER_DEFAULT
 * @slots: how many things may last at once that the kind has a table of (object_table.h); asked
 *	likewise. NULL: it has none
 * @setup: checks the request and makes the state; nothing is recorded yet
 * @start: begins to call gprof_emit(); @attached: to how much
 * @last: takes the waits that go on when STOP comes, in the process that calls it; waits for
 *	nobody. NULL: the kind has none
 * @stop: ends it; no call is under way when it returns. In a worker, without the recorder's lock
 * @rate: changes the rate; NULL: the kind has none in Hz
 * @trigger: sets one, and its outputs; not while started. NULL: the kind has none
 * @stats: fills in the source's counts, and when it began and ended if it knows better
 * @destroy: frees the state; stopped before
 *
 * All but @features run in task context and never two at once of one recorder: under its lock,
 * or, @stop and @destroy, while that lets none of the others be called.
 */
struct gprof_source_ops {
	u32 kind;
	bool no_buffer;
	bool parallelism;
	size_t params_size;
	size_t params_min;
	u64 (*features)(void);
	u64 (*bytes)(const struct gprof_request *req);
	u64 (*buffer_size)(const struct gprof_request *req);
	u32 (*slots)(const struct gprof_request *req);
	int (*setup)(struct gprof_request *req, void **state);
	int (*start)(void *state, u32 *attached);
	void (*last)(void *state);
	void (*stop)(void *state);
	int (*rate)(void *state, u32 hz);
	int (*trigger)(void *state, struct gprof_trigger *trigger, const char *name);
	void (*stats)(void *state, struct gprof_stats *stats);
	void (*destroy)(void *state);
};

/* One of each kind; and the two ways of kind cpu, for parameters that source_cpu.c has checked. */
#define GPROF_SOURCE(_kind, _name, _params)	gprof_source_##_name,
extern const struct gprof_source_ops
	GPROF_KINDS(GPROF_SOURCE) gprof_source_pmu, gprof_source_timer;

const struct gprof_source_ops *gprof_source_find(u32 kind);
u64 gprof_source_kinds(void);
u64 gprof_source_features(void);
int gprof_source_check_kernel(const struct gprof_request *req, bool wanted, u32 *reason);

#endif /* GPROF_SOURCE_H */
