/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * trace_order.h: the order of events: whether one may come next, and its meaning.
 *
 * The scheduler whose trace it is, once more: an event is taken when the states of all it speaks
 * of allow it, and changes them. A sequence number that is not the next one, or a state that
 * another thread must bring about first, means "not yet"; an error that no other event can put
 * right ends the reading. The rules are those of Go's reader (internal/trace/order.go), so that
 * both give the same order.
 *
 * One step for each event number: trace_order_proc.c, trace_order_go.c,
 * trace_order_range.c and trace_order_user.c.
 */
#ifndef GPROF_TRACE_ORDER_H
#define GPROF_TRACE_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include <gprof/trace.h>

#include "base/error.h"
#include "trace_dictionary.h"
#include "trace_frontier.h"
#include "trace_names.h"
#include "trace_state.h"

/* One event may stand for three: the others wait here. */
#define GPROF_TRACE_FOLLOWERS	2

enum gprof_trace_gc { GPROF_GC_UNDETERMINED, GPROF_GC_OFF, GPROF_GC_ON };

/**
 * struct gprof_trace_order - the scheduler
 * @memory: that all of it is taken from
 * @state: of everything
 * @dictionary: of the generation
 * @names: of tasks and regions
 * @stops: of stops of the world
 * @generation: current
 * @initial: first of the trace
 * @gc: is the collector marking?
 * @gc_seq: sequence number of its last event
 * @m: the thread of the event that is looked at
 * @nobody: @m of events without a thread
 * @follow: events that the last one stands for too
 * @nr_follow: how many
 * @next_follow: the next of them
 * @retired: name that the last event returned, without a user any more
 * @error: sentence
 */
struct gprof_trace_order {
	struct gprof_trace_memory *memory;
	struct gprof_trace_state state;
	const struct gprof_trace_dictionary *dictionary;
	struct gprof_trace_names names;
	struct gprof_trace_names stops;
	uint64_t generation;
	uint64_t initial;
	enum gprof_trace_gc gc;
	uint64_t gc_seq;
	struct gprof_trace_m *m;
	struct gprof_trace_m nobody;
	struct gprof_trace_event follow[GPROF_TRACE_FOLLOWERS];
	unsigned int nr_follow;
	unsigned int next_follow;
	struct gprof_trace_name *retired;
	struct gprof_error *error;
};

void gprof_trace_order_init(struct gprof_trace_order *o, struct gprof_trace_memory *m,
			    const struct gprof_trace_dictionary *d, struct gprof_error *error);
void gprof_trace_order_free(struct gprof_trace_order *o);

/** gprof_trace_order_generation() - ids have the meaning of this generation now */
void gprof_trace_order_generation(struct gprof_trace_order *o, uint64_t generation);

/* 1, 0 or -errno, as gprof_trace_order_apply(). */
typedef int gprof_trace_step(struct gprof_trace_order *o, const struct gprof_trace_cursor *c,
			     struct gprof_trace_event *ev);

/*
 * By event number. A cursor stops at records that are no event of a thread; each event has a step.
 */
extern gprof_trace_step *const gprof_trace_steps[256];

/** gprof_trace_order_find() - set o->m to the thread of a cursor; 0 or -errno with o->error */
int gprof_trace_order_find(struct gprof_trace_order *o, struct gprof_trace_cursor *c);

/**
 * gprof_trace_order_apply() - take the event of a cursor, if it may come next
 * @o: order
 * @c: cursor
 * @ev: all but the time, if it is taken; else anything
 *
 * Return: 1; 0 not yet; -errno with o->error.
 */
static inline int gprof_trace_order_apply(struct gprof_trace_order *o, struct gprof_trace_cursor *c,
					  struct gprof_trace_event *ev)
{
	if (c->state != GPROF_NONE) {
		o->m = &o->state.ms[c->state];
	} else {
		int err = gprof_trace_order_find(o, c);

		if (err)
			return err;
	}
	o->nr_follow = o->next_follow = 0;
	ev->type = c->type;
	ev->thread = c->thread;
	ev->proc = o->m->proc;
	ev->goroutine = o->m->go;
	ev->stack = 0;
	return gprof_trace_steps[c->type](o, c, ev);
}

/** gprof_trace_order_follow() - an event that the last one stands for too, or NULL */
static inline const struct gprof_trace_event *
gprof_trace_order_follow(struct gprof_trace_order *o)
{
	return o->next_follow < o->nr_follow ? &o->follow[o->next_follow++] : NULL;
}

#endif /* GPROF_TRACE_ORDER_H */
