/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * trace_state.h: state of goroutines, procs, threads and tasks at one point of a trace. It lives
 * through generations, unlike all that has an id in a dictionary.
 */
#ifndef GPROF_TRACE_STATE_H
#define GPROF_TRACE_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "trace_ids.h"
#include "trace_memory.h"
#include "trace_names.h"

/* A user region that has begun. */
struct gprof_trace_region {
	uint64_t task;
	struct gprof_trace_name *name;
};

/* A stop of the world that has begun. @id: of the string that names it. */
struct gprof_trace_stop {
	uint64_t id;
	struct gprof_trace_name *name;
};

/* State that few goroutines have. */
struct gprof_trace_go_more {
	struct gprof_trace_region *regions;
	size_t nr_regions;
	size_t cap_regions;
	struct gprof_trace_stop *stops;
	size_t nr_stops;
	size_t cap_stops;
};

/**
 * struct gprof_trace_go - a goroutine
 * @id: or -1 when the place is free
 * @seq: sequence number of its last event that has one
 * @generation: in which that counts
 * @more: or NULL
 * @status: enum gprof_trace_go_status
 * @assist: is it in a mark assist?
 */
struct gprof_trace_go {
	int64_t id;
	uint64_t seq;
	uint64_t generation;
	struct gprof_trace_go_more *more;
	uint8_t status;
	bool assist;
};

/**
 * struct gprof_trace_proc - a proc
 * @id: of it
 * @seq: sequence number of its last event that has one
 * @generation: in which that counts
 * @status: enum gprof_trace_proc_status
 * @sweep: is it sweeping?
 */
struct gprof_trace_proc {
	int64_t id;
	uint64_t seq;
	uint64_t generation;
	uint8_t status;
	bool sweep;
};

/**
 * struct gprof_trace_m - a thread
 * @id: of it
 * @go: id of the goroutine on it, or -1
 * @proc: id of the proc it has, or -1
 * @go_at: where @go probably is
 * @proc_at: where @proc is; procs stay
 */
struct gprof_trace_m {
	int64_t id;
	int64_t go;
	int64_t proc;
	uint32_t go_at;
	uint32_t proc_at;
};

/* A user task that has begun. */
struct gprof_trace_task {
	uint64_t parent;
	struct gprof_trace_name *name;
	uint32_t next_free;
};

/**
 * struct gprof_trace_state - all of them
 * @memory: that they are taken from
 * @gos: goroutines, by number
 * @go_ids: id to number
 * @free_gos: numbers of places that are free
 * @procs: likewise
 * @ms: likewise
 * @tasks: likewise
 * @free_task: first place of @tasks that is free
 */
struct gprof_trace_state {
	struct gprof_trace_memory *memory;
	struct gprof_trace_go *gos;
	size_t nr_gos;
	size_t cap_gos;
	struct gprof_trace_ids go_ids;
	uint32_t *free_gos;
	size_t nr_free_gos;
	size_t cap_free_gos;
	struct gprof_trace_proc *procs;
	size_t nr_procs;
	size_t cap_procs;
	struct gprof_trace_ids proc_ids;
	struct gprof_trace_m *ms;
	size_t nr_ms;
	size_t cap_ms;
	struct gprof_trace_ids m_ids;
	struct gprof_trace_task *tasks;
	size_t nr_tasks;
	size_t cap_tasks;
	struct gprof_trace_ids task_ids;
	uint32_t free_task;
};

void gprof_trace_state_init(struct gprof_trace_state *s, struct gprof_trace_memory *m);
void gprof_trace_state_free(struct gprof_trace_state *s);

/* The _add functions return the number of the new entry, or GPROF_NONE with errno. */
uint32_t gprof_trace_go_add(struct gprof_trace_state *s, int64_t id, uint8_t status,
			    uint64_t generation);
/** gprof_trace_go_remove() - it is gone, with its regions and stops */
void gprof_trace_go_remove(struct gprof_trace_state *s, uint32_t n);
uint32_t gprof_trace_proc_add(struct gprof_trace_state *s, int64_t id, uint8_t status,
			      uint64_t generation);
uint32_t gprof_trace_m_add(struct gprof_trace_state *s, int64_t id);
struct gprof_trace_task *gprof_trace_task_add(struct gprof_trace_state *s, uint64_t id);
/** gprof_trace_task_remove() - it is gone; its name is the caller's */
void gprof_trace_task_remove(struct gprof_trace_state *s, uint64_t id);
/** gprof_trace_go_more() - room for regions and stops, or NULL with errno */
struct gprof_trace_go_more *gprof_trace_go_more(struct gprof_trace_state *s,
						struct gprof_trace_go *go);

/* The _find functions give NULL when there is none. */
static inline struct gprof_trace_go *gprof_trace_go_find(const struct gprof_trace_state *s,
							 int64_t id)
{
	uint32_t n = gprof_trace_ids_get(&s->go_ids, (uint64_t)id);

	return n == GPROF_NONE ? NULL : &s->gos[n];
}

static inline struct gprof_trace_proc *gprof_trace_proc_find(const struct gprof_trace_state *s,
							     int64_t id)
{
	uint32_t n = gprof_trace_ids_get(&s->proc_ids, (uint64_t)id);

	return n == GPROF_NONE ? NULL : &s->procs[n];
}

static inline struct gprof_trace_m *gprof_trace_m_find(const struct gprof_trace_state *s,
						       int64_t id)
{
	uint32_t n = gprof_trace_ids_get(&s->m_ids, (uint64_t)id);

	return n == GPROF_NONE ? NULL : &s->ms[n];
}

static inline struct gprof_trace_task *gprof_trace_task_find(const struct gprof_trace_state *s,
							     uint64_t id)
{
	uint32_t n = gprof_trace_ids_get(&s->task_ids, id);

	return n == GPROF_NONE ? NULL : &s->tasks[n];
}

/** gprof_trace_go_on() - the goroutine on a thread, or NULL */
static inline struct gprof_trace_go *gprof_trace_go_on(const struct gprof_trace_state *s,
						       const struct gprof_trace_m *m)
{
	if (m->go == GPROF_TRACE_NONE)
		return NULL;
	if (m->go_at < s->nr_gos && s->gos[m->go_at].id == m->go)
		return &s->gos[m->go_at];
	/* It ended on another thread, or was made anew elsewhere. */
	return gprof_trace_go_find(s, m->go);
}

/** gprof_trace_proc_on() - the proc that a thread has, or NULL */
static inline struct gprof_trace_proc *gprof_trace_proc_on(const struct gprof_trace_state *s,
							   const struct gprof_trace_m *m)
{
	return m->proc == GPROF_TRACE_NONE ? NULL : &s->procs[m->proc_at];
}

static inline uint32_t gprof_trace_go_number(const struct gprof_trace_state *s,
					     const struct gprof_trace_go *go)
{
	return (uint32_t)(go - s->gos);
}

static inline uint32_t gprof_trace_proc_number(const struct gprof_trace_state *s,
					       const struct gprof_trace_proc *p)
{
	return (uint32_t)(p - s->procs);
}

#endif /* GPROF_TRACE_STATE_H */
