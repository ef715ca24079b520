/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * alloc_functions.h: the functions by which a process allocates and frees, for probes of them.
 */
#ifndef GPROF_ALLOC_FUNCTIONS_H
#define GPROF_ALLOC_FUNCTIONS_H

#include <gprof/recorder.h>
#include <linux/gprof.h>
#include <stddef.h>

#include "base/error.h"
#include "base/own_fd.h"

#define GPROF_ALLOCATORS_MAX	8	/* files */

/**
 * struct gprof_alloc_functions - the functions, in the files that they are in
 * @rows: for the module
 * @nr: how many
 * @files: which are open meanwhile
 * @nr_files: how many
 */
struct gprof_alloc_functions {
	struct gprof_alloc_function rows[GPROF_ALLOC_FUNCTIONS_MAX];
	size_t nr;
	struct gprof_own_fd files[GPROF_ALLOCATORS_MAX];
	size_t nr_files;
};

/**
 * gprof_alloc_functions_find() - find those of a process that runs
 * @f: result, for gprof_alloc_functions_done(); also on error
 * @target: a process or a thread
 * @what: name of the kind, for a sentence
 * @e: sentence
 *
 * Return: 0 or -errno.
 */
int gprof_alloc_functions_find(struct gprof_alloc_functions *f, const struct gprof_target *target,
			       const char *what, struct gprof_error *e);
void gprof_alloc_functions_done(struct gprof_alloc_functions *f);

#endif /* GPROF_ALLOC_FUNCTIONS_H */
