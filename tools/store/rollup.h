/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * rollup: the profiles of ten minutes as one, beside them in the store.
 *
 * A long span of time is read from rollups, a sixtieth of the files; and where a store has no room
 * left, profiles that a rollup has are given up before others: old profiles have a resolution of
 * ten minutes then, for a tenth of the room. Which profiles it is the sum of is in its name: those
 * of its host and kind that begin in its ten minutes, with ids from its first to its last.
 */
#ifndef GPROF_TOOLS_STORE_ROLLUP_H
#define GPROF_TOOLS_STORE_ROLLUP_H

#include <stdbool.h>
#include <stdint.h>

#include "item_name.h"

/* Hours of a store consist of whole ones. */
#define ROLLUP_NS	(600 * 1000000000ULL)

/* rollup_begin() - begin of the ten minutes that @ns is in, CLOCK_REALTIME */
static inline uint64_t rollup_begin(uint64_t ns)
{
	return ns - ns % ROLLUP_NS;
}

/* rollup_alike() - are these of one host, one kind, and the same ten minutes? */
bool rollup_alike(const struct item_name *a, const struct item_name *b);

/* rollup_has() - is the item @n in the rollup @r? */
bool rollup_has(const struct item_name *r, const struct item_name *n);

#endif /* GPROF_TOOLS_STORE_ROLLUP_H */
