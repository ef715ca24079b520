/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * code_map.h: generated code by address, where newer code may lie over older.
 */
#ifndef GPROF_CODE_MAP_H
#define GPROF_CODE_MAP_H

#include <stddef.h>
#include <stdint.h>

/**
 * struct gprof_code - a generated function
 * @start: address
 * @end: address after the last
 * @name: where in the text of who has the map
 * @age: the larger, the newer
 */
struct gprof_code {
	uint64_t start;
	uint64_t end;
	uint32_t name;
	uint32_t age;
};

/** gprof_code_sort() - put @nr functions into the order of addresses */
void gprof_code_sort(struct gprof_code *v, size_t nr);

/** gprof_code_find() - of sorted functions the newest one at an address, or NULL */
const struct gprof_code *gprof_code_find(const struct gprof_code *v, size_t nr, uint64_t addr);

#endif /* GPROF_CODE_MAP_H */
