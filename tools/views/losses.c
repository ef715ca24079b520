// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where events of a trace of the host are missing.
 */
#include "losses.h"

#include <stdlib.h>

#include "cli/say.h"

void losses_take(struct losses *l, const struct gprof_trace_batch *batch)
{
	own_take(&l->own, batch);
}

static int64_t *last_of(struct losses *l, size_t cpu)
{
	for (; l->nr_cpus <= cpu; l->nr_cpus++) {
		l->last = xgrow(l->last, l->nr_cpus, &l->room_cpus, sizeof(*l->last));
		l->last[l->nr_cpus] = 0;
	}
	return &l->last[cpu];
}

static void take_notes(struct losses *l, int64_t time)
{
	const struct own_note *n;

	while ((n = own_until(&l->own, time))) {
		int64_t begin = *last_of(l, n->cpu);

		if (!begin)
			begin = l->first;
		if (n->kind != OWN_LOST || begin >= n->time)
			continue;
		l->all = xgrow(l->all, l->nr, &l->room, sizeof(*l->all));
		l->all[l->nr++] = (struct loss){ begin, n->time, n->cpu };
	}
}

void losses_see(struct losses *l, const struct gprof_trace_event *ev)
{
	take_notes(l, ev->time);
	if (ev->kind == GPROF_TRACE_SYNC) {
		own_generation(&l->own);
		return;
	}
	if (!l->first)
		l->first = ev->time;
	/* A sample comes when it comes. */
	if (ev->thread >= 0 && ev->thread < OWN_CPUS_MAX &&
	    ev->kind != GPROF_TRACE_STACK_SAMPLE && !own_is_status(ev) && !own_is_call(ev))
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
	take_notes(l, INT64_MAX);
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
	own_free(&l->own);
	free(l->last);
	free(l->all);
}
