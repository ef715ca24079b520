/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * util_group.h: a utilization function for each group of tasks: that share of those that want a
 * processor from which nothing keeps it; 1 while none wants one.
 */
#ifndef GPROF_UTIL_GROUP_H
#define GPROF_UTIL_GROUP_H

#include "base/table.h"
#include "util_function.h"

/**
 * struct gprof_util_group - a group that has tasks
 * @id: its number
 * @function: its function
 * @members: tasks that exist
 * @wants: of them that want a processor
 * @held: of these from which it is kept
 */
struct gprof_util_group {
	int64_t id;
	size_t function;
	uint32_t members;
	uint32_t wants;
	uint32_t held;
};

/**
 * struct gprof_util_groups - all groups
 * @budget: of which all of this is taken
 * @v: groups, and places of those that are over
 * @cap: room in @v
 * @nr: how many
 * @by_id: number of a group to its place in @v
 * @free: places in @v that are free
 * @free_cap: room in it
 * @nr_free: how many
 */
struct gprof_util_groups {
	struct gprof_budget *budget;
	struct gprof_util_group *v;
	size_t cap;
	size_t nr;
	struct gprof_map64 by_id;
	uint32_t *free;
	size_t free_cap;
	size_t nr_free;
};

void gprof_util_groups_init(struct gprof_util_groups *g, struct gprof_budget *budget);
void gprof_util_groups_free(struct gprof_util_groups *g);

/**
 * gprof_util_group_join() - a group has one task more, which wants nothing
 * @g: groups
 * @set: their functions
 * @id: of the group, which begins with its first task
 * @time: when
 * @place: gets its place, as long as the task is in it
 *
 * Return: 0 or -ENOMEM.
 */
int gprof_util_group_join(struct gprof_util_groups *g, struct gprof_util_set *set, int64_t id,
			  int64_t time, uint32_t *place);

/** gprof_util_group_leave() - one less, which @wants no more; it ends with its last; 0 or -ENOMEM */
int gprof_util_group_leave(struct gprof_util_groups *g, struct gprof_util_set *set,
			   uint32_t place, int64_t time);

/** gprof_util_group_put() - say how a group is since its counts changed; 0 or -ENOMEM */
int gprof_util_group_put(struct gprof_util_groups *g, struct gprof_util_set *set, uint32_t place,
			 int64_t time);

/** gprof_util_groups_end() - the trace has ended; 0 or -ENOMEM */
int gprof_util_groups_end(struct gprof_util_groups *g, struct gprof_util_set *set, int64_t time);

#endif /* GPROF_UTIL_GROUP_H */
