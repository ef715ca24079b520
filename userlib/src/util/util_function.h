/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * util_function.h: utilization functions that grow as a trace is read.
 */
#ifndef GPROF_UTIL_FUNCTION_H
#define GPROF_UTIL_FUNCTION_H

#include <stddef.h>
#include <gprof/utilization.h>

#include "base/table.h"

/**
 * struct gprof_util_set - some functions
 * @budget: of which all of this is taken
 * @functions: public view; gprof_util_set_seal() fills in their changes
 * @cap: room in @functions
 * @nr: how many
 * @changes: of each
 * @changes_cap: room in @changes
 */
struct gprof_util_set {
	struct gprof_budget *budget;
	struct gprof_util_function *functions;
	size_t cap;
	size_t nr;
	struct gprof_util_changes {
		struct gprof_util_change *v;
		size_t nr;
		size_t cap;
	} *changes;
	size_t changes_cap;
};

void gprof_util_set_free(struct gprof_util_set *set);

/** gprof_util_set_add() - begin a function with utilization 1; 0 or -ENOMEM */
int gprof_util_set_add(struct gprof_util_set *set, int64_t id, int64_t time);

/** gprof_util_set_last() - utilization that a function has now */
double gprof_util_set_last(const struct gprof_util_set *set, size_t function);

/**
 * gprof_util_set_change() - the utilization is @util from @time on
 *
 * Of several at one time the lowest holds until a later time: then the caller
 * has to say the utilization again, as it does not change by itself.
 *
 * Return: 0 or -ENOMEM.
 */
int gprof_util_set_change(struct gprof_util_set *set, size_t function, int64_t time,
			  double util);

/** gprof_util_set_put() - likewise, in place of a value at that time; 0 or -ENOMEM */
int gprof_util_set_put(struct gprof_util_set *set, size_t function, int64_t time, double util);

/** gprof_util_set_end() - a function ends, also where it was 0 before; 0 or -ENOMEM */
int gprof_util_set_end(struct gprof_util_set *set, size_t function, int64_t time);

/** gprof_util_set_seal() - nothing will be added any more */
void gprof_util_set_seal(struct gprof_util_set *set);

#endif /* GPROF_UTIL_FUNCTION_H */
