// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * lock_waits.c: which release of a lock is to blame for which part of a wait.
 */
#include "lock_waits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"

void gprof_lock_waits_free(struct gprof_lock_waits *l)
{
	free(l->v);
	l->v = NULL;
	l->nr = l->cap = 0;
}

int gprof_lock_waits_note(struct gprof_lock_waits *l, const struct gprof_lock_wait *wait)
{
	if (gprof_grow(&l->v, &l->cap, l->nr + 1, sizeof(*l->v)))
		return -ENOMEM;
	l->v[l->nr++] = *wait;
	return 0;
}

static int compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int compare_locks(const struct gprof_lock_wait *a, const struct gprof_lock_wait *b)
{
	int order = compare(a->addr, b->addr);

	return order ? order : memcmp(&a->process, &b->process, sizeof(a->process));
}

/* Lock by lock; of each, in the order of the ends. */
static int by_end(const void *x, const void *y)
{
	const struct gprof_lock_wait *a = x, *b = y;
	int order = compare_locks(a, b);

	return order ? order : compare(a->to, b->to);
}

static int by_begin(const void *x, const void *y)
{
	return compare((*(const struct gprof_lock_wait *const *)x)->from,
		       (*(const struct gprof_lock_wait *const *)y)->from);
}

/*
 * The waits of one lock, of which @order is room. At each instant there are waits of @weight in
 * all, and the sum of the times from which on they are not yet charged is @since: so a release is
 * charged with @weight * now - @since, however many wait. Both may wrap; the difference does not.
 */
static void divide(const struct gprof_lock_wait *v, size_t nr, const struct gprof_lock_wait **order,
		   void (*move)(void *ctx, uint32_t count, int64_t ns), void *ctx)
{
	uint64_t weight = 0, since = 0, released = 0;
	size_t i, begun = 0;

	for (i = 0; i < nr; i++)
		order[i] = &v[i];
	qsort(order, nr, sizeof(*order), by_begin);
	for (i = 0; i < nr; i++) {
		const struct gprof_lock_wait *w = &v[i];
		uint64_t own, charge;

		for (; begun < nr && order[begun]->from <= w->to; begun++) {
			weight += order[begun]->weight;
			since += order[begun]->weight * order[begun]->from;
		}
		own = w->from > released ? w->from : released;
		charge = w->release ? weight * w->to - since : w->weight * (w->to - own);
		move(ctx, w->count, (int64_t)(charge - w->weight * (w->to - w->from)));
		if (w->release) {
			since = weight * w->to;
			own = released = w->to;
		}
		weight -= w->weight;
		since -= w->weight * own;
	}
}

int gprof_lock_waits_divide(struct gprof_lock_waits *l,
			    void (*move)(void *ctx, uint32_t count, int64_t ns), void *ctx)
{
	const struct gprof_lock_wait **order = malloc((l->nr + 1) * sizeof(*order));
	size_t i, first = 0;

	if (!order)
		return -ENOMEM;
	qsort(l->v, l->nr, sizeof(*l->v), by_end);
	for (i = 1; i <= l->nr; i++) {
		if (i < l->nr && !compare_locks(&l->v[first], &l->v[i]))
			continue;
		divide(&l->v[first], i - first, order, move, ctx);
		first = i;
	}
	free(order);
	gprof_lock_waits_free(l);
	return 0;
}
