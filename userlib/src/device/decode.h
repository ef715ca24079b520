/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * decode.h: records of one CPU, in order, to calls.
 *
 * A decoder knows which records depend on which: ids of stacks and tasks within a generation, the
 * weight of a sample, the stack that is for the next sample only. It trusts no field: a record
 * that does not fit its size is counted and skipped.
 */
#ifndef GPROF_DECODE_H
#define GPROF_DECODE_H

#include <linux/gprof.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/table.h"

/**
 * struct gprof_decoded - a sample
 * @time: ns
 * @weight: events that it stands for
 * @addr: data address, when @has_addr
 * @value: measured value, when @has_value
 * @wait: GPROF_WAIT_*, when @has_wait
 * @live: its word in the object table, or 0
 * @ended: end of the object that had that slot before; 0: unknown
 * @parallelism: tasks of the target that ran, this one among them; 0: not told
 * @tid: the task that ran
 * @cpu: where
 * @task: handle from gprof_decode_ops.task, or GPROF_NONE
 * @stack: handle from gprof_decode_ops.stack, or GPROF_NONE
 * @flags: GPROF_SAMPLE_REC_F_*
 * @has_addr: is there a data address?
 * @has_value: is there a value?
 * @state: how the task was, where @flags have GPROF_SAMPLE_REC_F_STATE
 * @has_wait: is it a wait?
 * @owner: the lock's owner, where @flags have GPROF_SAMPLE_REC_F_OWNER
 */
struct gprof_decoded {
	uint64_t time;
	uint64_t weight;
	uint64_t addr;
	uint64_t value;
	uint64_t live;
	uint64_t ended;
	uint64_t wait;
	uint32_t parallelism;
	uint32_t tid;
	uint32_t cpu;
	uint32_t task;
	uint32_t stack;
	uint16_t flags;
	bool has_addr;
	bool has_value;
	struct gprof_task_state state;
	bool has_wait;
	struct gprof_lock_owner owner;
};

/**
 * struct gprof_decode_ops - functions for records; each returns 0 or -errno
 * @stack: a stack, whole; @handle is given back with its samples. @rec->frames has
 *	nr_kernel + nr_user elements. @rec->base says nothing
 * @task: a task; likewise
 * @sample: a sample; @handle is given back with others like it, unless it is
 *	GPROF_NONE: then each of them comes by itself, for its time counts
 * @again: a sample that differs from the one called @handle in its time alone, and
 *	stands for @weight; it was taken at @time
 * @map: a mapping; @path is @rec->path, which is NUL-terminated
 */
struct gprof_decode_ops {
	int (*stack)(void *ctx, const struct gprof_stack_rec *rec, uint32_t *handle);
	int (*task)(void *ctx, const struct gprof_task_rec *rec, uint32_t *handle);
	int (*sample)(void *ctx, const struct gprof_decoded *s, uint32_t *handle);
	void (*again)(void *ctx, uint32_t handle, uint64_t weight, uint64_t time);
	int (*map)(void *ctx, const struct gprof_map_rec *rec, const char *path);
};

/**
 * struct gprof_decode_counts - counts of a decoder
 * @samples: samples, with and without a stack
 * @lost: samples that LOST records tell of
 * @nmi: samples by GPROF_SAMPLE_REC_F_NMI
 * @irq: ... _IRQ
 * @throttled: ... _THROTTLED
 * @unknown: records of a type that is not known
 * @malformed: records that make no sense
 * @orphans: samples whose stack is not in the generation
 */
struct gprof_decode_counts {
	uint64_t samples;
	uint64_t lost;
	uint64_t nmi;
	uint64_t irq;
	uint64_t throttled;
	uint64_t unknown;
	uint64_t malformed;
	uint64_t orphans;
};

#define GPROF_AGAIN	1024	/* a power of two */

/**
 * struct gprof_again - a sample that may come again
 * @key: its task and its stack's id, as they stand in the record; 0: free
 * @sample: handle from gprof_decode_ops.sample
 */
struct gprof_again {
	uint64_t key;
	uint32_t sample;
};

/**
 * struct gprof_decoder_stack - a copy of a stack
 * @words: a struct gprof_stack_rec
 * @cap: how many there is room for
 */
struct gprof_decoder_stack {
	uint64_t *words;
	size_t cap;
};

/**
 * struct gprof_decoder - state of one CPU's stream
 * @ops: functions to call
 * @ctx: passed on
 * @cpu: the CPU, from the generation record
 * @started: a generation has begun
 * @labelled: samples may have labels of their threads, and differ by them; the caller keeps this
 * @weight: of samples that do not say theirs
 * @mono_ns: the last generation's clocks
 * @real_ns: of CLOCK_REALTIME, at @mono_ns
 * @next: stack for the next sample only, or GPROF_NONE
 * @bases: stacks that others are branches of, by number, less 1
 * @bases_said: bits of those that this generation has said
 * @whole: frames of the last STACK_DELTA, with those of its suffix
 * @stacks: id to handle, this generation
 * @tasks: tid to handle, this generation
 * @again: samples of this generation, by a hash of stack and tid; forgets at will
 * @counts: counts so far
 */
struct gprof_decoder {
	const struct gprof_decode_ops *ops;
	void *ctx;
	uint32_t cpu;
	bool started;
	bool labelled;
	uint64_t weight;
	uint64_t mono_ns;
	uint64_t real_ns;
	uint32_t next;
	struct gprof_decoder_stack bases[GPROF_STACK_SUFFIXES];
	uint64_t bases_said;
	struct gprof_decoder_stack whole;
	struct gprof_map64 stacks;
	struct gprof_map64 tasks;
	struct gprof_again again[GPROF_AGAIN];
	struct gprof_decode_counts counts;
};

/** gprof_map_file() - the file of a MAP record that a decoder took, or NULL */
const struct gprof_map_file *gprof_map_file(const struct gprof_map_rec *m);

void gprof_decoder_init(struct gprof_decoder *d, const struct gprof_decode_ops *ops, void *ctx);
void gprof_decoder_free(struct gprof_decoder *d);

/**
 * gprof_decoder_feed() - take the next record
 * @d: decoder
 * @rec: record
 * @size: bytes that are there, at least 8
 *
 * Return: 0, or the first -errno of an op (-ENOMEM of the decoder's own).
 */
int gprof_decoder_feed(struct gprof_decoder *d, const struct gprof_rec *rec, uint32_t size);

/**
 * gprof_decoder_feed_again() - take samples like earlier ones, as long as they come
 * @d: decoder
 * @data: records
 * @bytes: how many are there
 *
 * Most samples are of a stack and a task that were seen before. For those alone
 * this is a shortcut: it stops at the first other record, which
 * gprof_decoder_feed() takes.
 *
 * Return: bytes that were taken.
 */
size_t gprof_decoder_feed_again(struct gprof_decoder *d, const void *data, size_t bytes);

/**
 * gprof_decoder_forget() - handles of samples are no longer valid
 * @d: decoder
 */
void gprof_decoder_forget(struct gprof_decoder *d);

/** gprof_decoder_restart() - a recording begins: no handle at all is valid any more */
void gprof_decoder_restart(struct gprof_decoder *d);

#endif /* GPROF_DECODE_H */
