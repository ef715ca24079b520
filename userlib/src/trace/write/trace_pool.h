/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * trace_pool.h: the strings and stacks of a generation that is being written.
 *
 * A frame is known by all that is said of it, and gets a pc of its own: readers
 * take the first name that they see of a pc for all, and processes share addresses. It
 * is the same in each generation, for Go's profiles take pcs of the whole trace together.
 */
#ifndef GPROF_TRACE_POOL_H
#define GPROF_TRACE_POOL_H

#include <gprof/trace.h>
#include <stddef.h>
#include <stdint.h>

#include "base/table.h"
#include "trace/read/trace_bytes.h"
#include "trace/read/trace_ids.h"
#include "trace/read/trace_memory.h"

struct gprof_trace_pool_code {
	uint64_t pc;
	uint64_t line;
	uint32_t function;	/* numbers of strings */
	uint32_t file;
};

struct gprof_trace_pool_stack {
	size_t first;
	size_t nr;
};

/**
 * struct gprof_trace_pcs - pcs of frames in all generations of a trace
 * @memory: of @known, not limited
 * @known: pcs of up to GPROF_TRACE_PCS_MAX frames, by the hash of their contents
 * @last: that was given
 */
struct gprof_trace_pcs {
	struct gprof_trace_memory memory;
	struct gprof_trace_ids known;
	uint32_t last;
};

/* Of the frames that were met before the last so many, some get another pc. */
#define GPROF_TRACE_PCS_MAX	65536

void gprof_trace_pcs_init(struct gprof_trace_pcs *p);
void gprof_trace_pcs_free(struct gprof_trace_pcs *p);

/**
 * struct gprof_trace_pool - each string, frame and stack once; stack 0 is none
 * @strings: number 0 is ""
 * @code: frames
 * @pcs: that they have in the trace
 * @nr_code: how many
 * @cap_code: room
 * @cap_pcs: likewise
 * @known_pcs: gives them
 * @frames: numbers of frames, stack by stack
 * @nr_frames: how many
 * @cap_frames: room
 * @stacks: @frames of each; the id is 1 + its number
 * @nr_stacks: how many
 * @cap_stacks: room
 * @code_table: finds frames
 * @stack_table: finds stacks
 */
struct gprof_trace_pool {
	struct gprof_strings strings;
	struct gprof_trace_pool_code *code;
	uint32_t *pcs;
	size_t nr_code;
	size_t cap_code;
	size_t cap_pcs;
	struct gprof_trace_pcs *known_pcs;
	uint32_t *frames;
	size_t nr_frames;
	size_t cap_frames;
	struct gprof_trace_pool_stack *stacks;
	size_t nr_stacks;
	size_t cap_stacks;
	struct gprof_table code_table;
	struct gprof_table stack_table;
};

int gprof_trace_pool_init(struct gprof_trace_pool *p, struct gprof_trace_pcs *pcs);
void gprof_trace_pool_free(struct gprof_trace_pool *p);
/** gprof_trace_pool_string() - number of a string, cut at the format's limit; 0 or -ENOMEM */
int gprof_trace_pool_string(struct gprof_trace_pool *p, const char *s, size_t len, uint64_t *id);
/** gprof_trace_pool_stack() - id of a stack, of GPROF_TRACE_FRAMES_MAX at most; 0 or -ENOMEM */
int gprof_trace_pool_stack(struct gprof_trace_pool *p, const struct gprof_trace_frame *frames,
			   size_t nr, uint64_t *id);
/** gprof_trace_pool_frames() - the frames of a stack; how many it has, 0 for none */
size_t gprof_trace_pool_frames(const struct gprof_trace_pool *p, uint64_t id,
			       struct gprof_trace_frame *frames, size_t max);
/** gprof_trace_pool_call() - a stack that has called @name: that is its leaf; 0 or -ENOMEM */
int gprof_trace_pool_call(struct gprof_trace_pool *p, uint64_t caller, const char *name,
			  uint64_t *id);
/** gprof_trace_pool_move() - the id in @p of stack *@id of @from, in place; 0 or -ENOMEM */
int gprof_trace_pool_move(struct gprof_trace_pool *p, const struct gprof_trace_pool *from,
			  uint64_t *id);
/** gprof_trace_pool_write() - its batches of strings and stacks; 0 or -ENOMEM */
int gprof_trace_pool_write(const struct gprof_trace_pool *p, struct gprof_trace_bytes *out,
			   uint64_t generation, uint64_t time);

#endif /* GPROF_TRACE_POOL_H */
