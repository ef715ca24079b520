// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * util_group.c: a utilization function for each group of tasks.
 *
 * A value that lasts for no time, as while one task of the group hands a CPU to another, is left
 * out.
 */
#include "util_group.h"

#include <stdlib.h>

void gprof_util_groups_init(struct gprof_util_groups *g, struct gprof_budget *budget)
{
	*g = (struct gprof_util_groups){ .budget = budget };
	gprof_map64_init(&g->by_id);
	g->by_id.budget = budget;
}

void gprof_util_groups_free(struct gprof_util_groups *g)
{
	free(g->v);
	gprof_map64_free(&g->by_id);
	free(g->free);
}

/* Room is made for all that can ever be free, so that nothing fails when one ends. */
static int new_place(struct gprof_util_groups *g, uint32_t *place)
{
	int ret;

	if (g->nr_free) {
		*place = g->free[--g->nr_free];
		return 0;
	}
	ret = gprof_grow_within(g->budget, &g->v, &g->cap, g->nr + 1, sizeof(*g->v));
	if (!ret)
		ret = gprof_grow_within(g->budget, &g->free, &g->free_cap, g->nr + 1,
					sizeof(*g->free));
	if (!ret)
		*place = (uint32_t)g->nr++;
	return ret;
}

int gprof_util_group_join(struct gprof_util_groups *g, struct gprof_util_set *set, int64_t id,
			  int64_t time, uint32_t *place)
{
	int ret;

	*place = gprof_map64_get(&g->by_id, (uint64_t)id);
	if (*place != GPROF_NONE) {
		g->v[*place].members++;
		return 0;
	}
	ret = new_place(g, place);
	if (ret)
		return ret;
	g->v[*place] = (struct gprof_util_group){ .id = id, .members = 1 };
	ret = gprof_util_set_add(set, id, time);
	if (!ret) {
		g->v[*place].function = set->nr - 1;
		ret = gprof_map64_put(&g->by_id, (uint64_t)id, *place);
	}
	return ret;
}

static double util_of(const struct gprof_util_group *group)
{
	return group->wants ? 1 - (double)group->held / group->wants : 1;
}

int gprof_util_group_put(struct gprof_util_groups *g, struct gprof_util_set *set, uint32_t place,
			 int64_t time)
{
	const struct gprof_util_group *group = &g->v[place];

	return gprof_util_set_put(set, group->function, time, util_of(group));
}

int gprof_util_group_leave(struct gprof_util_groups *g, struct gprof_util_set *set,
			   uint32_t place, int64_t time)
{
	struct gprof_util_group *group = &g->v[place];

	if (--group->members)
		return gprof_util_group_put(g, set, place, time);
	/* The key is there: it cannot fail. */
	gprof_map64_put(&g->by_id, (uint64_t)group->id, GPROF_NONE);
	g->free[g->nr_free++] = place;
	return gprof_util_set_end(set, group->function, time);
}

int gprof_util_groups_end(struct gprof_util_groups *g, struct gprof_util_set *set, int64_t time)
{
	size_t i;
	int ret = 0;

	for (i = 0; i < g->nr && !ret; i++)
		if (g->v[i].members)
			ret = gprof_util_set_end(set, g->v[i].function, time);
	return ret;
}
