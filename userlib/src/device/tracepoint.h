/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * tracepoint.h: kernel tracepoints by name.
 */
#ifndef GPROF_TRACEPOINT_H
#define GPROF_TRACEPOINT_H

#include <stdint.h>

#include "base/error.h"

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

#endif /* GPROF_TRACEPOINT_H */
