// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * trace_order_go.c: steps of goroutines.
 */
#include <errno.h>

#include "trace_step.h"
#include "trace_wire.h"

static const uint8_t state_of[GPROF_GO_NR] = {
	[GPROF_GO_BAD] = GPROF_TRACE_GO_UNDETERMINED,
	[GPROF_GO_RUNNABLE] = GPROF_TRACE_GO_RUNNABLE,
	[GPROF_GO_RUNNING] = GPROF_TRACE_GO_RUNNING,
	[GPROF_GO_SYSCALL] = GPROF_TRACE_GO_SYSCALL,
	[GPROF_GO_WAITING] = GPROF_TRACE_GO_WAITING,
};

static bool is_next(const struct gprof_trace_order *o, const struct gprof_trace_go *go,
		    uint64_t seq)
{
	return go->generation == o->generation && seq == go->seq + 1;
}

static void bind(struct gprof_trace_order *o, struct gprof_trace_m *m,
		 const struct gprof_trace_go *go)
{
	m->go = go->id;
	m->go_at = gprof_trace_go_number(&o->state, go);
}

static void unbind(struct gprof_trace_m *m)
{
	m->go = GPROF_TRACE_NONE;
}

static __attribute__((cold)) int is_in_another(struct gprof_trace_order *o,
					       const struct gprof_trace_cursor *c, uint8_t status,
					       const struct gprof_trace_go *go)
{
	return gprof_trace_refuse(o, c, "goroutine %lld is not %s but %s", (long long)go->id,
				  gprof_trace_go_status_name(status),
				  gprof_trace_go_status_name(go->status));
}

/* The goroutine of the thread, which must have a proc too, and be in @status. */
static inline __attribute__((always_inline)) int need_go_in(struct gprof_trace_order *o,
							    const struct gprof_trace_cursor *c,
							    uint8_t status,
							    struct gprof_trace_go **go)
{
	int err = gprof_trace_need_go(o, c, go);

	if (err)
		return err;
	return (*go)->status == status ? 0 : is_in_another(o, c, status, *go);
}

static int add(struct gprof_trace_order *o, const struct gprof_trace_cursor *c, int64_t id,
	       uint8_t status, struct gprof_trace_go **go)
{
	uint32_t n;

	if (id == GPROF_TRACE_NONE)
		return gprof_trace_refuse(o, c, "its goroutine has the number that means none");
	n = gprof_trace_go_add(&o->state, id, status, o->generation);
	if (n == GPROF_NONE)
		return gprof_trace_fail(o, errno);
	*go = &o->state.gos[n];
	return 0;
}

static int must_be_new(struct gprof_trace_order *o, const struct gprof_trace_cursor *c, int64_t id)
{
	if (gprof_trace_go_find(&o->state, id))
		return gprof_trace_refuse(o, c, "goroutine %lld is there already", (long long)id);
	return 0;
}

int gprof_trace_go_create(struct gprof_trace_order *o, const struct gprof_trace_cursor *c,
			  struct gprof_trace_event *ev)
{
	bool blocked = c->type == GPROF_EV_GO_CREATE_BLOCKED;
	int64_t id = (int64_t)c->args[0];
	struct gprof_trace_go *go;
	int err = gprof_trace_need(o, c, GPROF_NEED_THREAD | GPROF_NEED_PROC);

	if (err)
		return err;
	go = gprof_trace_go_on(&o->state, o->m);
	if (go && go->status != GPROF_GO_RUNNING)
		return gprof_trace_refuse(o, c, "goroutine %lld is not running but %s",
					  (long long)go->id, gprof_trace_go_status_name(go->status));
	err = must_be_new(o, c, id);
	if (!err)
		err = gprof_trace_want_stack(o, c, c->args[1]);
	if (!err)
		err = gprof_trace_want_stack(o, c, c->args[2]);
	if (!err)
		err = add(o, c, id, blocked ? GPROF_GO_WAITING : GPROF_GO_RUNNABLE, &go);
	if (err)
		return err;
	ev->stack = c->args[2];
	gprof_trace_go_transition(ev, id, GPROF_TRACE_GO_NOT_EXIST,
				  blocked ? GPROF_TRACE_GO_WAITING : GPROF_TRACE_GO_RUNNABLE);
	ev->transition.stack = c->args[1];
	return 1;
}

int gprof_trace_go_create_syscall(struct gprof_trace_order *o, const struct gprof_trace_cursor *c,
				  struct gprof_trace_event *ev)
{
	int64_t id = (int64_t)c->args[0];
	struct gprof_trace_go *go;
	int err = gprof_trace_need(o, c, GPROF_NEED_THREAD);

	if (err)
		return err;
	if (o->m->go != GPROF_TRACE_NONE)
		return gprof_trace_refuse(o, c, "the thread runs goroutine %lld already",
					  (long long)o->m->go);
	err = must_be_new(o, c, id);
	if (!err)
		err = add(o, c, id, GPROF_GO_SYSCALL, &go);
	if (err)
		return err;
	bind(o, o->m, go);
	return gprof_trace_go_transition(ev, id, GPROF_TRACE_GO_NOT_EXIST, GPROF_TRACE_GO_SYSCALL);
}

int gprof_trace_go_start(struct gprof_trace_order *o, const struct gprof_trace_cursor *c,
			 struct gprof_trace_event *ev)
{
	struct gprof_trace_go *go = gprof_trace_go_find(&o->state, (int64_t)c->args[0]);
	int err;

	if (!go || go->status != GPROF_GO_RUNNABLE || !is_next(o, go, c->args[1]))
		return 0;
	err = gprof_trace_need(o, c, GPROF_NEED_THREAD | GPROF_NEED_PROC);
	if (err)
		return err;
	if (o->m->go != GPROF_TRACE_NONE)
		return gprof_trace_refuse(o, c, "the thread runs goroutine %lld already",
					  (long long)o->m->go);
	go->status = GPROF_GO_RUNNING;
	go->seq = c->args[1];
	bind(o, o->m, go);
	return gprof_trace_go_transition(ev, go->id, GPROF_TRACE_GO_RUNNABLE,
					 GPROF_TRACE_GO_RUNNING);
}

int gprof_trace_go_destroy(struct gprof_trace_order *o, const struct gprof_trace_cursor *c,
			   struct gprof_trace_event *ev)
{
	struct gprof_trace_go *go;
	int err = need_go_in(o, c, GPROF_GO_RUNNING, &go);

	if (err)
		return err;
	gprof_trace_go_transition(ev, go->id, GPROF_TRACE_GO_RUNNING, GPROF_TRACE_GO_NOT_EXIST);
	gprof_trace_go_remove(&o->state, gprof_trace_go_number(&o->state, go));
	unbind(o->m);
	return 1;
}

/* It yields, or blocks. */
int gprof_trace_go_stop(struct gprof_trace_order *o, const struct gprof_trace_cursor *c,
			struct gprof_trace_event *ev)
{
	bool yields = c->type == GPROF_EV_GO_STOP;
	struct gprof_trace_go *go;
	int err = need_go_in(o, c, GPROF_GO_RUNNING, &go);

	if (err)
		return err;
	go->status = yields ? GPROF_GO_RUNNABLE : GPROF_GO_WAITING;
	unbind(o->m);
	gprof_trace_go_transition(ev, go->id, GPROF_TRACE_GO_RUNNING,
				  yields ? GPROF_TRACE_GO_RUNNABLE : GPROF_TRACE_GO_WAITING);
	ev->stack = ev->transition.stack = c->args[1];
	err = gprof_trace_want_string(o, c, c->args[0], &ev->transition.reason);
	if (!err)
		err = gprof_trace_want_stack(o, c, c->args[1]);
	return err ? err : 1;
}

/* Anyone may do it: the collector, the poller, a thread without a proc. */
int gprof_trace_go_unblock(struct gprof_trace_order *o, const struct gprof_trace_cursor *c,
			   struct gprof_trace_event *ev)
{
	struct gprof_trace_go *go = gprof_trace_go_find(&o->state, (int64_t)c->args[0]);
	int err;

	if (!go || go->status != GPROF_GO_WAITING || !is_next(o, go, c->args[1]))
		return 0;
	err = gprof_trace_want_stack(o, c, c->args[2]);
	if (err)
		return err;
	go->status = GPROF_GO_RUNNABLE;
	go->seq = c->args[1];
	ev->stack = c->args[2];
	return gprof_trace_go_transition(ev, go->id, GPROF_TRACE_GO_WAITING,
					 GPROF_TRACE_GO_RUNNABLE);
}

/*
 * A goroutine hands its thread over to one that waits: that is unblocked, this
 * blocks or ends, that starts.
 */
int gprof_trace_go_switch(struct gprof_trace_order *o, const struct gprof_trace_cursor *c,
			  struct gprof_trace_event *ev)
{
	struct gprof_trace_go *from, *to;
	struct gprof_trace_event *left, *started;
	int err = need_go_in(o, c, GPROF_GO_RUNNING, &from);

	if (err)
		return err;
	to = gprof_trace_go_find(&o->state, (int64_t)c->args[0]);
	if (!to || to->status != GPROF_GO_WAITING || !is_next(o, to, c->args[1]))
		return 0;
	gprof_trace_go_transition(ev, to->id, GPROF_TRACE_GO_WAITING, GPROF_TRACE_GO_RUNNABLE);
	if (c->type == GPROF_EV_GO_SWITCH) {
		left = gprof_trace_add_follower(o, ev, GPROF_EV_GO_BLOCK);
		gprof_trace_go_transition(left, from->id, GPROF_TRACE_GO_RUNNING,
					  GPROF_TRACE_GO_WAITING);
		from->status = GPROF_GO_WAITING;
	} else {
		left = gprof_trace_add_follower(o, ev, GPROF_EV_GO_DESTROY);
		gprof_trace_go_transition(left, from->id, GPROF_TRACE_GO_RUNNING,
					  GPROF_TRACE_GO_NOT_EXIST);
		gprof_trace_go_remove(&o->state, gprof_trace_go_number(&o->state, from));
	}
	to->status = GPROF_GO_RUNNING;
	to->seq = c->args[1];
	bind(o, o->m, to);
	started = gprof_trace_add_follower(o, ev, GPROF_EV_GO_START);
	started->goroutine = GPROF_TRACE_NONE;
	gprof_trace_go_transition(started, to->id, GPROF_TRACE_GO_RUNNABLE,
				  GPROF_TRACE_GO_RUNNING);
	return 1;
}

int gprof_trace_go_syscall_begin(struct gprof_trace_order *o, const struct gprof_trace_cursor *c,
				 struct gprof_trace_event *ev)
{
	struct gprof_trace_proc *p;
	struct gprof_trace_go *go;
	int err = need_go_in(o, c, GPROF_GO_RUNNING, &go);

	if (!err)
		err = gprof_trace_want_stack(o, c, c->args[1]);
	if (err)
		return err;
	p = gprof_trace_proc_on(&o->state, o->m);
	/*
	 * The proc's number tells this syscall from others out of which it may be stolen. It has
	 * no other next user: no need to wait.
	 */
	if (p->generation != o->generation || c->args[0] != p->seq + 1)
		return gprof_trace_refuse(o, c, "sequence number %llu of proc %lld does not follow on %llu",
					  (unsigned long long)c->args[0], (long long)p->id,
					  (unsigned long long)p->seq);
	go->status = GPROF_GO_SYSCALL;
	p->status = GPROF_PROC_SYSCALL;
	p->seq = c->args[0];
	gprof_trace_go_transition(ev, go->id, GPROF_TRACE_GO_RUNNING, GPROF_TRACE_GO_SYSCALL);
	ev->stack = ev->transition.stack = c->args[1];
	return 1;
}

int gprof_trace_go_syscall_end(struct gprof_trace_order *o, const struct gprof_trace_cursor *c,
			       struct gprof_trace_event *ev)
{
	struct gprof_trace_proc *p;
	struct gprof_trace_go *go;
	int err = need_go_in(o, c, GPROF_GO_SYSCALL, &go);

	if (err)
		return err;
	p = gprof_trace_proc_on(&o->state, o->m);
	if (p->status != GPROF_PROC_SYSCALL)
		return gprof_trace_refuse(o, c, "proc %lld is not in a syscall but %s",
					  (long long)p->id, gprof_trace_proc_status_name(p->status));
	go->status = GPROF_GO_RUNNING;
	p->status = GPROF_PROC_RUNNING;
	return gprof_trace_go_transition(ev, go->id, GPROF_TRACE_GO_SYSCALL,
					 GPROF_TRACE_GO_RUNNING);
}

/* Of a thread that may or may not have a proc: the goroutine, in a syscall. */
static int need_go_in_syscall(struct gprof_trace_order *o, const struct gprof_trace_cursor *c,
			      struct gprof_trace_go **go)
{
	int err = gprof_trace_need(o, c, GPROF_NEED_THREAD | GPROF_NEED_GO);

	if (err)
		return err;
	*go = gprof_trace_go_on(&o->state, o->m);
	if (!*go)
		return gprof_trace_refuse(o, c, "goroutine %lld, on which it happens, has ended",
					  (long long)o->m->go);
	if ((*go)->status != GPROF_GO_SYSCALL)
		return gprof_trace_refuse(o, c, "goroutine %lld is not in a syscall but %s",
					  (long long)(*go)->id,
					  gprof_trace_go_status_name((*go)->status));
	return 0;
}

int gprof_trace_go_syscall_end_blocked(struct gprof_trace_order *o,
				       const struct gprof_trace_cursor *c,
				       struct gprof_trace_event *ev)
{
	const struct gprof_trace_proc *p = gprof_trace_proc_on(&o->state, o->m);
	struct gprof_trace_go *go;
	int err;

	/* It lost its proc meanwhile: that comes first. */
	if (p && p->status == GPROF_PROC_SYSCALL)
		return 0;
	err = need_go_in_syscall(o, c, &go);
	if (err)
		return err;
	go->status = GPROF_GO_RUNNABLE;
	unbind(o->m);
	return gprof_trace_go_transition(ev, go->id, GPROF_TRACE_GO_SYSCALL,
					 GPROF_TRACE_GO_RUNNABLE);
}

/*
 * A thread of C leaves Go. Its id may be another thread's soon, so a proc that it still has is
 * taken from it now; the trace says so later, or never.
 */
int gprof_trace_go_destroy_syscall(struct gprof_trace_order *o, const struct gprof_trace_cursor *c,
				   struct gprof_trace_event *ev)
{
	struct gprof_trace_proc *p = gprof_trace_proc_on(&o->state, o->m);
	struct gprof_trace_event *destroyed = ev;
	struct gprof_trace_go *go;
	int err = need_go_in_syscall(o, c, &go);

	if (err)
		return err;
	if (p && p->status != GPROF_PROC_SYSCALL)
		return gprof_trace_refuse(o, c, "proc %lld is not in a syscall but %s",
					  (long long)p->id, gprof_trace_proc_status_name(p->status));
	if (p) {
		destroyed = gprof_trace_add_follower(o, ev, GPROF_EV_GO_DESTROY_SYSCALL);
		ev->type = GPROF_EV_PROC_STEAL;
		gprof_trace_proc_transition(ev, p->id, GPROF_TRACE_PROC_RUNNING,
					    GPROF_TRACE_PROC_IDLE);
		p->status = GPROF_PROC_SYSCALL_ABANDONED;
		o->m->proc = GPROF_TRACE_NONE;
	}
	gprof_trace_go_transition(destroyed, go->id, GPROF_TRACE_GO_SYSCALL,
				  GPROF_TRACE_GO_NOT_EXIST);
	gprof_trace_go_remove(&o->state, gprof_trace_go_number(&o->state, go));
	unbind(o->m);
	return 1;
}

/* A goroutine in a syscall: on this thread, or on one that is not heard of for long. */
static int status_in_syscall(struct gprof_trace_order *o, const struct gprof_trace_cursor *c,
			     struct gprof_trace_event *ev, const struct gprof_trace_go *go)
{
	int64_t thread = (int64_t)c->args[1];
	struct gprof_trace_m *m;
	uint32_t n;

	if (thread == GPROF_TRACE_NONE)
		return gprof_trace_refuse(o, c, "goroutine %lld is in a syscall of no thread",
					  (long long)go->id);
	if (thread == c->thread) {
		if (o->generation != o->initial && o->m->go != go->id)
			return gprof_trace_refuse(o, c, "goroutine %lld is in a syscall of thread %lld, which runs goroutine %lld",
						  (long long)go->id, (long long)thread,
						  (long long)o->m->go);
		bind(o, o->m, go);
		return 0;
	}
	ev->thread = thread;
	m = gprof_trace_m_find(&o->state, thread);
	if (m && m->go != go->id)
		return gprof_trace_refuse(o, c, "goroutine %lld is in a syscall of thread %lld, which runs goroutine %lld",
					  (long long)go->id, (long long)thread, (long long)m->go);
	if (m) {
		ev->goroutine = go->id;
		return 0;
	}
	n = gprof_trace_m_add(&o->state, thread);
	if (n == GPROF_NONE)
		return gprof_trace_fail(o, errno);
	bind(o, &o->state.ms[n], go);
	return 0;
}

int gprof_trace_go_status(struct gprof_trace_order *o, const struct gprof_trace_cursor *c,
			  struct gprof_trace_event *ev)
{
	int64_t id = (int64_t)c->args[0];
	uint64_t status = c->args[2];
	struct gprof_trace_go *go = gprof_trace_go_find(&o->state, id);
	unsigned int from;
	int err = 0;

	if (status >= GPROF_GO_NR)
		return gprof_trace_refuse(o, c, "goroutine %lld has the status %llu, which there is not",
					  (long long)id, (unsigned long long)status);
	from = state_of[status];
	if (c->type == GPROF_EV_GO_STATUS_STACK) {
		err = gprof_trace_want_stack(o, c, c->args[3]);
		if (err)
			return err;
		ev->stack = c->args[3];
	}
	if (go) {
		if (go->status != status)
			return gprof_trace_refuse(o, c, "goroutine %lld is %s here, but was %s",
						  (long long)id,
						  gprof_trace_go_status_name((uint8_t)status),
						  gprof_trace_go_status_name(go->status));
		go->seq = 0;
		go->generation = o->generation;
	} else if (o->generation == o->initial) {
		err = add(o, c, id, (uint8_t)status, &go);
		if (err)
			return err;
		from = GPROF_TRACE_GO_UNDETERMINED;
	} else {
		return gprof_trace_refuse(o, c, "goroutine %lld was never created", (long long)id);
	}
	if (status == GPROF_GO_RUNNING)
		bind(o, o->m, go);
	else if (status == GPROF_GO_SYSCALL)
		err = status_in_syscall(o, c, ev, go);
	if (err)
		return err;
	gprof_trace_go_transition(ev, id, from, state_of[status]);
	ev->transition.stack = ev->stack;
	return 1;
}
