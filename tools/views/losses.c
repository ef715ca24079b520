// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where events of a trace of the host are missing.
 */
#include "losses.h"

#include <stdlib.h>

#include "cli/diag.h"

void losses_add_batch(struct losses *l, const struct gprof_trace_batch *batch)
{
	metadata_add_batch(&l->metadata, batch);
}

static int64_t *last_of(struct losses *l, size_t cpu)
{
	for (; l->nr_cpus <= cpu; l->nr_cpus++) {
		l->last = xgrow(l->last, l->nr_cpus, &l->room_cpus, sizeof(*l->last));
		l->last[l->nr_cpus] = 0;
	}
	return &l->last[cpu];
}

static void apply_metadata(struct losses *l, int64_t time)
{
	const struct metadata_note *n;

	while ((n = metadata_until(&l->metadata, time))) {
		int64_t begin = *last_of(l, n->cpu);

		if (!begin)
			begin = l->first;
		if (n->kind != METADATA_LOST || begin >= n->time)
			continue;
		l->all = xgrow(l->all, l->nr, &l->room, sizeof(*l->all));
		l->all[l->nr++] = (struct loss){ begin, n->time, n->cpu };
	}
}

void losses_add_event(struct losses *l, const struct gprof_trace_event *ev)
{
	apply_metadata(l, ev->time);
	if (ev->kind == GPROF_TRACE_SYNC) {
		metadata_generation(&l->metadata);
		return;
	}
	if (!l->first)
		l->first = ev->time;
	/* A sample comes when it comes. */
	if (ev->thread >= 0 && ev->thread < METADATA_CPUS_MAX &&
	    ev->kind != GPROF_TRACE_STACK_SAMPLE && !metadata_is_status(ev) &&
	    !metadata_is_call(ev))
		*last_of(l, (size_t)ev->thread) = ev->time;
}

static int by_begin(const void *pa, const void *pb)
{
	const struct loss *a = pa, *b = pb;

	if (a->begin != b->begin)
		return a->begin < b->begin ? -1 : 1;
	return a->cpu < b->cpu ? -1 : a->cpu > b->cpu;
}

void losses_found(struct losses *l)
{
	apply_metadata(l, INT64_MAX);
	if (l->nr)
		qsort(l->all, l->nr, sizeof(*l->all), by_begin);
	l->next = 0;
}

const struct loss *losses_before(struct losses *l, int64_t time)
{
	return l->next < l->nr && l->all[l->next].begin < time ? &l->all[l->next++] : NULL;
}

void losses_free(struct losses *l)
{
	metadata_free(&l->metadata);
	free(l->last);
	free(l->all);
}
