// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * trace_model_annotation.c: annotations to the events of Go's format.
 */
#include "trace_model_annotation.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace_model_go.h"
#include "trace_model_region.h"

#define GPROF_LOG	"gprof: annotations"

static uint64_t mark(struct gprof_trace_model *m)
{
	return gprof_model_stack(m, GPROF_TRACE_NOTE_FRAME, 0);
}

static void put_region(struct gprof_trace_model *m, uint32_t cpu, unsigned char type,
		       uint64_t task, const char *name)
{
	EVENT(m, cpu, type, task, gprof_model_string(m, name), mark(m));
}

static void put_log(struct gprof_trace_model *m, uint32_t cpu, uint64_t task, const char *name,
		    const char *text)
{
	EVENT(m, cpu, GPROF_EV_USER_LOG, task, gprof_model_string(m, name),
	      gprof_model_string(m, text), mark(m));
}

/* Logs a repair. */
static void log_repair(struct gprof_trace_model *m, uint32_t cpu, uint64_t task, const char *name,
		       const char *what)
{
	char text[GPROF_ANNOTATE_NAME_MAX + 80];

	snprintf(text, sizeof(text), "region \"%s\" %s", name, what);
	put_log(m, cpu, task, GPROF_LOG, text);
}

static struct gprof_trace_model_task *task_on(struct gprof_trace_model *m, uint32_t cpu)
{
	return &m->tasks[m->cpus[cpu].task];
}

static void end_innermost(struct gprof_trace_model *m, uint32_t cpu,
			  struct gprof_trace_model_regions *r)
{
	struct gprof_trace_model_region *inner = &r->v[--r->nr];

	put_region(m, cpu, GPROF_EV_USER_REGION_END, inner->task, inner->name);
	free(inner->name);
}

void gprof_model_regions_end(struct gprof_trace_model *m, uint32_t cpu)
{
	struct gprof_trace_model_task *t = task_on(m, cpu);

	while (gprof_model_in_region(t))
		end_innermost(m, cpu, t->regions);
}

static void region_begin(struct gprof_trace_model *m, uint32_t cpu, uint64_t task,
			 const char *name)
{
	struct gprof_trace_model_task *t = task_on(m, cpu);
	struct gprof_trace_model_regions *r = t->regions;
	char *copy = strdup(name);

	if (!r)
		r = t->regions = calloc(1, sizeof(*r));
	if (!r || !copy) {
		free(copy);
		gprof_model_failed(m, -ENOMEM);
		return;
	}
	if (r->nr == GPROF_TRACE_REGIONS_MAX) {
		log_repair(
			m, cpu, task, name,
			"begins within 64 others, which end here, for their ends may have been lost");
		gprof_model_regions_end(m, cpu);
	}
	r->v[r->nr++] = (struct gprof_trace_model_region){ task, copy };
	put_region(m, cpu, GPROF_EV_USER_REGION_BEGIN, task, name);
}

static void region_end(struct gprof_trace_model *m, uint32_t cpu, uint64_t task, const char *name)
{
	struct gprof_trace_model_regions *r = task_on(m, cpu)->regions;
	size_t at = r ? r->nr : 0;

	while (at && (r->v[at - 1].task != task || strcmp(r->v[at - 1].name, name)))
		at--;
	if (at && at == r->nr) {
		end_innermost(m, cpu, r);
	} else if (at) {
		log_repair(m, cpu, task, name,
			   "ends before one that began later, which ends here too");
		while (r->nr >= at)
			end_innermost(m, cpu, r);
	} else {
		/* With others open it cannot have begun before the trace. */
		log_repair(m, cpu, task, name,
			   "ends, and its begin by this thread is not in the trace");
		if (!gprof_model_in_region(task_on(m, cpu)))
			put_region(m, cpu, GPROF_EV_USER_REGION_END, task, name);
	}
}

static void put(struct gprof_trace_model *m, uint32_t cpu, const struct gprof_trace_annotation *n)
{
	uint64_t task = 0, parent = 0;
	int err = gprof_trace_annotations_task(&m->notes, &n->process, n->parent, false, &parent);

	if (!err)
		err = gprof_trace_annotations_task(&m->notes, &n->process, n->task,
						   n->what == GPROF_ANNOTATE_TASK_BEGIN, &task);
	gprof_model_failed(m, err);
	switch (n->what) {
	case GPROF_ANNOTATE_REGION_BEGIN:
		region_begin(m, cpu, task, n->name);
		break;
	case GPROF_ANNOTATE_REGION_END:
		region_end(m, cpu, task, n->name);
		break;
	case GPROF_ANNOTATE_TASK_BEGIN:
		EVENT(m, cpu, GPROF_EV_USER_TASK_BEGIN, task, parent,
		      gprof_model_string(m, n->name), mark(m));
		break;
	case GPROF_ANNOTATE_TASK_END:
		EVENT(m, cpu, GPROF_EV_USER_TASK_END, task, mark(m));
		break;
	case GPROF_ANNOTATE_LOG:
		put_log(m, cpu, task, n->name, n->text);
		break;
	}
}

void gprof_model_annotation(struct gprof_trace_model *m, const struct gprof_trace_point *p)
{
	const struct gprof_trace_annotation *n = gprof_trace_annotations_get(&m->notes, p->arg);
	struct gprof_trace_model_task *t;

	if (!n)
		return;
	if (m->cpus[p->cpu].task != GPROF_NONE) {
		/* The call by which it is told is around it, and would not lie within a region. */
		t = task_on(m, p->cpu);
		gprof_model_leave_call(m, p->cpu, t);
		put(m, p->cpu, n);
	}
	gprof_trace_annotations_drop(&m->notes, p->arg);
}
