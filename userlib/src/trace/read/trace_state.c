// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * trace_state.c: state of goroutines, procs, threads and tasks.
 */
#include "trace_state.h"

#include <errno.h>
#include <string.h>

void gprof_trace_state_init(struct gprof_trace_state *s, struct gprof_trace_memory *m)
{
	memset(s, 0, sizeof(*s));
	s->memory = m;
	s->free_task = GPROF_NONE;
	gprof_trace_ids_init(m, &s->go_ids);
	gprof_trace_ids_init(m, &s->proc_ids);
	gprof_trace_ids_init(m, &s->m_ids);
	gprof_trace_ids_init(m, &s->task_ids);
}

static void free_more(struct gprof_trace_memory *m, struct gprof_trace_go *go)
{
	struct gprof_trace_go_more *more = go->more;

	if (!more)
		return;
	while (more->nr_regions)
		gprof_trace_name_drop(m, more->regions[--more->nr_regions].name);
	while (more->nr_stops)
		gprof_trace_name_drop(m, more->stops[--more->nr_stops].name);
	gprof_trace_release(m, more->regions, more->cap_regions * sizeof(*more->regions));
	gprof_trace_release(m, more->stops, more->cap_stops * sizeof(*more->stops));
	gprof_trace_release(m, more, sizeof(*more));
	go->more = NULL;
}

void gprof_trace_state_free(struct gprof_trace_state *s)
{
	struct gprof_trace_memory *m = s->memory;
	size_t i;

	if (!m)
		return;
	for (i = 0; i < s->nr_gos; i++)
		free_more(m, &s->gos[i]);
	for (i = 0; i < s->nr_tasks; i++)
		gprof_trace_name_drop(m, s->tasks[i].name);
	gprof_trace_release(m, s->gos, s->cap_gos * sizeof(*s->gos));
	gprof_trace_release(m, s->free_gos, s->cap_free_gos * sizeof(*s->free_gos));
	gprof_trace_release(m, s->procs, s->cap_procs * sizeof(*s->procs));
	gprof_trace_release(m, s->ms, s->cap_ms * sizeof(*s->ms));
	gprof_trace_release(m, s->tasks, s->cap_tasks * sizeof(*s->tasks));
	gprof_trace_ids_free(m, &s->go_ids);
	gprof_trace_ids_free(m, &s->proc_ids);
	gprof_trace_ids_free(m, &s->m_ids);
	gprof_trace_ids_free(m, &s->task_ids);
	memset(s, 0, sizeof(*s));
}

static uint32_t failed(int err)
{
	errno = -err;
	return GPROF_NONE;
}

uint32_t gprof_trace_go_add(struct gprof_trace_state *s, int64_t id, uint8_t status,
			    uint64_t generation)
{
	bool reuse = s->nr_free_gos;
	uint32_t n = reuse ? s->free_gos[s->nr_free_gos - 1] : (uint32_t)s->nr_gos;
	int err = 0;

	if (!reuse)
		err = gprof_trace_grow(s->memory, &s->gos, &s->cap_gos, s->nr_gos + 1,
				       sizeof(*s->gos));
	/* Room to note that it is free again, so that its end cannot fail. */
	if (!err)
		err = gprof_trace_grow(s->memory, &s->free_gos, &s->cap_free_gos, s->cap_gos,
				       sizeof(*s->free_gos));
	if (!err)
		err = gprof_trace_ids_put(s->memory, &s->go_ids, (uint64_t)id, n);
	if (err)
		return failed(err);
	if (reuse)
		s->nr_free_gos--;
	else
		s->nr_gos++;
	s->gos[n] = (struct gprof_trace_go){
		.id = id,
		.generation = generation,
		.status = status,
	};
	return n;
}

void gprof_trace_go_remove(struct gprof_trace_state *s, uint32_t n)
{
	struct gprof_trace_go *go = &s->gos[n];

	gprof_trace_ids_remove(&s->go_ids, (uint64_t)go->id);
	free_more(s->memory, go);
	go->id = GPROF_TRACE_NONE;
	s->free_gos[s->nr_free_gos++] = n;
}

uint32_t gprof_trace_proc_add(struct gprof_trace_state *s, int64_t id, uint8_t status,
			      uint64_t generation)
{
	uint32_t n = (uint32_t)s->nr_procs;
	int err = gprof_trace_grow(s->memory, &s->procs, &s->cap_procs, s->nr_procs + 1,
				   sizeof(*s->procs));

	if (!err)
		err = gprof_trace_ids_put(s->memory, &s->proc_ids, (uint64_t)id, n);
	if (err)
		return failed(err);
	s->procs[s->nr_procs++] = (struct gprof_trace_proc){
		.id = id,
		.generation = generation,
		.status = status,
	};
	return n;
}

uint32_t gprof_trace_m_add(struct gprof_trace_state *s, int64_t id)
{
	uint32_t n = (uint32_t)s->nr_ms;
	int err = gprof_trace_grow(s->memory, &s->ms, &s->cap_ms, s->nr_ms + 1, sizeof(*s->ms));

	if (!err)
		err = gprof_trace_ids_put(s->memory, &s->m_ids, (uint64_t)id, n);
	if (err)
		return failed(err);
	s->ms[s->nr_ms++] = (struct gprof_trace_m){
		.id = id,
		.go = GPROF_TRACE_NONE,
		.proc = GPROF_TRACE_NONE,
		.go_at = GPROF_NONE,
		.proc_at = GPROF_NONE,
	};
	return n;
}

struct gprof_trace_task *gprof_trace_task_add(struct gprof_trace_state *s, uint64_t id)
{
	uint32_t n = s->free_task != GPROF_NONE ? s->free_task : (uint32_t)s->nr_tasks;
	int err = 0;

	if (n == s->nr_tasks)
		err = gprof_trace_grow(s->memory, &s->tasks, &s->cap_tasks, s->nr_tasks + 1,
				       sizeof(*s->tasks));
	if (!err)
		err = gprof_trace_ids_put(s->memory, &s->task_ids, id, n);
	if (err) {
		errno = -err;
		return NULL;
	}
	if (n == s->nr_tasks)
		s->nr_tasks++;
	else
		s->free_task = s->tasks[n].next_free;
	memset(&s->tasks[n], 0, sizeof(s->tasks[n]));
	return &s->tasks[n];
}

void gprof_trace_task_remove(struct gprof_trace_state *s, uint64_t id)
{
	uint32_t n = gprof_trace_ids_get(&s->task_ids, id);

	gprof_trace_ids_remove(&s->task_ids, id);
	s->tasks[n].name = NULL;
	s->tasks[n].next_free = s->free_task;
	s->free_task = n;
}

struct gprof_trace_go_more *gprof_trace_go_more(struct gprof_trace_state *s,
						struct gprof_trace_go *go)
{
	if (!go->more) {
		go->more = gprof_trace_alloc(s->memory, sizeof(*go->more));
		if (go->more)
			memset(go->more, 0, sizeof(*go->more));
	}
	return go->more;
}
