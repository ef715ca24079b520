// SPDX-License-Identifier: GPL-2.0-only
/*
 * Spans of threads, passed on as they end, and the effects of losses.
 */
#include "thread_span.h"

#include <string.h>

#include "cli/diag.h"

const char *thread_spans_text(const struct thread_spans *v, uint32_t number)
{
	size_t len;

	return number < v->texts.nr ? intern_key(&v->texts, number, &len) : "";
}

size_t thread_spans_nr(const struct thread_spans *v)
{
	return v->ids.nr;
}

const char *thread_spans_name(const struct thread_spans *v, uint32_t thread)
{
	return thread < v->ids.nr ? thread_spans_text(v, v->all[thread].name) : "";
}

/* Each stack is looked at once. */
enum thread_state thread_spans_stack_state(struct thread_spans *v, uint32_t stack)
{
	struct gprof_frame frames[GPROF_TRACE_FRAMES_MAX];
	size_t nr;

	if (!stack)
		return THREAD_NOT_RECORDED;
	while (stack >= v->room_stack_states)
		v->stack_states = xgrow(v->stack_states, v->room_stack_states,
					&v->room_stack_states, sizeof(*v->stack_states));
	if (!v->stack_states[stack]) {
		nr = trace_stacks_frames(&v->stacks, stack, frames);
		v->stack_states[stack] = (uint8_t)(thread_state_of_stack(frames, nr) + 1);
	}
	return v->stack_states[stack] - 1;
}

enum thread_state thread_spans_wait_state(struct thread_spans *v, const struct thread *l)
{
	enum thread_state stack = v->go ? THREAD_NOT_RECORDED :
					  thread_spans_stack_state(v, l->stack);
	enum thread_state state = thread_state_of_wait(stack, l->reason);

	if (l->stopped)
		return THREAD_STOPPED;
	if ((state == THREAD_OTHER || state == THREAD_KERNEL) && l->uninterruptible)
		return THREAD_UNINTERRUPTIBLE;
	if (l->reclaims && stack == THREAD_NOT_RECORDED)
		return THREAD_RECLAIM;
	if (state != THREAD_NOT_RECORDED)
		return state;
	if (l->faulted && !l->call)
		return THREAD_FAULT;
	return l->call ?
		       thread_state_of_call(thread_spans_text(v, l->call - 1), l->uninterruptible) :
		       THREAD_NOT_RECORDED;
}

int64_t thread_spans_tid(const struct thread_spans *v, uint32_t thread)
{
	return v->go ? v->all[thread].id : THREAD_TID(v->all[thread].id);
}

int64_t thread_spans_pid(const struct thread_spans *v, uint32_t thread)
{
	const struct thread *l = &v->all[thread];

	return l->pid ? l->pid : THREAD_TID(l->id);
}

enum thread_state thread_spans_state(struct thread_spans *v, const struct thread *l)
{
	if (l->lost)
		return THREAD_LOST;
	switch (l->state) {
	case GPROF_TRACE_GO_SYSCALL:
		return v->go ? THREAD_SYSCALL : THREAD_CPU;
	case GPROF_TRACE_GO_RUNNING:
		return THREAD_CPU;
	case GPROF_TRACE_GO_RUNNABLE:
		return l->throttled ? THREAD_THROTTLED : THREAD_RUNNABLE;
	default:
		return thread_spans_wait_state(v, l);
	}
}

/* A throttled thread may wait for a CPU besides, once its cgroup has time again. */
static void emit_throttled(struct thread_spans *v, uint32_t i, int64_t begin, int64_t end,
			   bool goes_on)
{
	struct thread *l = &v->all[i];
	int64_t again = v->unthrottled[l->queue];

	if (again > begin && again < end) {
		thread_span_emit(v, i, THREAD_THROTTLED, begin, again, false);
		thread_span_emit(v, i, THREAD_RUNNABLE, again, end, goes_on);
	} else {
		thread_span_emit(v, i, THREAD_THROTTLED, begin, end, goes_on);
	}
	l->throttled = false;
}

static void emit_known(struct thread_spans *v, uint32_t i, int64_t begin, int64_t end, bool goes_on)
{
	enum thread_state state = thread_spans_state(v, &v->all[i]);

	if (state == THREAD_THROTTLED)
		emit_throttled(v, i, begin, end, goes_on);
	else
		thread_span_emit(v, i, state, begin, end, goes_on);
}

bool thread_is_running(const struct thread *l)
{
	return !l->lost &&
	       (l->state == GPROF_TRACE_GO_RUNNING || l->state == GPROF_TRACE_GO_SYSCALL);
}

int64_t thread_span_known_until(const struct thread_spans *v, const struct thread *l)
{
	if (l->lost)
		return l->since;
	if (!thread_is_off(l))
		return TRACE_GAPS_NONE;
	return l->broken ? l->broken : trace_gaps_first(&v->gaps, l->since);
}

void thread_span_call_end(struct thread_spans *v, uint32_t i, int64_t time, bool cut)
{
	struct thread *l = &v->all[i];

	if (!l->call)
		return;
	if (v->use.call)
		v->use.call(v->use.ctx, v, i, l->call_since, time, cut);
	l->call = 0;
}

/*
 * A thread's state from then on is not known, nor the one afterwards: it may have run, and have
 * come back to where it was for another reason.
 */
static void lose_reasons(struct thread_spans *v, uint32_t i, int64_t time)
{
	struct thread *l = &v->all[i];

	thread_span_call_end(v, i, time < l->call_since ? l->call_since : time, true);
	l->stack = 0;
	l->reason = THREAD_NOT_RECORDED;
	l->stopped = l->uninterruptible = l->faulted = l->reclaims = l->throttled = false;
}

void thread_span_gone(struct thread_spans *v, uint32_t i)
{
	if (v->all[i].lost)
		return;
	lose_reasons(v, i, v->all[i].since);
	v->all[i].lost = true;
}

void thread_span_broken(struct thread_spans *v, uint32_t i, int64_t time, bool confirmed)
{
	struct thread *l = &v->all[i];
	int64_t known = thread_span_known_until(v, l), again = v->gaps.end;

	if (known >= time) {
		emit_known(v, i, l->since, time, false);
	} else {
		if (!confirmed || again > time || l->lost)
			again = time;
		emit_known(v, i, l->since, known, true);
		thread_span_emit(v, i, THREAD_LOST, known, again, false);
		lose_reasons(v, i, known);
		l->cut = true;
		emit_known(v, i, again, time, false);
	}
	l->lost = false;
	l->broken = 0;
	l->since = time;
}

void thread_span_cpu_lost(struct thread_spans *v, struct thread_spans_cpu *c, int64_t time)
{
	int64_t begin = c->last ? c->last : v->any ? v->begin : time;
	struct thread *l = c->thread == THREAD_NONE ? NULL : &v->all[c->thread];

	trace_gaps_add(&v->gaps, begin, time);
	if (!c->lost_to)
		c->lost_from = begin;
	c->lost_to = time;
	c->had = THREAD_UNKNOWN;
	c->throttled = false;
	if (!l || l->lost)
		return;
	if (l->since > begin)
		begin = l->since;
	emit_known(v, c->thread, l->since, begin, true);
	lose_reasons(v, c->thread, begin);
	l->since = begin;
	l->lost = true;
}

/* Does the event say that it has its CPU still? */
static bool is_there(const struct thread *l, const struct gprof_trace_event *ev)
{
	return ev && ev->goroutine == l->id && !event_is_made_up(ev) &&
	       !event_leaves_for(ev, "clocks of CPUs differ");
}

void thread_span_cpu_found(struct thread_spans *v, int64_t cpu, struct thread_spans_cpu *c,
			   const struct gprof_trace_event *ev)
{
	struct thread *l = c->thread == THREAD_NONE ? NULL : &v->all[c->thread];
	int64_t until = ev ? ev->time : v->end;

	if (l && l->lost && is_there(l, ev)) {
		/* Events of one time are told one behind the other, and so after it. */
		until = c->lost_to < l->since ? l->since : c->lost_to;
		thread_span_emit(v, c->thread, THREAD_LOST, l->since, until, false);
		l->since = until;
		l->lost = false;
		l->cut = true;
		c->had = c->thread;
	}
	if (v->use.lost)
		v->use.lost(v->use.ctx, v, cpu, c->had, c->lost_from, until);
	c->lost_to = 0;
}

void thread_span_left_unseen(struct thread_spans *v, uint32_t i, int64_t time)
{
	struct thread *l = &v->all[i];
	int64_t known = l->since;
	struct thread_spans_cpu *c;

	if (l->lost)
		return;
	c = l->cpu >= 0 && (size_t)l->cpu < v->nr_cpus ? &v->cpus[l->cpu] : NULL;
	/* The event that says so is the last there, or more than one. */
	if (c && c->before > known)
		known = c->before;
	emit_known(v, i, l->since, known, true);
	lose_reasons(v, i, known);
	l->since = known;
	l->lost = true;
	if (!c || c->thread != i)
		return;
	c->had = THREAD_UNKNOWN;
	if (v->use.lost)
		v->use.lost(v->use.ctx, v, l->cpu, c->had, known, time);
}
