/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * trace_decode.h: the kernel's trace of one CPU, in order, to events.
 *
 * What the words leave out is put back: whole times, and who ran. What a reader of the
 * ring cannot know it says: who runs is unknown between losses and the next RUNNING.
 * No field is trusted; a record that makes no sense is counted and skipped.
 */
#ifndef GPROF_TRACE_DECODE_H
#define GPROF_TRACE_DECODE_H

#include <linux/gprof.h>
#include <stdbool.h>
#include <stdint.h>

#define GPROF_KTRACE_STRANGER	UINT32_MAX		/* a task that is not of the target */
#define GPROF_KTRACE_UNKNOWN	(UINT32_MAX - 1)	/* nobody knows */

/**
 * struct gprof_ktrace_event - what happened
 * @time: ns of CLOCK_MONOTONIC
 * @cpu: where
 * @type: GPROF_TRACE_*, but for OPERAND
 * @arg: as the word says; SWITCH and RUNNING without GPROF_TRACE_STRANGER
 * @running: who ran on the CPU until then, or GPROF_KTRACE_*
 * @number: the word's tid or other number; of SWITCH and RUNNING perhaps GPROF_KTRACE_STRANGER
 * @operand: of a type that has one
 */
struct gprof_ktrace_event {
	uint64_t time;
	uint32_t cpu;
	uint16_t type;
	uint16_t arg;
	uint32_t running;
	uint32_t number;
	uint64_t operand;
};

/**
 * struct gprof_ktrace_ops - what becomes of it; 0 or -errno each
 * @event: an event; those of one CPU come in order of time
 * @task: a name, which is the task's from @time on, or was before
 * @lost: so many events are missing here
 * @generation: a generation begins, at this instant of both clocks
 */
struct gprof_ktrace_ops {
	int (*event)(void *ctx, const struct gprof_ktrace_event *e);
	int (*task)(void *ctx, uint32_t cpu, uint64_t time, const struct gprof_task_rec *rec);
	int (*lost)(void *ctx, uint32_t cpu, uint64_t time, uint64_t events);
	int (*generation)(void *ctx, uint32_t cpu, uint64_t mono_ns, uint64_t real_ns);
};

/**
 * struct gprof_ktrace - state of one CPU's stream
 * @ops: what to call
 * @ctx: passed on
 * @cpu: the CPU, from the generation record
 * @started: a generation has begun
 * @waits: @event waits for its operand
 * @mono_ns: of the generation
 * @time: of the last event
 * @running: who runs, or GPROF_KTRACE_*
 * @event: the last one
 * @samples: events without RUNNING
 * @lost: events that LOST records tell of
 * @unknown: records of a type that is not known
 * @malformed: records that make no sense
 * @absences: times that RUNNING contradicted what was known: the CPU was offline
 */
struct gprof_ktrace {
	const struct gprof_ktrace_ops *ops;
	void *ctx;
	uint32_t cpu;
	bool started;
	bool waits;
	uint64_t mono_ns;
	uint64_t time;
	uint32_t running;
	struct gprof_ktrace_event event;
	uint64_t samples;
	uint64_t lost;
	uint64_t unknown;
	uint64_t malformed;
	uint64_t absences;
};

void gprof_ktrace_init(struct gprof_ktrace *k, const struct gprof_ktrace_ops *ops, void *ctx);

/**
 * gprof_ktrace_feed() - take the next record
 * @k: stream
 * @rec: record, of which short ones are longer than their 8 bytes
 * @size: bytes that are there, at least 8
 *
 * An event with an operand is handed out with that, so one call later.
 *
 * Return: 0, or the first -errno of an op.
 */
int gprof_ktrace_feed(struct gprof_ktrace *k, const struct gprof_rec *rec, uint32_t size);

#endif /* GPROF_TRACE_DECODE_H */
