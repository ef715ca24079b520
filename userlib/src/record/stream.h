/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * stream.h: one event of a recorder: a device, its rings, the profile in the making.
 */
#ifndef GPROF_STREAM_H
#define GPROF_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "device/buffer.h"
#include "evict.h"
#include "builder.h"
#include "device/decode.h"
#include "device/device.h"
#include "device/object_table.h"
#include "base/error.h"
#include "device/target.h"

/**
 * struct gprof_stream_source - the kernel's parameters of a kind of recorder
 * @kind: GPROF_KIND_*
 * @stack: GPROF_STACK_F_*
 * @params: the kind's parameters
 * @columns: columns of the profile
 * @over_time_is_extra: those over time are left out where the module has none
 * @kind: GPROF_KIND_*
 * @name: of the event
 * @detail: for the profile's comment, such as "perf type 0, config 0"
 * @needs: GPROF_FEAT_* that the module must have
 * @needs_text: the missing feature, after "this gprof.ko"
 *
 * Where @columns have a latency, samples are to tell how many tasks of the target ran.
 */
struct gprof_stream_source {
	uint32_t kind;
	uint32_t stack;
	const void *params;
	struct gprof_columns columns;
	bool over_time_is_extra;
	const char *name;
	char detail[128];
	uint64_t needs;
	const char *needs_text;
};

/**
 * struct gprof_stream_opts - how to record
 * @buffer_bytes: per CPU, 0 for the default
 * @on_exec: count from the next exec on
 * @flight: the oldest gives way, and nothing is read until gprof_stream_snapshot()
 * @no_tables: walk no stacks by unwind tables
 * @services: samples have a label of their service
 * @python: stacks have the frames of Python code
 * @slice_ns: as in struct gprof_cpu_config
 */
struct gprof_stream_opts {
	uint64_t buffer_bytes;
	bool on_exec;
	bool flight;
	bool no_tables;
	bool services;
	bool python;
	uint64_t slice_ns;
};

/**
 * struct gprof_tally - counts of a recording, or of a part of it
 * @kernel: the kernel's
 * @seen: ours
 */
struct gprof_tally {
	struct gprof_stats kernel;
	struct gprof_decode_counts seen;
};

/**
 * struct gprof_stream - one event
 * @dev: device
 * @out: where the profile goes, while started
 * @name: of the event
 * @detail: for the profile's comment
 * @target: for the profile's comment
 * @column: text that @columns refers to
 * @columns: columns of the profile
 * @buffer: rings
 * @decoders: one for each ring
 * @live: object table, where the kind has one
 * @builder: profile in the making
 * @eviction: frees its program runs that are over
 * @base: kernel's counts at the last start
 * @base_seen: own counts at the last start
 * @started: kernel side is started
 * @flight: it is a flight recorder
 * @services: samples have a label of their service
 * @since_ns: the profile in the making begins here, CLOCK_MONOTONIC; 0: at the start
 * @until_ns: end of the profile in the making; 0: at the stop
 * @past: counts of samples of the profiles before, since the start
 * @past_ends: how the walks of their user stacks ended
 * @ends_text: how those of all samples ended, when it was last asked for
 * @tables: it takes unwind tables
 * @tables_refused: there is no memory for that
 * @python: stacks have the frames of Python code
 * @slice_ns: as in struct gprof_cpu_config
 */
struct gprof_stream {
	struct gprof_own_fd dev;
	int out;
	uint32_t kind;
	char *name;
	char *detail;
	char *target;
	char *column;
	struct gprof_columns columns;
	struct gprof_buffer buffer;
	struct gprof_decoder *decoders;
	struct gprof_object_table live;
	struct gprof_builder builder;
	struct gprof_eviction eviction;
	struct gprof_stats base;
	struct gprof_decode_counts base_seen;
	bool started;
	bool flight;
	bool services;
	uint64_t since_ns;
	uint64_t until_ns;
	struct gprof_tally past;
	uint64_t past_ends[GPROF_ENDS];
	char ends_text[GPROF_STACK_ENDS_TEXT];
	bool tables;
	bool tables_refused;
	bool python;
	uint64_t slice_ns;
};

/**
 * gprof_stream_init() - open, set up and map a device
 * @s: result for gprof_stream_free(), also on failure
 * @source: kind and parameters
 * @kernel_target: target
 * @opts: how
 * @e: sentence
 */
int gprof_stream_init(struct gprof_stream *s, const struct gprof_stream_source *source,
		      const struct gprof_kernel_target *kernel_target,
		      const struct gprof_stream_opts *opts, struct gprof_error *e);
void gprof_stream_free(struct gprof_stream *s);

/**
 * gprof_stream_prepare() - forget all of an earlier recording: samples, stacks, names,
 * mappings
 *
 * To be called while no thread drains.
 */
int gprof_stream_prepare(struct gprof_stream *s, struct gprof_error *e);

/** gprof_stream_start() - attach */
int gprof_stream_start(struct gprof_stream *s, struct gprof_error *e);
/** gprof_stream_stop() - detach; the records stay in the rings */
int gprof_stream_stop(struct gprof_stream *s, struct gprof_error *e);

/**
 * gprof_stream_drain() - read all that is in the rings
 *
 * Return: 0, or the first -errno; a corrupt ring (-EBADMSG) does not keep the
 * others from being read.
 */
int gprof_stream_drain(struct gprof_stream *s, struct gprof_error *e);

/**
 * gprof_stream_snapshot() - begin the profile anew with the contents of a flight recorder
 *
 * It begins where the rings of all CPUs have something to tell.
 *
 * Return: 0 or -errno: -EAGAIN when a ring is overwritten faster than it can be copied.
 */
int gprof_stream_snapshot(struct gprof_stream *s, struct gprof_error *e);

/**
 * gprof_stream_next() - begin the next profile of a recording that goes on
 * @s: stream of which a profile was just made
 * @t: counts of its samples
 * @e: sentence
 *
 * To be called while no thread drains.
 */
int gprof_stream_next(struct gprof_stream *s, const struct gprof_tally *t, struct gprof_error *e);

/** gprof_stream_tally() - counts of the profile in the making */
int gprof_stream_tally(struct gprof_stream *s, struct gprof_tally *t, struct gprof_error *e);

/** gprof_stream_samples() - how many were read for that */
uint64_t gprof_stream_samples(const struct gprof_stream *s);

/** gprof_stream_total() - likewise with those of the profiles before, since the start */
int gprof_stream_total(struct gprof_stream *s, struct gprof_tally *t, struct gprof_error *e);

/** gprof_tally_lost() - all samples that were lost, for any reason */
uint64_t gprof_tally_lost(const struct gprof_tally *t);

/**
 * gprof_stream_mark_live() - mark the samples of live objects
 *
 * To be called behind gprof_stream_drain(), while no thread drains. Without an object table it
 * does nothing. Return: 0 or -ENOMEM.
 */
int gprof_stream_mark_live(struct gprof_stream *s, struct gprof_error *e);

/**
 * gprof_stream_stack_ends() - how the walks of user stacks ended, since the start
 * @s: stream whose samples were read
 * @ends: gets samples, by GPROF_STACK_END_*
 *
 * Return: of how many samples that is; 0 where no tables were asked for.
 */
uint64_t gprof_stream_stack_ends(const struct gprof_stream *s, uint64_t ends[GPROF_ENDS]);

#endif /* GPROF_STREAM_H */
