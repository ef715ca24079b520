/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * trace_step.h: the state of trace_order.h, and functions for its steps.
 *
 * When a step is called, the event has its number and its place: the thread, with its proc and
 * goroutine before the event.
 */
#ifndef GPROF_TRACE_STEP_H
#define GPROF_TRACE_STEP_H

#include "trace_order.h"

gprof_trace_step gprof_trace_proc_start, gprof_trace_proc_stop, gprof_trace_proc_steal,
	gprof_trace_proc_status;
gprof_trace_step gprof_trace_go_create, gprof_trace_go_create_syscall, gprof_trace_go_start,
	gprof_trace_go_destroy, gprof_trace_go_destroy_syscall, gprof_trace_go_stop,
	gprof_trace_go_unblock, gprof_trace_go_syscall_begin, gprof_trace_go_syscall_end,
	gprof_trace_go_syscall_end_blocked, gprof_trace_go_status, gprof_trace_go_switch;
gprof_trace_step gprof_trace_stw_begin, gprof_trace_stw_end, gprof_trace_gc_active,
	gprof_trace_gc_begin, gprof_trace_gc_end, gprof_trace_sweep_active,
	gprof_trace_sweep_begin, gprof_trace_sweep_end, gprof_trace_assist_active,
	gprof_trace_assist_begin, gprof_trace_assist_end;
gprof_trace_step gprof_trace_procs_change, gprof_trace_heap_metric, gprof_trace_go_label,
	gprof_trace_on_task_begin, gprof_trace_on_task_end, gprof_trace_on_region_begin,
	gprof_trace_on_region_end, gprof_trace_on_log, gprof_trace_experiment;

/** gprof_trace_refuse() - -EBADMSG, and a sentence about the event */
int gprof_trace_refuse(struct gprof_trace_order *o, const struct gprof_trace_cursor *c,
		       const char *fmt, ...) __attribute__((format(printf, 3, 4), cold));
/** gprof_trace_fail() - -@err of an allocation, and a sentence */
int gprof_trace_fail(struct gprof_trace_order *o, int err) __attribute__((cold));
/** gprof_trace_retire() - a name that this event returns is not held after it */
void gprof_trace_retire(struct gprof_trace_order *o, struct gprof_trace_name *name);

const char *gprof_trace_go_status_name(uint8_t status);
const char *gprof_trace_proc_status_name(uint8_t status);

/* Needs of an event on its thread. */
enum gprof_trace_need { GPROF_NEED_THREAD = 1, GPROF_NEED_PROC = 2, GPROF_NEED_GO = 4 };
#define GPROF_NEED_ALL	(GPROF_NEED_THREAD | GPROF_NEED_PROC | GPROF_NEED_GO)

int gprof_trace_lacks(struct gprof_trace_order *o, const struct gprof_trace_cursor *c,
		      unsigned int need) __attribute__((cold));

/** gprof_trace_need() - 0, or -EBADMSG when the thread lacks something */
static inline int gprof_trace_need(struct gprof_trace_order *o, const struct gprof_trace_cursor *c,
				   unsigned int need)
{
	const struct gprof_trace_m *m = o->m;

	if (((need & GPROF_NEED_PROC) && m->proc == GPROF_TRACE_NONE) ||
	    ((need & GPROF_NEED_GO) && m->go == GPROF_TRACE_NONE) ||
	    ((need & GPROF_NEED_THREAD) && c->thread == GPROF_TRACE_NONE))
		return gprof_trace_lacks(o, c, need);
	return 0;
}

/** gprof_trace_need_go() - the goroutine of a thread that must have one, and a proc; or -EBADMSG */
static inline int gprof_trace_need_go(struct gprof_trace_order *o,
				      const struct gprof_trace_cursor *c,
				      struct gprof_trace_go **go)
{
	int err = gprof_trace_need(o, c, GPROF_NEED_ALL);

	if (err)
		return err;
	*go = gprof_trace_go_on(&o->state, o->m);
	if (!*go)
		return gprof_trace_refuse(o, c, "goroutine %lld, on which it happens, has ended",
					  (long long)o->m->go);
	return 0;
}

/** gprof_trace_want_stack() - 0, or -EBADMSG when there is no such stack */
static inline int gprof_trace_want_stack(struct gprof_trace_order *o,
					 const struct gprof_trace_cursor *c, uint64_t id)
{
	if (!gprof_trace_dictionary_has_stack(o->dictionary, id))
		return gprof_trace_refuse(o, c, "it names the stack %llu, which is not there",
					  (unsigned long long)id);
	return 0;
}

/** gprof_trace_want_string() - 0, or -EBADMSG when there is no such string */
static inline int gprof_trace_want_string(struct gprof_trace_order *o,
					  const struct gprof_trace_cursor *c, uint64_t id,
					  struct gprof_trace_text *text)
{
	const struct gprof_trace_text *t = gprof_trace_dictionary_string(o->dictionary, id);

	if (!t)
		return gprof_trace_refuse(o, c, "it names the string %llu, which is not there",
					  (unsigned long long)id);
	*text = *t;
	return 0;
}

/** gprof_trace_with_stack() - 1, the event having the stack; -EBADMSG without such a stack */
static inline int gprof_trace_with_stack(struct gprof_trace_order *o,
					 const struct gprof_trace_cursor *c,
					 struct gprof_trace_event *ev, uint64_t id)
{
	int err = gprof_trace_want_stack(o, c, id);

	ev->stack = id;
	return err ? err : 1;
}

#define GPROF_TRACE_NO_TEXT	((struct gprof_trace_text){ "", 0 })

/** gprof_trace_transition() - the event is a change of state, without reason and stack */
static inline int gprof_trace_transition(struct gprof_trace_event *ev,
					 enum gprof_trace_resource_kind kind, int64_t id,
					 unsigned int from, unsigned int to)
{
	ev->kind = GPROF_TRACE_STATE_TRANSITION;
	ev->transition.resource.kind = kind;
	ev->transition.resource.id = id;
	ev->transition.from = (uint8_t)from;
	ev->transition.to = (uint8_t)to;
	ev->transition.reason = GPROF_TRACE_NO_TEXT;
	ev->transition.stack = 0;
	return 1;
}

static inline int gprof_trace_go_transition(struct gprof_trace_event *ev, int64_t id,
					    enum gprof_trace_go_state from,
					    enum gprof_trace_go_state to)
{
	return gprof_trace_transition(ev, GPROF_TRACE_RESOURCE_GOROUTINE, id, from, to);
}

static inline int gprof_trace_proc_transition(struct gprof_trace_event *ev, int64_t id,
					      enum gprof_trace_proc_state from,
					      enum gprof_trace_proc_state to)
{
	return gprof_trace_transition(ev, GPROF_TRACE_RESOURCE_PROC, id, from, to);
}

/** gprof_trace_add_follower() - a copy of where @ev is, for an event that comes after it */
static inline struct gprof_trace_event *
gprof_trace_add_follower(struct gprof_trace_order *o, const struct gprof_trace_event *ev,
			 uint8_t type)
{
	struct gprof_trace_event *f = &o->follow[o->nr_follow++];

	f->type = type;
	f->thread = ev->thread;
	f->proc = ev->proc;
	f->goroutine = ev->goroutine;
	f->stack = 0;
	return f;
}

#endif /* GPROF_TRACE_STEP_H */
