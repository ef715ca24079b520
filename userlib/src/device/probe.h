/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * probe.h: tracepoints that are made where code has none.
 */
#ifndef GPROF_PROBE_H
#define GPROF_PROBE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

#define GPROF_PROBE_EVENT	64

/**
 * struct gprof_probe - a tracepoint of one's own
 * @user: it is in a file of user space
 * @made: it is there
 * @event: its name, "CATEGORY:NAME"
 */
struct gprof_probe {
	bool user;
	bool made;
	char event[GPROF_PROBE_EVENT];
};

/**
 * gprof_probe_add() - make one
 * @p: result, for gprof_probe_remove()
 * @path: file of user space, or NULL: in the kernel
 * @function: of the kernel
 * @offset: in the file, or in the function
 * @at_return: where the function returns; @offset is then that of its beginning
 * @what: for sentences
 * @e: sentence
 *
 * Those that processes have left behind that are no more are removed.
 *
 * Return: 0 or -errno.
 */
int gprof_probe_add(struct gprof_probe *p, const char *path, const char *function,
		    uint64_t offset, bool at_return, const char *what, struct gprof_error *e);

/** gprof_probe_remove() - remove it; it has no recorder any more */
void gprof_probe_remove(struct gprof_probe *p);

#endif /* GPROF_PROBE_H */
