/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Spans of threads, passed on as they end, to views.
 */
#ifndef TOOLS_VIEWS_THREAD_SPAN_H
#define TOOLS_VIEWS_THREAD_SPAN_H

#include <string.h>

#include "thread_spans.h"

/* thread_spans_stack_state() - state of a thread that stopped at a stack, by its number */
enum thread_state thread_spans_stack_state(struct thread_spans *v, uint32_t stack);

/* thread_is_known() - is it known that the thread is there? */
static inline bool thread_is_known(const struct thread *l)
{
	return l->state != GPROF_TRACE_GO_UNDETERMINED && l->state != GPROF_TRACE_GO_NOT_EXIST;
}

/* event_leaves_for() - is it a thread that leaves a CPU for this reason? */
static inline bool event_leaves_for(const struct gprof_trace_event *ev, const char *reason)
{
	return ev->kind == GPROF_TRACE_STATE_TRANSITION &&
	       ev->transition.from == GPROF_TRACE_GO_RUNNING &&
	       ev->transition.reason.s[0] == reason[0] && !strcmp(ev->transition.reason.s, reason);
}

/* event_is_made_up() - its thread left its CPU in a lost event, some time before */
static inline bool event_is_made_up(const struct gprof_trace_event *ev)
{
	return event_leaves_for(ev, "lost events");
}

/* thread_is_off() - is it told that it has no CPU? */
static inline bool thread_is_off(const struct thread *l)
{
	return l->state == GPROF_TRACE_GO_RUNNABLE || l->state == GPROF_TRACE_GO_WAITING;
}

/* thread_spans_wait_state() - why a thread waits that does */
enum thread_state thread_spans_wait_state(struct thread_spans *v, const struct thread *l);

/* thread_span_emit() - pass a span of a thread to the view */
static inline void thread_span_emit(struct thread_spans *v, uint32_t i, enum thread_state state,
				    int64_t begin, int64_t end, bool goes_on)
{
	const struct thread *l = &v->all[i];
	const bool ready = state == THREAD_RUNNABLE || state == THREAD_THROTTLED;
	const bool woken = l->woken && state != THREAD_LOST && (ready || !goes_on);
	const struct span s = {
		.thread = i,
		.state = state,
		.begin = begin,
		.end = end,
		.stack = state == THREAD_CPU || state == THREAD_LOST ? 0 : l->stack,
		.woken = woken,
		.waker = woken ? l->waker : THREAD_NONE,
		.cut = l->cut,
		.goes_on = goes_on,
	};

	if (v->use.span && end > begin)
		v->use.span(v->use.ctx, v, &s);
}

/* thread_span_broken() - thread_span_end(), in any state */
void thread_span_broken(struct thread_spans *v, uint32_t i, int64_t time, bool confirmed);

/**
 * thread_span_end() - a thread's present span has ended
 * @v: all of them
 * @i: which
 * @time: when
 * @confirmed: the event that ends it implies the state just before. So the thread has been in this
 *	state since the last gap of the trace
 */
static inline __attribute__((always_inline)) void
thread_span_end(struct thread_spans *v, uint32_t i, int64_t time, bool confirmed)
{
	struct thread *l = &v->all[i];
	enum thread_state state = v->go && l->state == GPROF_TRACE_GO_SYSCALL ? THREAD_SYSCALL :
										 THREAD_CPU;

	if (!thread_is_known(l))
		return;
	if (l->lost || l->throttled || l->broken || (thread_is_off(l) && v->gaps.end > l->since)) {
		thread_span_broken(v, i, time, confirmed);
		return;
	}
	if (thread_is_off(l))
		state = l->state == GPROF_TRACE_GO_RUNNABLE ? THREAD_RUNNABLE :
							      thread_spans_wait_state(v, l);
	thread_span_emit(v, i, state, l->since, time, false);
	l->since = time;
}

/*
 * thread_span_cpu_lost() - events of a CPU are missing, from the last that there is of it up to
 * @time: its thread may have left
 */
void thread_span_cpu_lost(struct thread_spans *v, struct thread_spans_cpu *c, int64_t time);

/* thread_span_cpu_found() - the loss has ended with the event there now; NULL: with the trace */
void thread_span_cpu_found(struct thread_spans *v, int64_t cpu, struct thread_spans_cpu *c,
			   const struct gprof_trace_event *ev);

/*
 * thread_span_left_unseen() - a thread has left its CPU by @time, some time after it was seen
 * there last
 */
void thread_span_left_unseen(struct thread_spans *v, uint32_t i, int64_t time);

/* thread_span_gone() - in a trace of some CPUs, a thread may have been on others in this span */
void thread_span_gone(struct thread_spans *v, uint32_t i);

/* thread_spans_look_up() - index of a thread by the number of its goroutine, which is not below 0 */
uint32_t thread_spans_look_up(struct thread_spans *v, int64_t id);

/* thread_spans_cpu() - a CPU by its number; NULL: there are not so many */
struct thread_spans_cpu *thread_spans_cpu(struct thread_spans *v, int64_t cpu);

/* thread_spans_text_number() - number of a text */
uint32_t thread_spans_text_number(struct thread_spans *v, const struct gprof_trace_text *text);

/* thread_spans_comes() - a CPU has a thread from now on, or THREAD_NONE, after the one before */
void thread_spans_comes(struct thread_spans *v, int64_t cpu, uint32_t thread, int64_t time);

/* thread_spans_on_goroutine() - a goroutine changes its state, in a Go program's own trace */
void thread_spans_on_goroutine(struct thread_spans *v, const struct gprof_trace_event *ev);

/* thread_span_call_end() - the system call that a thread is in, if any, has ended, or is @cut off */
void thread_span_call_end(struct thread_spans *v, uint32_t i, int64_t time, bool cut);

#endif /* TOOLS_VIEWS_THREAD_SPAN_H */
