/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * trace_decode.h: the kernel's trace of one CPU, in order, to the points of a writer.
 *
 * The decoder completes the words: whole times, and the running task; and an event's stack, which
 * comes behind it as a sample. The running task is unknown between losses and the next RUNNING. No
 * field is trusted; a record that makes no sense is counted and skipped.
 */
#ifndef GPROF_TRACE_DECODE_H
#define GPROF_TRACE_DECODE_H

#include <gprof/trace_write.h>
#include <linux/gprof.h>
#include <stdbool.h>
#include <stdint.h>

#include "device/decode.h"

#define GPROF_KTRACE_STRANGER	(UINT32_MAX - 1)	/* a task that is not of the target */

/**
 * struct gprof_ktrace_ops - functions for its contents; each returns 0 or -errno
 * @point: a point; those of one CPU come in order of time, but for CPU samples. Tasks outside the
 *	target are 0, as the idle task is. Losses and a CPU that was away are points too. Its
 *	@stack is 1 + the handle from @stack, or 0
 * @task: a name, which is the task's from @time on, or was before
 * @stack: a stack, once a generation; @handle is given back with points
 * @map: a mapping of a process
 * @note: a valid annotation of a program; @id is the @arg of the point to come
 */
struct gprof_ktrace_ops {
	int (*point)(void *ctx, const struct gprof_trace_point *p);
	int (*task)(void *ctx, uint32_t cpu, uint64_t time, const struct gprof_task_rec *rec);
	int (*stack)(void *ctx, const struct gprof_stack_rec *rec, uint32_t *handle);
	int (*map)(void *ctx, const struct gprof_map_rec *rec, const char *path);
	int (*note)(void *ctx, const struct gprof_annotation_rec *rec, uint64_t *id);
};

/**
 * struct gprof_ktrace - state of one CPU's stream
 * @ops: functions to call
 * @ctx: passed on
 * @cpu: the CPU, from the generation record
 * @started: a generation has begun
 * @stacks: events may have a stack, for which each waits; the caller sets this
 * @held: @event is whole, but for its stack
 * @ran: @running_now was told behind it
 * @waits: GPROF_TRACE_* of @point, which waits for its operand; 0: none does
 * @mono_ns: of the generation
 * @time: of the last event
 * @running: the running task, or GPROF_KTRACE_STRANGER, or GPROF_TRACE_NO_TID
 * @point: the last one
 * @event: that waits for its stack
 * @running_now: the running task, from a generation that begins between an event and its stack
 * @decoder: of stacks, CPU samples and mappings
 * @fired: triggers that have fired
 * @samples: events without RUNNING, their stacks, and CPU samples
 * @with_stack: events that have a stack
 * @orphans: stacks of events that are not known, and CPU samples whose stack is not
 * @lost: events that LOST records tell of
 * @unreported: of them, those after which there was no event yet
 * @unknown: records of a type that is not known
 * @malformed: records that make no sense
 * @absences: times that RUNNING contradicted the words before: the CPU was offline
 */
struct gprof_ktrace {
	const struct gprof_ktrace_ops *ops;
	void *ctx;
	uint32_t cpu;
	bool started;
	bool stacks;
	bool held;
	bool ran;
	uint8_t waits;
	uint64_t mono_ns;
	uint64_t time;
	uint32_t running;
	struct gprof_trace_point point;
	struct gprof_trace_point event;
	struct gprof_trace_point running_now;
	struct gprof_decoder decoder;
	uint64_t fired;
	uint64_t samples;
	uint64_t with_stack;
	uint64_t orphans;
	uint64_t lost;
	uint64_t unreported;
	uint64_t unknown;
	uint64_t malformed;
	uint64_t absences;
};

void gprof_ktrace_init(struct gprof_ktrace *k, const struct gprof_ktrace_ops *ops, void *ctx);
void gprof_ktrace_free(struct gprof_ktrace *k);

/**
 * gprof_ktrace_feed() - take the next record
 * @k: stream
 * @rec: record, of which short ones are longer than their 8 bytes
 * @size: bytes that are there, at least 8
 *
 * An event with an operand is handed out with that, so one call later; where there may be
 * stacks, with the next event or by gprof_ktrace_flush().
 *
 * Return: 0, or the first -errno of an op.
 */
int gprof_ktrace_feed(struct gprof_ktrace *k, const struct gprof_rec *rec, uint32_t size);

/**
 * gprof_ktrace_plain() - take records that are one event each, as most are, at once
 * @k: stream
 * @words: so many words, of which the first one begins a record
 * @nr: how many
 * @points: gets the points, in order, none of which @point of the ops gets
 *
 * Return: how many records were taken, of a word each; the one behind them is for
 * gprof_ktrace_feed().
 */
size_t gprof_ktrace_plain(struct gprof_ktrace *k, const void *words, size_t nr,
			  struct gprof_trace_point *points);

/**
 * gprof_ktrace_lose() - so many events are missing here
 * @k: stream
 * @nr: how many
 *
 * That is told with the next event, and has its time: up to then nothing is known.
 *
 * Return: 0, or -errno of an op.
 */
int gprof_ktrace_lose(struct gprof_ktrace *k, uint64_t nr);

/** gprof_ktrace_emit_lost() - tell it, for no event comes up to @time; 0, or -errno of an op */
int gprof_ktrace_emit_lost(struct gprof_ktrace *k, uint64_t time);

/**
 * gprof_ktrace_flush() - no stack of before @time comes any more: pass on the points that wait for
 * one
 */
int gprof_ktrace_flush(struct gprof_ktrace *k, uint64_t time);

#endif /* GPROF_TRACE_DECODE_H */
