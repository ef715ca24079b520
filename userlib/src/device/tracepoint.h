/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * tracepoint.h: kernel tracepoints by name.
 */
#ifndef GPROF_TRACEPOINT_H
#define GPROF_TRACEPOINT_H

#include <stdint.h>

#include "base/error.h"
#include "filter.h"

/** gprof_tracepoint_root() - where tracefs is mounted; NULL with a sentence, and errno */
const char *gprof_tracepoint_root(const char *name, struct gprof_error *e);

/**
 * gprof_tracepoint_find() - number of a tracepoint
 * @root: where tracefs is mounted, or NULL for the usual places
 * @name: "CATEGORY:NAME"
 * @id: result
 * @e: sentence on failure: not mounted, not readable, or the nearest name
 *
 * Return: 0, -ENOENT, -EACCES or -EINVAL.
 */
int gprof_tracepoint_find(const char *root, const char *name, uint64_t *id,
			  struct gprof_error *e);

/**
 * gprof_tracepoint_filter() - steps of a filter on a tracepoint's fields
 * @root: where tracefs is mounted, or NULL for the usual places
 * @name: "CATEGORY:NAME"
 * @text: filter, in the kernel's syntax
 * @filter: result
 * @e: sentence on failure, as above, and where the filter does not parse
 *
 * Return: as gprof_tracepoint_find() and gprof_filter_compile().
 */
int gprof_tracepoint_filter(const char *root, const char *name, const char *text,
			    struct gprof_filter *filter, struct gprof_error *e);

#endif /* GPROF_TRACEPOINT_H */
