// SPDX-License-Identifier: GPL-2.0-only
/*
 * The spans of goroutines, in a trace that a Go program wrote of itself: a goroutine is a thread,
 * and a P is a CPU. Nothing tells when the kernel took the CPU from an M: a goroutine that runs has
 * a P, and one in a system call may run there or wait.
 */
#include "thread_span.h"

#include <stddef.h>

static uint32_t stack_number(struct thread_spans *v, uint64_t stack)
{
	return stack ? (uint32_t)trace_stacks_add(&v->stacks, v->trace, stack) : 0;
}

/* A goroutine has the name of the function that it began with, the outermost of its stacks. */
static void name(struct thread_spans *v, uint32_t i, uint64_t stack, bool begins)
{
	struct gprof_trace_frame frames[GPROF_TRACE_FRAMES_MAX];
	size_t nr = 0;

	if (!*thread_spans_name(v, i) && stack)
		nr = gprof_trace_stack(v->trace, stack, frames, GPROF_TRACE_FRAMES_MAX);
	/* A deeper one is cut off at its root. */
	if (nr && nr < GPROF_TRACE_FRAMES_MAX)
		v->all[i].name =
			thread_spans_text_number(v, &frames[begins ? 0 : nr - 1].function);
}

static void wake(struct thread_spans *v, uint32_t i, const struct gprof_trace_event *ev)
{
	uint32_t by = ev->goroutine < 0 ? THREAD_NONE : thread_spans_look_up(v, ev->goroutine);
	struct thread *l = &v->all[i];

	l->woken = true;
	l->waker = by == i ? THREAD_NONE : by;
	l->waker_stack = stack_number(v, ev->stack);
	l->woken_at = ev->time;
	if (v->use.waking)
		v->use.waking(v->use.ctx, v, i, l->waker, ev->time, l->waker_stack, ev->proc);
}

/* Where it stops, and why. */
static void stop(struct thread_spans *v, struct thread *l, const struct gprof_trace_event *ev)
{
	struct gprof_frame frames[GPROF_TRACE_FRAMES_MAX];
	size_t nr;

	l->stack = stack_number(v, ev->transition.stack);
	l->reason = (uint8_t)thread_state_of_go_reason(ev->transition.reason.s);
	l->woken = false;
	/* Of a coroutine, which waits for the other. */
	if (l->reason == THREAD_NOT_RECORDED && !strcmp(gprof_trace_type_name(ev->type), "GoSwitch"))
		l->reason = THREAD_OTHER;
	if (l->reason != THREAD_NOT_RECORDED || !l->stack)
		return;
	nr = trace_stacks_frames(&v->stacks, l->stack, frames);
	l->reason = (uint8_t)thread_state_of_go_stack(frames, nr);
}

void thread_spans_on_goroutine(struct thread_spans *v, const struct gprof_trace_event *ev)
{
	uint8_t from = ev->transition.from, to = ev->transition.to;
	bool fresh = from == GPROF_TRACE_GO_UNDETERMINED || from == GPROF_TRACE_GO_NOT_EXIST;
	bool had = from == GPROF_TRACE_GO_RUNNING || from == GPROF_TRACE_GO_SYSCALL;
	struct thread_spans_cpu *p = thread_spans_cpu(v, ev->proc);
	uint32_t i;

	if (ev->transition.resource.id < 0)
		return;
	i = thread_spans_look_up(v, ev->transition.resource.id);
	name(v, i, ev->transition.stack, from == GPROF_TRACE_GO_NOT_EXIST);
	if (from == to)
		return;
	if (fresh)
		v->all[i].first = v->all[i].since = ev->time;
	if (from == GPROF_TRACE_GO_WAITING)
		wake(v, i, ev);
	if (!fresh)
		thread_span_end(v, i, ev->time, true);
	if (had || from == GPROF_TRACE_GO_UNDETERMINED)
		stop(v, &v->all[i], ev);
	else if (from == GPROF_TRACE_GO_NOT_EXIST)
		v->all[i].stack = stack_number(v, ev->stack);
	if (to == GPROF_TRACE_GO_NOT_EXIST)
		v->all[i].last = ev->time;
	v->all[i].state = to;
	v->all[i].cut = from == GPROF_TRACE_GO_UNDETERMINED;
	if (!p)
		return;
	if (to == GPROF_TRACE_GO_RUNNING) {
		v->all[i].cpu = (int32_t)ev->proc;
		if (p->had != i)
			thread_spans_comes(v, ev->proc, i, ev->time);
	} else if (had && to != GPROF_TRACE_GO_SYSCALL && p->had == i) {
		/* The scheduler has the P until the next goroutine comes. */
		thread_spans_comes(v, ev->proc, THREAD_NONE, ev->time);
	}
}
