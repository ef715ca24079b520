// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * trace_model_run.c: points of CPUs to events of procs and goroutines, a generation at a time.
 */
#include "trace_model.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace_model_go.h"
#include "trace_model_region.h"
#include "trace_model_point.h"

int gprof_trace_model_init(struct gprof_trace_model *m, const struct gprof_trace_writer_opts *o)
{
	memset(m, 0, sizeof(*m));
	m->version = o->version;
	m->syscall = o->syscall;
	m->trigger = o->trigger;
	m->marker = GPROF_NONE;
	m->ctx = o->ctx;
	m->procs = o->cpus;
	m->procs_due = true;
	m->sample_period = o->sample_period;
	gprof_trace_memory_init(&m->memory, UINT64_MAX);
	gprof_trace_ids_init(&m->memory, &m->tids);
	gprof_trace_annotations_init(&m->notes);
	/* Half a MiB, of which only the pages that are used take any. */
	m->seen = calloc(GPROF_TRACE_TIDS / 8, 1);
	return m->seen ? 0 : -ENOMEM;
}

void gprof_trace_model_free(struct gprof_trace_model *m)
{
	size_t i;

	for (i = 0; i < m->nr_cpus; i++)
		gprof_trace_bytes_free(&m->cpus[i].body);
	gprof_trace_bytes_free(&m->samples);
	gprof_trace_bytes_free(&m->processes);
	gprof_trace_facts_free(&m->facts);
	for (i = 0; i < m->nr_tasks; i++)
		gprof_model_regions_free(&m->tasks[i]);
	gprof_trace_annotations_free(&m->notes);
	free(m->cpus);
	free(m->tasks);
	free(m->free);
	free(m->seen);
	gprof_trace_ids_free(&m->memory, &m->tids);
	memset(m, 0, sizeof(*m));
}

/* The statuses that a generation begins with: of all CPUs, and of their tasks. */
static void begin(struct gprof_trace_model *m)
{
	size_t i;

	for (i = 0; i < m->nr_cpus && !m->err; i++) {
		if (!m->cpus[i].known)
			continue;
		gprof_model_need_cpu(m, (uint32_t)i);
		if (m->cpus[i].task != GPROF_NONE)
			gprof_model_emit_status(m, (uint32_t)i, &m->tasks[m->cpus[i].task]);
	}
}

static bool names_task(const struct gprof_trace_point *p)
{
	return p->type == GPROF_TRACE_POINT_SWITCH || p->type == GPROF_TRACE_POINT_FORK ||
	       p->type == GPROF_TRACE_POINT_EXEC || p->type == GPROF_TRACE_POINT_ENTER ||
	       p->type == GPROF_TRACE_POINT_LEAVE || p->type == GPROF_TRACE_POINT_RUNNING ||
	       p->type == GPROF_TRACE_POINT_ANNOTATION;
}

static bool mark_seen(unsigned char *seen, uint32_t tid)
{
	bool was;

	if (!tid || tid == GPROF_TRACE_NO_TID)
		return true;
	was = seen[tid / 8] & 1U << tid % 8;
	seen[tid / 8] |= (unsigned char)(1U << tid % 8);
	return was;
}

/* At the start of the trace a CPU has the task that the first point there knows of. */
static void first_tasks(struct gprof_trace_model *m, const struct gprof_trace_point *points,
			size_t nr)
{
	unsigned char *seen = calloc(GPROF_TRACE_TIDS / 8, 1);
	unsigned char *cpus = calloc(GPROF_TRACE_CPUS / 8, 1);
	size_t i;

	if (!seen || !cpus)
		gprof_model_failed(m, -ENOMEM);
	for (i = 0; i < nr && !m->err; i++) {
		const struct gprof_trace_point *p = &points[i];
		uint32_t who = p->type == GPROF_TRACE_POINT_RUNNING ? p->other : p->tid;
		bool first, was;
		uint32_t n;

		if (!names_task(p))
			continue;
		first = !(cpus[p->cpu / 8] & 1U << p->cpu % 8);
		cpus[p->cpu / 8] |= (unsigned char)(1U << p->cpu % 8);
		was = mark_seen(seen, who);
		if (p->type == GPROF_TRACE_POINT_SWITCH || p->type == GPROF_TRACE_POINT_FORK)
			mark_seen(seen, p->other);
		if (gprof_model_add_cpu(m, p->cpu) || !first || was)
			continue;
		n = gprof_model_find(m, who);
		if (n == GPROF_NONE)
			n = gprof_model_add(m, who, GPROF_GO_RUNNING);
		if (n == GPROF_NONE)
			break;
		m->stats.tasks++;
		m->tasks[n].status = GPROF_GO_RUNNING;
		m->tasks[n].cpu = p->cpu;
		m->cpus[p->cpu].task = n;
		m->cpus[p->cpu].fresh = false;
		m->cpus[p->cpu].running = true;
	}
	free(seen);
	free(cpus);
}

/* One that nothing has happened to yet is kept until something does. */
static uint32_t find_or_add(struct gprof_trace_model *m, uint32_t tid)
{
	uint32_t n = gprof_model_find(m, tid);

	return n == GPROF_NONE ? gprof_model_add(m, tid, GPROF_GO_BAD) : n;
}

int gprof_trace_model_process(struct gprof_trace_model *m, uint32_t tid, uint32_t pid)
{
	uint32_t n = find_or_add(m, tid);

	if (n == GPROF_NONE)
		return m->err;
	m->tasks[n].pid = pid;
	return 0;
}

int gprof_trace_model_name(struct gprof_trace_model *m, uint32_t tid, const char *name)
{
	uint32_t n = find_or_add(m, tid);

	if (n == GPROF_NONE)
		return m->err;
	snprintf(m->tasks[n].name, sizeof(m->tasks[n].name), "%s", name);
	return 0;
}

int gprof_trace_model_run(struct gprof_trace_model *m, const struct gprof_trace_point *points,
			  size_t nr, struct gprof_trace_pool *pool,
			  struct gprof_trace_bytes *out)
{
	size_t i;

	m->pool = pool;
	m->out = out;
	m->generation++;
	memset(m->reasons, 0, sizeof(m->reasons));
	memset(m->calls, 0, sizeof(m->calls));
	memset(m->call_stacks, 0, sizeof(m->call_stacks));
	if (nr && points[0].time / GPROF_TRACE_UNIT_NS > m->now)
		m->now = points[0].time / GPROF_TRACE_UNIT_NS;
	if (m->generation == 1)
		first_tasks(m, points, nr);
	begin(m);
	gprof_model_points(m, points, nr);
	for (i = 0; i < m->nr_cpus && !m->err; i++)
		gprof_model_flush(m, (uint32_t)i);
	if (m->samples.nr)
		gprof_model_batch(m, GPROF_TRACE_NO_THREAD, m->now, &m->samples);
	if (m->processes.nr)
		gprof_model_failed(m, gprof_trace_facts_add(&m->facts, m->now, &m->processes));
	return m->err;
}
