/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * trace_generation.h: one generation of a trace, from its batches.
 *
 * Batches of structure (strings, stacks, CPU samples, clock) are taken apart;
 * of the batches of events it is noted whose they are and where they lie.
 */
#ifndef GPROF_TRACE_GENERATION_H
#define GPROF_TRACE_GENERATION_H

#include <stdbool.h>
#include <stdint.h>

#include <gprof/trace.h>

#include "base/error.h"
#include "trace_dictionary.h"
#include "trace_facts.h"
#include "trace_ids.h"
#include "trace_input.h"
#include "trace_memory.h"
#include "trace_wire.h"

/**
 * struct gprof_trace_events - a batch of events
 * @where: the bytes
 * @offset: of the first in the trace
 * @time: of the batch, in units
 * @len: bytes
 * @next: number of the thread's next batch, or GPROF_NONE
 */
struct gprof_trace_events {
	union gprof_trace_held where;
	uint64_t offset;
	uint64_t time;
	uint32_t len;
	uint32_t next;
};

/**
 * struct gprof_trace_thread - a thread with batches of events
 * @id: thread, or -1
 * @first: number of its first batch
 * @last: and of its last
 * @longest: bytes of its longest
 */
struct gprof_trace_thread {
	int64_t id;
	uint32_t first;
	uint32_t last;
	uint32_t longest;
};

struct gprof_trace_sample {
	int64_t time;		/* ns */
	int64_t thread;
	int64_t proc;
	int64_t goroutine;
	uint64_t stack;
	uint64_t nr;		/* in the order of the file */
};

/**
 * struct gprof_trace_generation - a generation
 * @memory: that all of it is taken from
 * @version: of the header
 * @batch: opts->batch
 * @ctx: for @batch
 * @number: in the file; 0: none was read
 * @ns_per_unit: of timestamps; 0: not known
 * @min_time: earliest time of a batch, in units
 * @has_clock: is @clock set?
 * @clock: its @time is in units until the generation is complete, then in ns
 * @dictionary: strings and stacks
 * @batches: of events
 * @threads: that have some, in the order of the file
 * @thread_ids: finds them
 * @samples: of the CPU, by time
 * @nr_all: batches of every kind, ever
 * @nr_experimental: of which experimental
 * @told: by gprof, of the trace as a whole
 * @late: an error behind the generation, reported after its events
 * @late_offset: where
 */
struct gprof_trace_generation {
	struct gprof_trace_memory *memory;
	unsigned int version;
	int (*batch)(void *ctx, const struct gprof_trace_batch *batch);
	void *ctx;
	uint64_t number;
	double ns_per_unit;
	uint64_t min_time;
	bool has_clock;
	struct gprof_trace_clock clock;
	struct gprof_trace_dictionary dictionary;
	struct gprof_trace_events *batches;
	size_t nr_batches;
	size_t cap_batches;
	struct gprof_trace_thread *threads;
	size_t nr_threads;
	size_t cap_threads;
	struct gprof_trace_ids thread_ids;
	struct gprof_trace_sample *samples;
	size_t nr_samples;
	size_t cap_samples;
	uint64_t nr_all;
	uint64_t nr_experimental;
	struct gprof_trace_reported told;
	struct gprof_error late;
	uint64_t late_offset;
};

int gprof_trace_generation_init(struct gprof_trace_generation *g, struct gprof_trace_memory *m,
				unsigned int version);
void gprof_trace_generation_free(struct gprof_trace_generation *g);

/**
 * gprof_trace_generation_read() - read the next generation over this one
 * @g: generation
 * @in: input, at the start of a batch
 * @error: sentence
 * @offset: and where the error begins
 *
 * Return: 1; 0 when there is none; -errno with @error and @offset.
 */
int gprof_trace_generation_read(struct gprof_trace_generation *g, struct gprof_trace_input *in,
				struct gprof_error *error, uint64_t *offset);

/* Times are int64_t; leave room to add two of them. */
#define GPROF_TRACE_TIME_MAX	4e18

/** gprof_trace_ns() - units to ns, as Go rounds them; false when it is out of range */
static inline bool gprof_trace_ns(double ns_per_unit, uint64_t units, int64_t *ns)
{
	double t = (double)units * ns_per_unit;

	if (!(t < GPROF_TRACE_TIME_MAX))
		return false;
	*ns = (int64_t)t;
	return true;
}

#endif /* GPROF_TRACE_GENERATION_H */
