/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * trace_decode.h: the kernel's trace of one CPU, in order, to the points of a writer.
 *
 * What the words leave out is put back: whole times, and who ran. What a reader of the
 * ring cannot know it says: who runs is unknown between losses and the next RUNNING.
 * No field is trusted; a record that makes no sense is counted and skipped.
 */
#ifndef GPROF_TRACE_DECODE_H
#define GPROF_TRACE_DECODE_H

#include <gprof/trace_write.h>
#include <linux/gprof.h>
#include <stdbool.h>
#include <stdint.h>

#define GPROF_KTRACE_STRANGER	(UINT32_MAX - 1)	/* a task that is not of the target */

/**
 * struct gprof_ktrace_ops - what becomes of it; 0 or -errno each
 * @point: what happened; those of one CPU come in order of time. Strangers are 0, as the
 *	idle task is. Losses and a CPU that was away are points too
 * @task: a name, which is the task's from @time on, or was before
 */
struct gprof_ktrace_ops {
	int (*point)(void *ctx, const struct gprof_trace_point *p);
	int (*task)(void *ctx, uint32_t cpu, uint64_t time, const struct gprof_task_rec *rec);
};

/**
 * struct gprof_ktrace - state of one CPU's stream
 * @ops: what to call
 * @ctx: passed on
 * @cpu: the CPU, from the generation record
 * @started: a generation has begun
 * @waits: GPROF_TRACE_* of @point, which waits for its operand; 0: none does
 * @mono_ns: of the generation
 * @time: of the last event
 * @running: who runs, or GPROF_KTRACE_STRANGER, or GPROF_TRACE_NO_TID
 * @point: the last one
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
	uint8_t waits;
	uint64_t mono_ns;
	uint64_t time;
	uint32_t running;
	struct gprof_trace_point point;
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
