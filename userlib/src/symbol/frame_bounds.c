// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * frame_bounds.c: where functions of a file begin and end that have no symbols.
 */
#include "frame_bounds.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "unwind/frame_entries.h"
#include "unwind/image.h"

static int by_start(const void *a, const void *b)
{
	const struct gprof_bound *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->len < y->len ? -1 : x->len > y->len;
}

static void fill(struct gprof_bounds *b, const struct gprof_entries *e,
		 struct gprof_budget *memory)
{
	size_t i;

	if (!e->nr_fdes || gprof_budget_charge(memory, e->nr_fdes * sizeof(*b->v)))
		return;
	b->v = malloc(e->nr_fdes * sizeof(*b->v));
	for (i = 0; b->v && i < e->nr_fdes; i++)
		if (e->fdes[i].len)
			b->v[b->nr++] = (struct gprof_bound){ e->fdes[i].addr, e->fdes[i].len };
	if (b->nr)
		qsort(b->v, b->nr, sizeof(*b->v), by_start);
}

void gprof_bounds_load(struct gprof_bounds *b, int fd, struct gprof_budget *memory)
{
	struct gprof_entries entries = { 0 };
	struct gprof_image image = { 0 };
	struct stat st;

	memset(b, 0, sizeof(*b));
	if (fstat(fd, &st) || st.st_size < 0)
		return;
	if (!gprof_image_open(&image, fd, NULL, (uint64_t)st.st_size, memory) &&
	    !gprof_entries_read(&entries, &image, 0))
		fill(b, &entries, memory);
	gprof_entries_free(&entries, &image);
	gprof_image_close(&image);
}

void gprof_bounds_free(struct gprof_bounds *b)
{
	free(b->v);
	memset(b, 0, sizeof(*b));
}

bool gprof_bounds_find(const struct gprof_bounds *b, uint64_t addr, uint64_t *start)
{
	size_t lo = 0, hi = b->nr;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (b->v[mid].start <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo || addr - b->v[lo - 1].start >= b->v[lo - 1].len)
		return false;
	*start = b->v[lo - 1].start;
	return true;
}
