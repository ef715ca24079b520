/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * trace_points.h: points that wait for their generation to be written.
 *
 * They come a ring and a piece at a time, each of which is in order. So they make few runs,
 * or one, and are sorted by merging these: points of the same time stay in the order of
 * their arrival.
 */
#ifndef GPROF_TRACE_POINTS_H
#define GPROF_TRACE_POINTS_H

#include <gprof/trace_write.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct gprof_trace_points - points
 * @p: them, in @all
 * @nr: how many
 * @all: their memory, which begins with dropped ones
 * @cap: room in it
 * @unsorted: they are not in the order of their times
 * @merged: where they are sorted to
 * @cap_merged: its room
 */
struct gprof_trace_points {
	struct gprof_trace_point *p;
	size_t nr;
	struct gprof_trace_point *all;
	size_t cap;
	bool unsorted;
	struct gprof_trace_point *merged;
	size_t cap_merged;
};

void gprof_trace_points_free(struct gprof_trace_points *t);
/** gprof_trace_points_room() - place for so many more, or NULL */
struct gprof_trace_point *gprof_trace_points_room(struct gprof_trace_points *t, size_t nr);
/** gprof_trace_points_added() - so many are there, in order of each other */
void gprof_trace_points_added(struct gprof_trace_points *t, size_t nr);
/** gprof_trace_points_sort() - by time; 0 or -ENOMEM */
int gprof_trace_points_sort(struct gprof_trace_points *t);
/** gprof_trace_points_before() - how many, of sorted ones, are of before @time */
size_t gprof_trace_points_before(const struct gprof_trace_points *t, uint64_t time);
/** gprof_trace_points_drop() - let go of the first @nr */
void gprof_trace_points_drop(struct gprof_trace_points *t, size_t nr);

/** gprof_trace_points_bytes() - memory of those that wait */
static inline uint64_t gprof_trace_points_bytes(const struct gprof_trace_points *t)
{
	return t->cap * sizeof(*t->p);
}

#endif /* GPROF_TRACE_POINTS_H */
