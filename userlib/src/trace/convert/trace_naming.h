/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * trace_naming.h: stacks of a trace that is recorded, from addresses to names.
 *
 * A stack is kept as the kernel took it until its generation is cut. Then mappings have come, and
 * all addresses are named at a time, file by file. Names stay for the generations to come, until
 * all take more than a bound: then everything is forgotten but mappings of processes that live and
 * stacks that may still be referred to, and names are found again as they are needed.
 */
#ifndef GPROF_TRACE_NAMING_H
#define GPROF_TRACE_NAMING_H

#include <linux/gprof.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"
#include "record/resolve.h"
#include "device/stacks.h"
#include "symbol/process.h"
#include "trace/write/trace_write.h"

/* Bytes that stacks, mappings and names may take before they are forgotten. */
#define GPROF_TRACE_NAMES_MAX	(12ULL << 20)

/**
 * struct gprof_trace_naming - stacks and names
 * @stacks: as the kernel took them
 * @spaces: mappings of processes
 * @maps: records of them that came since some were forgotten
 * @profile: holds the names
 * @resolver: finds them
 * @max: bytes that all this may take
 * @forgotten: how often it was too much
 */
struct gprof_trace_naming {
	struct gprof_stacks stacks;
	struct gprof_spaces spaces;
	uint64_t maps;
	struct gprof_profile *profile;
	struct gprof_resolver resolver;
	uint64_t max;
	uint64_t forgotten;
};

/** gprof_trace_naming_init() - 0 or -ENOMEM; gprof_trace_naming_free() in any case */
int gprof_trace_naming_init(struct gprof_trace_naming *n);
void gprof_trace_naming_free(struct gprof_trace_naming *n);

/** gprof_trace_naming_map() - take a mapping; 0 or -ENOMEM */
int gprof_trace_naming_map(struct gprof_trace_naming *n, const struct gprof_map_rec *rec,
			   const char *path);

/**
 * gprof_trace_naming_name() - make stacks of a writer of those that points have
 * @n: naming
 * @w: writer
 * @points: with a @stack of 1 + a number of @n->stacks, or 0
 * @nr: how many
 *
 * Return: 0 or -ENOMEM.
 */
int gprof_trace_naming_name(struct gprof_trace_naming *n, struct gprof_trace_writer *w,
			    struct gprof_trace_point *points, size_t nr);

/** gprof_trace_naming_full() - does it take more than it may? */
bool gprof_trace_naming_full(const struct gprof_trace_naming *n);

/**
 * gprof_trace_naming_forget() - free the names that are not needed
 * @n: naming
 * @numbers: of each stack: GPROF_NONE: no reference to it; else gets its new number
 *
 * Return: 0 or -ENOMEM.
 */
int gprof_trace_naming_forget(struct gprof_trace_naming *n, uint32_t *numbers);

#endif /* GPROF_TRACE_NAMING_H */
