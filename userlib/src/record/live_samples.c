// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * live_samples.c: samples of objects in the object table.
 */
#include "live_samples.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int gprof_live_samples_note(struct gprof_live_samples *l, uint64_t live, uint32_t count)
{
	size_t slot = GPROF_OBJECT_SLOT(live);
	struct gprof_live_sample *v;

	if (slot >= l->max)
		return 0;
	if (slot >= l->nr) {
		if (gprof_grow(&l->v, &l->cap, slot + 1, sizeof(*l->v)))
			return -ENOMEM;
		memset(&l->v[l->nr], 0, (slot + 1 - l->nr) * sizeof(*l->v));
		l->nr = slot + 1;
	}
	v = &l->v[slot];
	/* The rings of two CPUs are read in any order; the later use of the slot counts. */
	if (live > v->live)
		*v = (struct gprof_live_sample){ live, count };
	return 0;
}

static uint64_t times(uint64_t value, uint64_t weight)
{
	uint64_t product;

	return __builtin_mul_overflow(value, weight, &product) ? UINT64_MAX : product;
}

void gprof_live_samples_scan(const struct gprof_live_samples *l, const struct gprof_object_table *t,
			     void (*add)(void *ctx, uint32_t count,
					 const struct gprof_object_slot *slot),
			     void *ctx, struct gprof_live_unsampled *unknown)
{
	struct gprof_object_slot slot;
	uint32_t i;

	memset(unknown, 0, sizeof(*unknown));
	for (i = 0; i < t->head->nr_slots; i++) {
		if (!gprof_object_table_read(t, i, &slot))
			continue;
		if (i < l->nr && l->v[i].live == slot.live) {
			add(ctx, l->v[i].count, &slot);
			continue;
		}
		unknown->objects += slot.weight;
		unknown->value += times(slot.value, slot.weight);
	}
	unknown->full = gprof_object_table_count(&t->head->full);
	unknown->unseen = gprof_object_table_count(&t->head->unseen);
}

void gprof_live_samples_needed(const struct gprof_live_samples *l,
			       const struct gprof_object_table *t, bool *needed)
{
	struct gprof_object_slot slot;
	uint32_t i;

	for (i = 0; i < l->nr; i++) {
		if (!l->v[i].live)
			continue;
		/* The kernel fills a slot before it writes the sample. */
		if (!t->head || (i < t->head->nr_slots && gprof_object_table_read(t, i, &slot) &&
				 slot.live == l->v[i].live))
			needed[l->v[i].count] = true;
	}
}

void gprof_live_samples_renumber(struct gprof_live_samples *l, const uint32_t *numbers)
{
	size_t i;

	for (i = 0; i < l->nr; i++) {
		struct gprof_live_sample *v = &l->v[i];

		if (v->live && numbers[v->count] == GPROF_NONE)
			*v = (struct gprof_live_sample){ 0 };
		else if (v->live)
			v->count = numbers[v->count];
	}
}

void gprof_live_samples_free(struct gprof_live_samples *l)
{
	free(l->v);
	*l = (struct gprof_live_samples){ .max = l->max };
}
