/* SPDX-License-Identifier: GPL-2.0-only */
/* fuzz_alloc.h: allocations that are recorded, and functions by which they are probed. */
#ifndef GPROF_TEST_FUZZ_ALLOC_H
#define GPROF_TEST_FUZZ_ALLOC_H

#include <linux/gprof.h>
#include "draw.h"

#define FUZZ_FUNCTIONS	5

/*
 * Fills @p, which need not be right, and where it is of probes @functions: those that this
 * program allocates by, and places that are none, in code that nobody runs.
 */
void fuzz_alloc(struct draw *d, struct gprof_alloc_params *p,
		struct gprof_alloc_function functions[FUZZ_FUNCTIONS]);

#endif
