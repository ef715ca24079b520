/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * frame_bounds.h: where functions of a file begin and end that have no symbols.
 *
 * By the entries of .eh_frame: a stripped file keeps them, one for each function.
 */
#ifndef GPROF_FRAME_BOUNDS_H
#define GPROF_FRAME_BOUNDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/table.h"

/**
 * struct gprof_bounds - functions in the order of addresses
 * @v: first address and length of each
 * @nr: how many
 */
struct gprof_bounds {
	struct gprof_bound {
		uint64_t start;
		uint32_t len;
	} *v;
	size_t nr;
};

/**
 * gprof_bounds_load() - read all
 * @b: bounds, to be freed in any case; none where the file cannot be read or has none
 * @fd: ELF file, a program or a shared library
 * @memory: budget of the reading
 */
void gprof_bounds_load(struct gprof_bounds *b, int fd, struct gprof_budget *memory);
void gprof_bounds_free(struct gprof_bounds *b);

/** gprof_bounds_find() - begin of the function at an address; false: it is in none */
bool gprof_bounds_find(const struct gprof_bounds *b, uint64_t addr, uint64_t *start);

#endif /* GPROF_FRAME_BOUNDS_H */
