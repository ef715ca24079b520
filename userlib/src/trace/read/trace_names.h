/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * trace_names.h: names that outlive the generation whose string they are: of
 * tasks, regions and stops of the world that have begun and not ended.
 *
 * A string id means something within its generation only, so a name is kept by
 * reference. One is made for the first use of an id in a generation.
 */
#ifndef GPROF_TRACE_NAMES_H
#define GPROF_TRACE_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include <gprof/trace.h>

#include "trace_ids.h"
#include "trace_memory.h"

/**
 * struct gprof_trace_name - a name
 * @refs: number of users
 * @text: of it; @text.s are the bytes behind this struct
 */
struct gprof_trace_name {
	uint32_t refs;
	struct gprof_trace_text text;
	char bytes[];
};

/**
 * struct gprof_trace_names - names of the current generation
 * @memory: that names are taken from
 * @prefix: put before each
 * @suffix: and behind
 * @ids: string id to place in @names
 * @names: held until the generation ends
 * @nr: how many
 * @cap: room
 */
struct gprof_trace_names {
	struct gprof_trace_memory *memory;
	const char *prefix;
	const char *suffix;
	struct gprof_trace_ids ids;
	struct gprof_trace_name **names;
	size_t nr;
	size_t cap;
};

void gprof_trace_names_init(struct gprof_trace_names *n, struct gprof_trace_memory *m,
			    const char *prefix, const char *suffix);
void gprof_trace_names_free(struct gprof_trace_names *n);
/** gprof_trace_names_clear() - a new generation: ids mean something else */
void gprof_trace_names_clear(struct gprof_trace_names *n);
/** gprof_trace_names_get() - the name of a string, borrowed; NULL with errno */
struct gprof_trace_name *gprof_trace_names_get(struct gprof_trace_names *n, uint64_t id,
					       const struct gprof_trace_text *text);

static inline struct gprof_trace_name *gprof_trace_name_hold(struct gprof_trace_name *name)
{
	name->refs++;
	return name;
}

/** gprof_trace_name_drop() - give up a name; NULL is fine */
void gprof_trace_name_drop(struct gprof_trace_memory *m, struct gprof_trace_name *name);
bool gprof_trace_name_equal(const struct gprof_trace_name *a, const struct gprof_trace_name *b);

#endif /* GPROF_TRACE_NAMES_H */
