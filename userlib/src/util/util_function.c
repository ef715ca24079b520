// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * util_function.c: utilization functions that grow as a trace is read.
 */
#include "util_function.h"

#include <errno.h>
#include <stdlib.h>

/* Overhead of an allocation. */
#define MALLOC_COST	16

void gprof_util_set_free(struct gprof_util_set *set)
{
	size_t i;

	for (i = 0; i < set->nr; i++)
		free(set->changes[i].v);
	free(set->changes);
	free(set->functions);
	*set = (struct gprof_util_set){ NULL };
}

int gprof_util_set_add(struct gprof_util_set *set, int64_t id, int64_t time)
{
	struct gprof_util_changes changes = { NULL };
	int ret = gprof_grow_within(set->budget, &set->functions, &set->cap, set->nr + 1,
				    sizeof(*set->functions));

	if (!ret)
		ret = gprof_grow_within(set->budget, &set->changes, &set->changes_cap, set->nr + 1,
					sizeof(*set->changes));
	if (!ret)
		ret = gprof_budget_charge(set->budget, 2 * sizeof(*changes.v) + MALLOC_COST);
	if (!ret) {
		/* Most tasks never wait: room for a begin and an end. */
		changes.v = malloc(2 * sizeof(*changes.v));
		if (!changes.v)
			ret = -ENOMEM;
	}
	if (ret)
		return ret;
	changes.v[0] = (struct gprof_util_change){ time, 1 };
	changes.nr = 1;
	changes.cap = 2;
	set->changes[set->nr] = changes;
	set->functions[set->nr++].id = id;
	return 0;
}

double gprof_util_set_last(const struct gprof_util_set *set, size_t function)
{
	const struct gprof_util_changes *c = &set->changes[function];

	return c->v[c->nr - 1].util;
}

static int append(struct gprof_util_set *set, struct gprof_util_changes *c, int64_t time,
		  double util)
{
	int ret = gprof_grow_within(set->budget, &c->v, &c->cap, c->nr + 1, sizeof(*c->v));

	if (!ret)
		c->v[c->nr++] = (struct gprof_util_change){ time, util };
	return ret;
}

int gprof_util_set_change(struct gprof_util_set *set, size_t function, int64_t time, double util)
{
	struct gprof_util_changes *c = &set->changes[function];
	struct gprof_util_change *last = &c->v[c->nr - 1];

	if (util == last->util)
		return 0;
	if (time == last->time) {
		if (util < last->util)
			last->util = util;
		return 0;
	}
	return append(set, c, time, util);
}

int gprof_util_set_put(struct gprof_util_set *set, size_t function, int64_t time, double util)
{
	struct gprof_util_changes *c = &set->changes[function];
	struct gprof_util_change *last = &c->v[c->nr - 1];

	if (util == last->util)
		return 0;
	if (time != last->time)
		return append(set, c, time, util);
	last->util = util;
	/* It was otherwise for no time at all. */
	if (c->nr > 1 && last[-1].util == util)
		c->nr--;
	return 0;
}

int gprof_util_set_end(struct gprof_util_set *set, size_t function, int64_t time)
{
	struct gprof_util_changes *c = &set->changes[function];

	if (time != c->v[c->nr - 1].time)
		return append(set, c, time, 0);
	c->v[c->nr - 1].util = 0;
	return 0;
}

void gprof_util_set_seal(struct gprof_util_set *set)
{
	size_t i;

	for (i = 0; i < set->nr; i++) {
		set->functions[i].changes = set->changes[i].v;
		set->functions[i].nr = set->changes[i].nr;
	}
}
