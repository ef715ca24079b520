/* SPDX-License-Identifier: GPL-2.0-only */
/* fuzz_python.h: an interpreter of our own that is none. */
#ifndef GPROF_TEST_FUZZ_PYTHON_H
#define GPROF_TEST_FUZZ_PYTHON_H

#include <stdint.h>
#include <linux/gprof.h>
#include "draw.h"

/*
 * Fills @python, which need not be right, and returns what to tell of it. Changes what all
 * threads are walked by if a table with it was taken: lists to themselves, to nowhere, to
 * threads that there are.
 */
uint64_t fuzz_python(struct draw *d, struct gprof_python *python);

#endif
