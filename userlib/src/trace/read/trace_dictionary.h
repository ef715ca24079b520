/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * trace_dictionary.h: the strings and stacks of one generation.
 */
#ifndef GPROF_TRACE_DICTIONARY_H
#define GPROF_TRACE_DICTIONARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gprof/trace.h>

#include "trace_ids.h"
#include "trace_memory.h"

/* Ids are mostly 1, 2, 3, ...: then an array finds them; else, the map does. */
struct gprof_trace_index {
	struct gprof_trace_ids ids;
	uint32_t *dense;
	size_t nr_dense;
	size_t cap_dense;
	uint64_t max;
};

struct gprof_trace_code {
	uint64_t pc;
	uint64_t function;	/* string id */
	uint64_t file;		/* string id */
	uint64_t line;
};

struct gprof_trace_frames {
	uint32_t first;
	uint32_t nr;
};

/**
 * struct gprof_trace_dictionary - strings and stacks by id
 * @memory: that all of it is taken from
 * @text: bytes of the strings
 * @strings: by number; number 0 is "", which has the id 0
 * @string_ids: id to number
 * @stacks: by number; number 0 is the stack without frames, which has the id 0
 * @stack_ids: id to number
 * @frames: numbers of @code, of all stacks one after the other
 * @code: each pc once; the first that is said of it holds
 * @pcs: pc to number
 */
struct gprof_trace_dictionary {
	struct gprof_trace_memory *memory;
	struct gprof_trace_arena text;
	struct gprof_trace_text *strings;
	size_t nr_strings;
	size_t cap_strings;
	struct gprof_trace_index string_ids;
	struct gprof_trace_frames *stacks;
	size_t nr_stacks;
	size_t cap_stacks;
	struct gprof_trace_index stack_ids;
	uint32_t *frames;
	size_t nr_frames;
	size_t cap_frames;
	struct gprof_trace_code *code;
	size_t nr_code;
	size_t cap_code;
	struct gprof_trace_ids pcs;
};

int gprof_trace_dictionary_init(struct gprof_trace_dictionary *d, struct gprof_trace_memory *m);
void gprof_trace_dictionary_free(struct gprof_trace_dictionary *d);
/** gprof_trace_dictionary_clear() - forget all but the id 0; 0 or -errno */
int gprof_trace_dictionary_clear(struct gprof_trace_dictionary *d);

/**
 * gprof_trace_dictionary_strings() - add the strings of a batch
 * @d: dictionary
 * @p: bytes of the batch, behind its first
 * @end: where they end
 * @why: set to a phrase when they are wrong
 *
 * Return: NULL, or where the error begins; with @why NULL, errno has it.
 */
const unsigned char *gprof_trace_dictionary_strings(struct gprof_trace_dictionary *d,
						    const unsigned char *p,
						    const unsigned char *end, const char **why);
/** gprof_trace_dictionary_stacks() - likewise the stacks of a batch */
const unsigned char *gprof_trace_dictionary_stacks(struct gprof_trace_dictionary *d,
						   const unsigned char *p,
						   const unsigned char *end, const char **why);

/**
 * gprof_trace_dictionary_seal() - the generation has no more strings and stacks
 * @d: dictionary
 * @bad: set to a string id of a frame that is not in the trace
 *
 * Return: 0; -EBADMSG with @bad; -ENOMEM, -EFBIG.
 */
int gprof_trace_dictionary_seal(struct gprof_trace_dictionary *d, uint64_t *bad);

static inline uint32_t gprof_trace_index_get(const struct gprof_trace_index *x, uint64_t id)
{
	if (id < x->nr_dense)
		return x->dense[id];
	return x->nr_dense ? GPROF_NONE : gprof_trace_ids_get(&x->ids, id);
}

/** gprof_trace_dictionary_string() - text of an id, or NULL */
static inline const struct gprof_trace_text *
gprof_trace_dictionary_string(const struct gprof_trace_dictionary *d, uint64_t id)
{
	uint32_t n = gprof_trace_index_get(&d->string_ids, id);

	return n == GPROF_NONE ? NULL : &d->strings[n];
}

/** gprof_trace_dictionary_has_stack() - is there a stack of this id? */
static inline bool gprof_trace_dictionary_has_stack(const struct gprof_trace_dictionary *d,
						    uint64_t id)
{
	return gprof_trace_index_get(&d->stack_ids, id) != GPROF_NONE;
}

/** gprof_trace_dictionary_frames() - as gprof_trace_stack() */
size_t gprof_trace_dictionary_frames(const struct gprof_trace_dictionary *d, uint64_t id,
				     struct gprof_trace_frame *frames, size_t max);

#endif /* GPROF_TRACE_DICTIONARY_H */
