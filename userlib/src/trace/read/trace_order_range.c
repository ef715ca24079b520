// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * trace_order_range.c: steps of ranges: stops of the world, marking, mark assists, sweeping.
 */
#include <errno.h>

#include "trace_step.h"
#include "trace_wire.h"

/* Stops of the world that one goroutine may have begun; the runtime begins one. */
#define STOPS_MAX	64

static const struct gprof_trace_text mark_name = { "GC concurrent mark phase", 24 };
static const struct gprof_trace_text sweep_name = { "GC incremental sweep", 20 };
static const struct gprof_trace_text assist_name = { "GC mark assist", 14 };

static int range(struct gprof_trace_event *ev, enum gprof_trace_kind kind,
		 struct gprof_trace_text name, enum gprof_trace_resource_kind scope, int64_t id)
{
	ev->kind = kind;
	ev->range.name = name;
	ev->range.scope.kind = scope;
	ev->range.scope.id = id;
	ev->range.swept = 0;
	ev->range.reclaimed = 0;
	return 1;
}

int gprof_trace_stw_begin(struct gprof_trace_order *o, const struct gprof_trace_cursor *c,
			  struct gprof_trace_event *ev)
{
	struct gprof_trace_go_more *more;
	struct gprof_trace_name *name;
	struct gprof_trace_text text;
	struct gprof_trace_go *go;
	size_t i;
	int err = gprof_trace_need_go(o, c, &go);

	if (!err)
		err = gprof_trace_want_string(o, c, c->args[0], &text);
	if (err)
		return err;
	more = gprof_trace_go_more(&o->state, go);
	name = more ? gprof_trace_names_get(&o->stops, c->args[0], &text) : NULL;
	if (!name)
		return gprof_trace_fail(o, errno);
	for (i = 0; i < more->nr_stops; i++)
		if (more->stops[i].id == c->args[0])
			return gprof_trace_refuse(o, c, "it has begun already");
	if (more->nr_stops == STOPS_MAX)
		return gprof_trace_refuse(o, c, "goroutine %lld has begun %d others",
					  (long long)go->id, STOPS_MAX);
	err = gprof_trace_grow(o->memory, &more->stops, &more->cap_stops, more->nr_stops + 1,
			       sizeof(*more->stops));
	if (err)
		return gprof_trace_fail(o, -err);
	more->stops[more->nr_stops++] = (struct gprof_trace_stop){
		.id = c->args[0],
		.name = gprof_trace_name_hold(name),
	};
	range(ev, GPROF_TRACE_RANGE_BEGIN, name->text, GPROF_TRACE_RESOURCE_GOROUTINE, go->id);
	return gprof_trace_with_stack(o, c, ev, c->args[1]);
}

int gprof_trace_stw_end(struct gprof_trace_order *o, const struct gprof_trace_cursor *c,
			struct gprof_trace_event *ev)
{
	struct gprof_trace_go_more *more;
	struct gprof_trace_name *name;
	struct gprof_trace_go *go;
	int err = gprof_trace_need_go(o, c, &go);

	if (err)
		return err;
	more = go->more;
	if (!more || !more->nr_stops)
		return gprof_trace_refuse(o, c, "it did not begin");
	name = more->stops[0].name;
	more->stops[0] = more->stops[--more->nr_stops];
	gprof_trace_retire(o, name);
	return range(ev, GPROF_TRACE_RANGE_END, name->text, GPROF_TRACE_RESOURCE_GOROUTINE, go->id);
}

/* Marking has no owner; its begin and end are in order by numbers of their own. */

static int mark(struct gprof_trace_event *ev, enum gprof_trace_kind kind)
{
	return range(ev, kind, mark_name, GPROF_TRACE_RESOURCE_NONE, GPROF_TRACE_NONE);
}

int gprof_trace_gc_active(struct gprof_trace_order *o, const struct gprof_trace_cursor *c,
			  struct gprof_trace_event *ev)
{
	uint64_t seq = c->args[0];
	int err;

	if (o->generation == o->initial) {
		if (o->gc != GPROF_GC_UNDETERMINED)
			return gprof_trace_refuse(o, c, "in the first generation, it is not the first event of the collector");
		o->gc = GPROF_GC_ON;
	} else {
		if (seq != o->gc_seq + 1)
			return 0;
		if (o->gc != GPROF_GC_ON)
			return gprof_trace_refuse(o, c, "the collector is not marking");
		err = gprof_trace_need(o, c, GPROF_NEED_ALL);
		if (err)
			return err;
	}
	o->gc_seq = seq;
	return mark(ev, GPROF_TRACE_RANGE_ACTIVE);
}

int gprof_trace_gc_begin(struct gprof_trace_order *o, const struct gprof_trace_cursor *c,
			 struct gprof_trace_event *ev)
{
	uint64_t seq = c->args[0];
	int err;

	if (o->gc != GPROF_GC_UNDETERMINED) {
		if (seq != o->gc_seq + 1)
			return 0;
		if (o->gc == GPROF_GC_ON)
			return gprof_trace_refuse(o, c, "the collector is marking already");
		err = gprof_trace_need(o, c, GPROF_NEED_ALL);
		if (err)
			return err;
	}
	o->gc_seq = seq;
	o->gc = GPROF_GC_ON;
	mark(ev, GPROF_TRACE_RANGE_BEGIN);
	return gprof_trace_with_stack(o, c, ev, c->args[1]);
}

int gprof_trace_gc_end(struct gprof_trace_order *o, const struct gprof_trace_cursor *c,
		       struct gprof_trace_event *ev)
{
	int err;

	if (c->args[0] != o->gc_seq + 1)
		return 0;
	if (o->gc != GPROF_GC_ON)
		return gprof_trace_refuse(o, c, "the collector is not marking");
	err = gprof_trace_need(o, c, GPROF_NEED_ALL);
	if (err)
		return err;
	o->gc_seq = c->args[0];
	o->gc = GPROF_GC_OFF;
	return mark(ev, GPROF_TRACE_RANGE_END);
}

/*
 * A range that began before the trace is in its first generation, once; in later ones it must be
 * known.
 */
static int active(struct gprof_trace_order *o, const struct gprof_trace_cursor *c, bool *on)
{
	if (o->generation == o->initial && *on)
		return gprof_trace_refuse(o, c, "it has begun already");
	if (o->generation != o->initial && !*on)
		return gprof_trace_refuse(o, c, "it did not begin");
	*on = true;
	return 0;
}

static int begin(struct gprof_trace_order *o, const struct gprof_trace_cursor *c, bool *on)
{
	if (*on)
		return gprof_trace_refuse(o, c, "it has begun already");
	*on = true;
	return 0;
}

static int end(struct gprof_trace_order *o, const struct gprof_trace_cursor *c, bool *on)
{
	if (!*on)
		return gprof_trace_refuse(o, c, "it did not begin");
	*on = false;
	return 0;
}

static int sweep(struct gprof_trace_event *ev, enum gprof_trace_kind kind, int64_t proc)
{
	return range(ev, kind, sweep_name, GPROF_TRACE_RESOURCE_PROC, proc);
}

int gprof_trace_sweep_active(struct gprof_trace_order *o, const struct gprof_trace_cursor *c,
			     struct gprof_trace_event *ev)
{
	int64_t id = (int64_t)c->args[0];
	struct gprof_trace_proc *p = gprof_trace_proc_find(&o->state, id);
	int err;

	if (!p)
		return gprof_trace_refuse(o, c, "proc %lld is not there", (long long)id);
	err = active(o, c, &p->sweep);
	return err ? err : sweep(ev, GPROF_TRACE_RANGE_ACTIVE, id);
}

int gprof_trace_sweep_begin(struct gprof_trace_order *o, const struct gprof_trace_cursor *c,
			    struct gprof_trace_event *ev)
{
	int err = gprof_trace_need(o, c, GPROF_NEED_THREAD | GPROF_NEED_PROC);

	if (!err)
		err = begin(o, c, &gprof_trace_proc_on(&o->state, o->m)->sweep);
	if (err)
		return err;
	sweep(ev, GPROF_TRACE_RANGE_BEGIN, o->m->proc);
	return gprof_trace_with_stack(o, c, ev, c->args[0]);
}

int gprof_trace_sweep_end(struct gprof_trace_order *o, const struct gprof_trace_cursor *c,
			  struct gprof_trace_event *ev)
{
	int err = gprof_trace_need(o, c, GPROF_NEED_THREAD | GPROF_NEED_PROC);

	if (!err)
		err = end(o, c, &gprof_trace_proc_on(&o->state, o->m)->sweep);
	if (err)
		return err;
	sweep(ev, GPROF_TRACE_RANGE_END, o->m->proc);
	ev->range.swept = c->args[0];
	ev->range.reclaimed = c->args[1];
	return 1;
}

static int assist(struct gprof_trace_event *ev, enum gprof_trace_kind kind, int64_t go)
{
	return range(ev, kind, assist_name, GPROF_TRACE_RESOURCE_GOROUTINE, go);
}

int gprof_trace_assist_active(struct gprof_trace_order *o, const struct gprof_trace_cursor *c,
			      struct gprof_trace_event *ev)
{
	int64_t id = (int64_t)c->args[0];
	struct gprof_trace_go *go = gprof_trace_go_find(&o->state, id);
	int err;

	/* It may be of a goroutine that does not run. */
	if (!go)
		return gprof_trace_refuse(o, c, "goroutine %lld is not there", (long long)id);
	err = active(o, c, &go->assist);
	return err ? err : assist(ev, GPROF_TRACE_RANGE_ACTIVE, id);
}

int gprof_trace_assist_begin(struct gprof_trace_order *o, const struct gprof_trace_cursor *c,
			     struct gprof_trace_event *ev)
{
	struct gprof_trace_go *go;
	int err = gprof_trace_need_go(o, c, &go);

	if (!err)
		err = begin(o, c, &go->assist);
	if (err)
		return err;
	assist(ev, GPROF_TRACE_RANGE_BEGIN, go->id);
	return gprof_trace_with_stack(o, c, ev, c->args[0]);
}

int gprof_trace_assist_end(struct gprof_trace_order *o, const struct gprof_trace_cursor *c,
			   struct gprof_trace_event *ev)
{
	struct gprof_trace_go *go;
	int err = gprof_trace_need_go(o, c, &go);

	if (!err)
		err = end(o, c, &go->assist);
	return err ? err : assist(ev, GPROF_TRACE_RANGE_END, go->id);
}
