/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * trace_model.h: points of CPUs to events of procs and goroutines.
 *
 * Points come ordered by time. The model has at each of them the task of each CPU and the state of
 * each task, and writes events that follow from that alone: a point that contradicts it is
 * preceded by the events that it implies. So a trace is valid whatever the points are. Times never
 * run backwards, and sequences are given in the order of the points, so that a reader finds that
 * order again.
 */
#ifndef GPROF_TRACE_MODEL_H
#define GPROF_TRACE_MODEL_H

#include <gprof/trace_write.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/gprof.h>

#include "trace/read/trace_bytes.h"
#include "trace/read/trace_facts.h"
#include "trace/read/trace_ids.h"
#include "trace/read/trace_memory.h"
#include "trace_annotations.h"
#include "trace_pool.h"

#define GPROF_TRACE_COMM	32	/* bytes of a task's name, with the 0 */
#define GPROF_TRACE_MODEL_CALLS	512	/* more than there are system calls */
#define GPROF_TRACE_MODEL_RECENT	256	/* a power of two */

enum gprof_trace_reason {
	GPROF_TRACE_REASON_LOST,
	GPROF_TRACE_REASON_SKEW,
	GPROF_TRACE_REASON_OFFLINE,
	GPROF_TRACE_REASON_WHY,		/* + enum gprof_trace_why */
	/* + 2 * GPROF_WAIT_FOR_*, + 1 where the wait is uninterruptible */
	GPROF_TRACE_REASON_WAIT = GPROF_TRACE_REASON_WHY + GPROF_TRACE_NR_WHYS,
	GPROF_TRACE_NR_REASONS = GPROF_TRACE_REASON_WAIT + 2 * GPROF_WAIT_FOR_NR,
};

/**
 * struct gprof_trace_model_task - a task that lives
 * @id: goroutine in the trace
 * @tid: thread id
 * @pid: of its process; 0: not known, which is taken for its own
 * @told: pid in the trace; 0: none
 * @cpu: that it runs on, or GPROF_NONE
 * @status: enum gprof_trace_go_status
 * @woken: while it was still on a CPU
 * @used: it is one
 * @in_call: its innermost region is open, of syscall @call; on a CPU its @status is
 *	GPROF_GO_SYSCALL meanwhile
 * @labelled: it was said that it works for the kernel, if it does
 * @assists: how deeply its reclaims of memory are nested
 * @seq: of its last start or unblocking in this generation
 * @generation: in which its status was said last
 * @call: syscall that it is in
 * @call_stack: where it entered that, of @call_generation
 * @call_generation: of that stack
 * @waker: stack of the task that has woken it meanwhile, of this generation
 * @waker_generation: of that stack
 * @guessed: when it was first heard of without a fork, in units
 * @name: or ""
 * @regions: that it is in, as it says itself, or NULL
 */
struct gprof_trace_model_task {
	uint64_t id;
	uint32_t tid;
	uint32_t pid;
	uint32_t told;
	uint32_t cpu;
	uint8_t status;
	bool woken;
	bool used;
	bool in_call;
	bool labelled;
	uint8_t assists;
	uint64_t seq;
	uint64_t generation;
	uint64_t call;
	uint64_t call_stack;
	uint64_t call_generation;
	uint64_t waker;
	uint64_t waker_generation;
	uint64_t guessed;
	char name[GPROF_TRACE_COMM];
	struct gprof_trace_model_regions *regions;
};

/**
 * struct gprof_trace_model_cpu - a CPU
 * @known: it was mentioned
 * @online: and is there
 * @running: its proc runs, with or without a task
 * @fresh: which task it has was not known yet
 * @sweeps: an interrupt or softirq is told
 * @depth: of interrupts and softirqs within each other
 * @task: number of the task that it has, or GPROF_NONE
 * @stolen: tid that was taken from it since another CPU had it
 * @seq: of its proc's last start in this generation
 * @generation: in which its status was said last
 * @body: of its batch
 * @begin: of the batch, in units
 * @last: event in it, in units
 */
struct gprof_trace_model_cpu {
	bool known;
	bool online;
	bool running;
	bool fresh;
	bool sweeps;
	uint32_t depth;
	uint32_t task;
	uint32_t stolen;
	uint64_t seq;
	uint64_t generation;
	struct gprof_trace_bytes body;
	uint64_t begin;
	uint64_t last;
};

/**
 * struct gprof_trace_model - the state of a host
 * @version: of the header
 * @syscall: names syscalls, or NULL
 * @trigger: names triggers, or NULL
 * @ctx: passed on to both
 * @cpus: by number
 * @nr_cpus: of which there are
 * @cap_cpus: room
 * @tasks: those that live, and free places
 * @nr_tasks: of both
 * @cap_tasks: room
 * @free: numbers of free places
 * @nr_free: how many
 * @cap_free: room
 * @recent: by the lower bits of a tid, the number of the task that was found last
 * @tids: finds tasks by tid
 * @memory: of @tids, not limited
 * @marker: the task of events at which no task runs, or GPROF_NONE
 * @seen: a bit for each tid that was used
 * @reused: how many were so again, which tells them apart
 * @generation: counts from 1
 * @now: in units
 * @nr_known: CPUs that were mentioned
 * @procs: CPUs online
 * @procs_due: their number has to be said
 * @reasons: strings of this generation
 * @calls: likewise, of system calls by their number; 0: not yet
 * @call_stacks: likewise stacks of the name alone
 * @pool: strings and stacks of this generation
 * @out: where batches go
 * @samples: body of the batch of CPU samples
 * @processes: the fact with the processes of tasks
 * @facts: of this generation
 * @sample_period: period of CPU samples, or 0
 * @sample_rest: of their weights, not yet told
 * @notes: annotations that points name, and tasks of programs
 * @err: first -errno, which all else is for nothing after
 * @stats: counts
 */
struct gprof_trace_model {
	unsigned int version;
	const char *(*syscall)(void *ctx, uint64_t nr);
	const char *(*trigger)(void *ctx, uint32_t index);
	void *ctx;
	struct gprof_trace_model_cpu *cpus;
	size_t nr_cpus;
	size_t cap_cpus;
	struct gprof_trace_model_task *tasks;
	size_t nr_tasks;
	size_t cap_tasks;
	uint32_t *free;
	size_t nr_free;
	size_t cap_free;
	uint32_t recent[GPROF_TRACE_MODEL_RECENT];
	struct gprof_trace_ids tids;
	struct gprof_trace_memory memory;
	uint32_t marker;
	unsigned char *seen;
	uint64_t reused;
	uint64_t generation;
	uint64_t now;
	uint64_t nr_known;
	uint64_t procs;
	bool procs_due;
	uint64_t reasons[GPROF_TRACE_NR_REASONS];
	uint64_t calls[GPROF_TRACE_MODEL_CALLS];
	uint64_t call_stacks[GPROF_TRACE_MODEL_CALLS];
	struct gprof_trace_pool *pool;
	struct gprof_trace_bytes *out;
	struct gprof_trace_bytes samples;
	struct gprof_trace_bytes processes;
	struct gprof_trace_facts facts;
	uint64_t sample_period;
	uint64_t sample_rest;
	struct gprof_trace_annotations notes;
	int err;
	struct gprof_trace_writer_stats stats;
};

int gprof_trace_model_init(struct gprof_trace_model *m, const struct gprof_trace_writer_opts *o);
void gprof_trace_model_free(struct gprof_trace_model *m);

/** gprof_trace_model_name() - a task's name; one that is not known yet will have it */
int gprof_trace_model_name(struct gprof_trace_model *m, uint32_t tid, const char *name);

/** gprof_trace_model_process() - likewise the process that it is a thread of */
int gprof_trace_model_process(struct gprof_trace_model *m, uint32_t tid, uint32_t pid);

/**
 * gprof_trace_model_run() - the events of a generation
 * @m: model
 * @points: ordered by time
 * @nr: how many
 * @pool: gets their strings and stacks
 * @out: gets their batches
 *
 * Return: 0 or -ENOMEM.
 */
int gprof_trace_model_run(struct gprof_trace_model *m, const struct gprof_trace_point *points,
			  size_t nr, struct gprof_trace_pool *pool,
			  struct gprof_trace_bytes *out);

#endif /* GPROF_TRACE_MODEL_H */
