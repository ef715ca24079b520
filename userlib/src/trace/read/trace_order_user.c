// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * trace_order_user.c: steps of metrics, labels, tasks, regions, logs, experiments.
 */
#include <errno.h>
#include <string.h>

#include "trace_step.h"
#include "trace_wire.h"

static void metric(struct gprof_trace_event *ev, const char *name, uint64_t value)
{
	ev->kind = GPROF_TRACE_METRIC;
	ev->metric.name = name;
	ev->metric.value = value;
}

int gprof_trace_procs_change(struct gprof_trace_order *o, const struct gprof_trace_cursor *c,
			     struct gprof_trace_event *ev)
{
	int err = gprof_trace_need(o, c, GPROF_NEED_ALL);

	if (err)
		return err;
	metric(ev, "/sched/gomaxprocs:threads", c->args[0]);
	return gprof_trace_with_stack(o, c, ev, c->args[1]);
}

int gprof_trace_heap_metric(struct gprof_trace_order *o, const struct gprof_trace_cursor *c,
			    struct gprof_trace_event *ev)
{
	int err = gprof_trace_need(o, c, GPROF_NEED_THREAD | GPROF_NEED_PROC);

	if (err)
		return err;
	metric(ev, c->type == GPROF_EV_HEAP_ALLOC ? "/memory/classes/heap/objects:bytes"
						  : "/gc/heap/goal:bytes", c->args[0]);
	return 1;
}

int gprof_trace_go_label(struct gprof_trace_order *o, const struct gprof_trace_cursor *c,
			 struct gprof_trace_event *ev)
{
	int err = gprof_trace_need(o, c, GPROF_NEED_ALL);

	ev->kind = GPROF_TRACE_LABEL;
	ev->label.resource.kind = GPROF_TRACE_RESOURCE_GOROUTINE;
	ev->label.resource.id = o->m->go;
	if (!err)
		err = gprof_trace_want_string(o, c, c->args[0], &ev->label.text);
	return err ? err : 1;
}

int gprof_trace_on_task_begin(struct gprof_trace_order *o, const struct gprof_trace_cursor *c,
			   struct gprof_trace_event *ev)
{
	struct gprof_trace_name *name;
	struct gprof_trace_task *task;
	int err = gprof_trace_need(o, c, GPROF_NEED_ALL);

	if (err)
		return err;
	if (gprof_trace_task_find(&o->state, c->args[0]))
		return gprof_trace_refuse(o, c, "task %llu has begun already",
					  (unsigned long long)c->args[0]);
	err = gprof_trace_want_string(o, c, c->args[2], &ev->task.type);
	if (err)
		return err;
	name = gprof_trace_names_get(&o->names, c->args[2], &ev->task.type);
	task = name ? gprof_trace_task_add(&o->state, c->args[0]) : NULL;
	if (!task)
		return gprof_trace_fail(o, errno);
	task->name = gprof_trace_name_hold(name);
	/* Here 0 is no parent; only a region of task 0 is one of the background. */
	task->parent = c->args[1] ? c->args[1] : GPROF_TRACE_NO_TASK;
	ev->kind = GPROF_TRACE_TASK_BEGIN;
	ev->task.id = c->args[0];
	ev->task.parent = task->parent;
	return gprof_trace_with_stack(o, c, ev, c->args[3]);
}

/* A task may end more than once, and without that its begin was seen. */
int gprof_trace_on_task_end(struct gprof_trace_order *o, const struct gprof_trace_cursor *c,
			 struct gprof_trace_event *ev)
{
	struct gprof_trace_task *task;
	int err = gprof_trace_need(o, c, GPROF_NEED_ALL);

	if (err)
		return err;
	ev->kind = GPROF_TRACE_TASK_END;
	ev->task.id = c->args[0];
	ev->task.parent = GPROF_TRACE_NO_TASK;
	ev->task.type = GPROF_TRACE_NO_TEXT;
	task = gprof_trace_task_find(&o->state, c->args[0]);
	if (task) {
		ev->task.parent = task->parent;
		ev->task.type = task->name->text;
		gprof_trace_retire(o, task->name);
		gprof_trace_task_remove(&o->state, c->args[0]);
	}
	return gprof_trace_with_stack(o, c, ev, c->args[1]);
}

static int region_name(struct gprof_trace_order *o, const struct gprof_trace_cursor *c,
		       struct gprof_trace_event *ev, struct gprof_trace_name **name)
{
	int err = gprof_trace_want_string(o, c, c->args[1], &ev->region.type);

	if (err)
		return err;
	ev->region.task = c->args[0];
	*name = gprof_trace_names_get(&o->names, c->args[1], &ev->region.type);
	return *name ? 0 : gprof_trace_fail(o, errno);
}

int gprof_trace_on_region_begin(struct gprof_trace_order *o, const struct gprof_trace_cursor *c,
			     struct gprof_trace_event *ev)
{
	struct gprof_trace_go_more *more;
	struct gprof_trace_name *name;
	struct gprof_trace_go *go;
	int err = gprof_trace_need_go(o, c, &go);

	if (!err)
		err = region_name(o, c, ev, &name);
	if (err)
		return err;
	more = gprof_trace_go_more(&o->state, go);
	if (!more)
		return gprof_trace_fail(o, errno);
	err = gprof_trace_grow(o->memory, &more->regions, &more->cap_regions,
			       more->nr_regions + 1, sizeof(*more->regions));
	if (err)
		return gprof_trace_fail(o, -err);
	more->regions[more->nr_regions++] = (struct gprof_trace_region){
		.task = c->args[0],
		.name = gprof_trace_name_hold(name),
	};
	ev->kind = GPROF_TRACE_REGION_BEGIN;
	return gprof_trace_with_stack(o, c, ev, c->args[2]);
}

int gprof_trace_on_region_end(struct gprof_trace_order *o, const struct gprof_trace_cursor *c,
			   struct gprof_trace_event *ev)
{
	struct gprof_trace_go_more *more;
	struct gprof_trace_name *name;
	struct gprof_trace_go *go;
	int err = gprof_trace_need_go(o, c, &go);

	if (!err)
		err = region_name(o, c, ev, &name);
	if (err)
		return err;
	more = go->more;
	/* With none open, it began before the trace. */
	if (more && more->nr_regions) {
		const struct gprof_trace_region *inner = &more->regions[more->nr_regions - 1];

		if (inner->task != c->args[0] || !gprof_trace_name_equal(inner->name, name))
			return gprof_trace_refuse(o, c, "the innermost region of goroutine %lld is \"%.64s\" of task %llu",
						  (long long)go->id, inner->name->text.s,
						  (unsigned long long)inner->task);
		gprof_trace_name_drop(o->memory, inner->name);
		more->nr_regions--;
	}
	ev->kind = GPROF_TRACE_REGION_END;
	return gprof_trace_with_stack(o, c, ev, c->args[2]);
}

int gprof_trace_on_log(struct gprof_trace_order *o, const struct gprof_trace_cursor *c,
		    struct gprof_trace_event *ev)
{
	int err = gprof_trace_need(o, c, GPROF_NEED_ALL);

	ev->kind = GPROF_TRACE_LOG;
	ev->log.task = c->args[0];
	if (!err)
		err = gprof_trace_want_string(o, c, c->args[1], &ev->log.category);
	if (!err)
		err = gprof_trace_want_string(o, c, c->args[2], &ev->log.message);
	return err ? err : gprof_trace_with_stack(o, c, ev, c->args[3]);
}

int gprof_trace_experiment(struct gprof_trace_order *o, const struct gprof_trace_cursor *c,
			   struct gprof_trace_event *ev)
{
	const struct gprof_trace_spec *spec = &gprof_trace_specs[c->type];
	int err = gprof_trace_need(o, c, GPROF_NEED_THREAD);

	if (err)
		return err;
	ev->kind = GPROF_TRACE_EXPERIMENTAL;
	ev->experimental.name = spec->name;
	ev->experimental.experiment = spec->experiment;
	ev->experimental.nr_args = spec->timed - 1U;
	ev->experimental.arg_names = spec->args;
	memcpy(ev->experimental.args, c->args, sizeof(ev->experimental.args));
	return 1;
}
