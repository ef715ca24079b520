// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * trace_order_proc.c: steps of procs.
 */
#include <errno.h>

#include "trace_step.h"
#include "trace_wire.h"

static const uint8_t state_of[GPROF_PROC_NR] = {
	[GPROF_PROC_BAD] = GPROF_TRACE_PROC_UNDETERMINED,
	[GPROF_PROC_RUNNING] = GPROF_TRACE_PROC_RUNNING,
	[GPROF_PROC_IDLE] = GPROF_TRACE_PROC_IDLE,
	[GPROF_PROC_SYSCALL] = GPROF_TRACE_PROC_RUNNING,
	/* Its thread is not known any more. */
	[GPROF_PROC_SYSCALL_ABANDONED] = GPROF_TRACE_PROC_IDLE,
};

static bool is_next(const struct gprof_trace_order *o, const struct gprof_trace_proc *p,
		    uint64_t seq)
{
	return p->generation == o->generation && seq == p->seq + 1;
}

static void bind(struct gprof_trace_order *o, struct gprof_trace_m *m,
		 const struct gprof_trace_proc *p)
{
	m->proc = p->id;
	m->proc_at = gprof_trace_proc_number(&o->state, p);
}

int gprof_trace_proc_start(struct gprof_trace_order *o, const struct gprof_trace_cursor *c,
			   struct gprof_trace_event *ev)
{
	struct gprof_trace_proc *p = gprof_trace_proc_find(&o->state, (int64_t)c->args[0]);
	int err;

	/* A thread may start one while it still has one, that is going to be stolen. */
	if (!p || p->status != GPROF_PROC_IDLE || !is_next(o, p, c->args[1]) ||
	    o->m->proc != GPROF_TRACE_NONE)
		return 0;
	err = gprof_trace_need(o, c, GPROF_NEED_THREAD);
	if (err)
		return err;
	p->status = GPROF_PROC_RUNNING;
	p->seq = c->args[1];
	bind(o, o->m, p);
	return gprof_trace_proc_transition(ev, p->id, GPROF_TRACE_PROC_IDLE,
					   GPROF_TRACE_PROC_RUNNING);
}

int gprof_trace_proc_stop(struct gprof_trace_order *o, const struct gprof_trace_cursor *c,
			  struct gprof_trace_event *ev)
{
	struct gprof_trace_proc *p;
	int err = gprof_trace_need(o, c, GPROF_NEED_THREAD | GPROF_NEED_PROC);

	if (err)
		return err;
	p = gprof_trace_proc_on(&o->state, o->m);
	if (p->status != GPROF_PROC_RUNNING && p->status != GPROF_PROC_SYSCALL)
		return gprof_trace_refuse(o, c, "proc %lld is not running but %s",
					  (long long)p->id, gprof_trace_proc_status_name(p->status));
	p->status = GPROF_PROC_IDLE;
	o->m->proc = GPROF_TRACE_NONE;
	return gprof_trace_proc_transition(ev, p->id, GPROF_TRACE_PROC_RUNNING,
					   GPROF_TRACE_PROC_IDLE);
}

/* Take a proc away from the thread that the event says has it. */
static int rob(struct gprof_trace_order *o, const struct gprof_trace_cursor *c,
	       const struct gprof_trace_proc *p)
{
	int64_t victim = (int64_t)c->args[2];
	struct gprof_trace_m *m = o->m;

	if (victim != c->thread)
		m = gprof_trace_m_find(&o->state, victim);
	if (!m)
		return gprof_trace_refuse(o, c, "it steals proc %lld from thread %lld, which is not there",
					  (long long)p->id, (long long)victim);
	if (m->proc != p->id)
		return gprof_trace_refuse(o, c, "it steals proc %lld from thread %lld, which has proc %lld",
					  (long long)p->id, (long long)victim, (long long)m->proc);
	m->proc = GPROF_TRACE_NONE;
	return 0;
}

int gprof_trace_proc_steal(struct gprof_trace_order *o, const struct gprof_trace_cursor *c,
			   struct gprof_trace_event *ev)
{
	struct gprof_trace_proc *p = gprof_trace_proc_find(&o->state, (int64_t)c->args[0]);
	bool abandoned;
	int err;

	if (!p || (p->status != GPROF_PROC_SYSCALL && p->status != GPROF_PROC_SYSCALL_ABANDONED) ||
	    !is_next(o, p, c->args[1]))
		return 0;
	err = gprof_trace_need(o, c, GPROF_NEED_THREAD);
	if (err)
		return err;
	abandoned = p->status == GPROF_PROC_SYSCALL_ABANDONED;
	p->status = GPROF_PROC_IDLE;
	p->seq = c->args[1];
	/* Its thread may have gone on, or be another one of the same id. */
	if (!abandoned) {
		err = rob(o, c, p);
		if (err)
			return err;
	}
	return gprof_trace_proc_transition(ev, p->id,
					   abandoned ? GPROF_TRACE_PROC_IDLE
						     : GPROF_TRACE_PROC_RUNNING,
					   GPROF_TRACE_PROC_IDLE);
}

/*
 * Another thread says that a proc was left behind, of which we know better: it is
 * in a syscall, and about to be stolen. Say so where it is.
 */
static int still_in_syscall(struct gprof_trace_order *o, const struct gprof_trace_cursor *c,
			    struct gprof_trace_event *ev, int64_t id)
{
	size_t i;

	for (i = 0; i < o->state.nr_ms; i++) {
		const struct gprof_trace_m *m = &o->state.ms[i];

		if (m->proc != id)
			continue;
		ev->thread = m->id;
		ev->proc = id;
		ev->goroutine = m->go;
		return gprof_trace_proc_transition(ev, id, GPROF_TRACE_PROC_RUNNING,
						   GPROF_TRACE_PROC_RUNNING);
	}
	return gprof_trace_refuse(o, c, "proc %lld is in a syscall of no thread", (long long)id);
}

int gprof_trace_proc_status(struct gprof_trace_order *o, const struct gprof_trace_cursor *c,
			    struct gprof_trace_event *ev)
{
	int64_t id = (int64_t)c->args[0];
	uint64_t status = c->args[1];
	struct gprof_trace_proc *p = gprof_trace_proc_find(&o->state, id);
	unsigned int from;

	if (status >= GPROF_PROC_NR)
		return gprof_trace_refuse(o, c, "proc %lld has the status %llu, which there is not",
					  (long long)id, (unsigned long long)status);
	from = state_of[status];
	if (p) {
		p->seq = 0;
		p->generation = o->generation;
		if (status == GPROF_PROC_SYSCALL_ABANDONED && p->status == GPROF_PROC_SYSCALL)
			return still_in_syscall(o, c, ev, id);
		if (p->status != status)
			return gprof_trace_refuse(o, c, "proc %lld is %s here, but was %s",
						  (long long)id,
						  gprof_trace_proc_status_name((uint8_t)status),
						  gprof_trace_proc_status_name(p->status));
	} else {
		uint32_t n;

		if (id == GPROF_TRACE_NONE)
			return gprof_trace_refuse(o, c, "its proc has the number that means none");
		n = gprof_trace_proc_add(&o->state, id, (uint8_t)status, o->generation);
		if (n == GPROF_NONE)
			return gprof_trace_fail(o, errno);
		p = &o->state.procs[n];
		from = o->generation == o->initial ? GPROF_TRACE_PROC_UNDETERMINED
						   : GPROF_TRACE_PROC_NOT_EXIST;
	}
	if (status == GPROF_PROC_RUNNING || status == GPROF_PROC_SYSCALL)
		bind(o, o->m, p);
	return gprof_trace_proc_transition(ev, id, from, state_of[status]);
}
