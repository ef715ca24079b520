// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * code_map.c: generated code by address, where newer code may lie over older.
 */
#include "code_map.h"

#include <stdlib.h>

#define BACK_MAX	16	/* older code that may lie around newer */

static int by_start(const void *a, const void *b)
{
	const struct gprof_code *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->age < y->age ? -1 : x->age > y->age;
}

void gprof_code_sort(struct gprof_code *v, size_t nr)
{
	if (nr)
		qsort(v, nr, sizeof(*v), by_start);
}

const struct gprof_code *gprof_code_find(const struct gprof_code *v, size_t nr, uint64_t addr)
{
	const struct gprof_code *best = NULL;
	size_t lo = 0, hi = nr, back;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (v[mid].start <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (back = 0; back < BACK_MAX && lo; back++, lo--) {
		const struct gprof_code *c = &v[lo - 1];

		if (addr < c->end && (!best || c->age > best->age))
			best = c;
	}
	return best;
}
