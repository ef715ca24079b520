/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * trace_users.h: counts of a trace's events by the user of their tasks.
 *
 * An event is of the task that ran, or, where that is none, of the task that it is about. The
 * users of tasks are those that the kernel has told with their names.
 */
#ifndef GPROF_TRACE_USERS_H
#define GPROF_TRACE_USERS_H

#include <gprof/trace_write.h>
#include <linux/gprof.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/table.h"

struct gprof_trace_user {
	uint32_t uid;
	uint64_t events;
};

/**
 * struct gprof_trace_users - users, and how many events each has
 * @of_task: by a task's id: its user's index
 * @of_uid: by a user's id: its index
 * @v: users
 * @nr: how many
 * @cap: room in @v
 * @events: of all, and of tasks whose user is not known
 */
struct gprof_trace_users {
	struct gprof_map64 of_task;
	struct gprof_map64 of_uid;
	struct gprof_trace_user *v;
	size_t nr;
	size_t cap;
	uint64_t events;
};

void gprof_trace_users_init(struct gprof_trace_users *u);
void gprof_trace_users_free(struct gprof_trace_users *u);
/** gprof_trace_users_name() - a task has told its name; 0 or -ENOMEM */
int gprof_trace_users_name(struct gprof_trace_users *u, const struct gprof_task_rec *rec);
void gprof_trace_users_count(struct gprof_trace_users *u, const struct gprof_trace_point *p,
			     size_t nr);
/** gprof_trace_users_most() - the user with the most events, or NULL where none is known */
const struct gprof_trace_user *gprof_trace_users_most(const struct gprof_trace_users *u);

#endif /* GPROF_TRACE_USERS_H */
