// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * trace_users.c: counts of a trace's events by the user of their tasks.
 */
#include "trace_users.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void gprof_trace_users_init(struct gprof_trace_users *u)
{
	memset(u, 0, sizeof(*u));
	gprof_map64_init(&u->of_task);
	gprof_map64_init(&u->of_uid);
}

void gprof_trace_users_free(struct gprof_trace_users *u)
{
	gprof_map64_free(&u->of_task);
	gprof_map64_free(&u->of_uid);
	free(u->v);
	memset(u, 0, sizeof(*u));
}

static int add(struct gprof_trace_users *u, uint32_t uid, uint32_t *index)
{
	int err = gprof_grow(&u->v, &u->cap, u->nr + 1, sizeof(*u->v));

	if (!err)
		err = gprof_map64_put(&u->of_uid, uid, (uint32_t)u->nr);
	if (err)
		return err;
	*index = (uint32_t)u->nr++;
	u->v[*index] = (struct gprof_trace_user){ .uid = uid };
	return 0;
}

int gprof_trace_users_name(struct gprof_trace_users *u, const struct gprof_task_rec *rec)
{
	uint32_t index = gprof_map64_get(&u->of_uid, rec->uid);
	int err = 0;

	if (!(rec->rec.flags & GPROF_TASK_REC_F_UID))
		return 0;
	if (index == GPROF_NONE)
		err = add(u, rec->uid, &index);
	return err ? err : gprof_map64_put(&u->of_task, rec->tid, index);
}

static bool is_task(uint32_t tid)
{
	return tid && tid < GPROF_TRACE_TIDS;
}

/* The task that an event is of: the one that ran, or the one that it names. */
static uint32_t task_of(const struct gprof_trace_point *p)
{
	bool names = p->type == GPROF_TRACE_POINT_SWITCH || p->type == GPROF_TRACE_POINT_WAKING;

	return is_task(p->tid) || !names ? p->tid : p->other;
}

static void count(struct gprof_trace_users *u, uint32_t tid, uint64_t events)
{
	uint32_t index = events ? gprof_map64_get(&u->of_task, tid) : GPROF_NONE;

	u->events += events;
	if (index != GPROF_NONE)
		u->v[index].events += events;
}

void gprof_trace_users_count(struct gprof_trace_users *u, const struct gprof_trace_point *p,
			     size_t nr)
{
	uint64_t events = 0;
	uint32_t tid = 0;
	size_t i;

	/* Mostly many events in a row are of one task. */
	for (i = 0; i < nr; i++) {
		uint32_t of = task_of(&p[i]);

		if (of != tid) {
			count(u, tid, events);
			tid = of;
			events = 0;
		}
		/* Neither is an event. */
		events += p[i].type != GPROF_TRACE_POINT_RUNNING &&
			  p[i].type != GPROF_TRACE_POINT_LOST;
	}
	count(u, tid, events);
}

const struct gprof_trace_user *gprof_trace_users_most(const struct gprof_trace_users *u)
{
	const struct gprof_trace_user *most = NULL;
	size_t i;

	for (i = 0; i < u->nr; i++)
		if (u->v[i].events && (!most || u->v[i].events > most->events))
			most = &u->v[i];
	return most;
}
