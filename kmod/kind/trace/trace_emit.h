/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * trace_emit: writes the events of a trace.
 */
#ifndef GPROF_TRACE_EMIT_H
#define GPROF_TRACE_EMIT_H

#include "trace.h"

void gprof_trace_emit_slowly(struct gprof_trace *t, u64 now, u32 word, struct task_struct *named);
void gprof_trace_no_buffer(struct gprof_trace *t);
void gprof_trace_write(struct gprof_trace *t, const struct gprof_trace_event *e);
void gprof_trace_release(struct gprof_trace *t);
void gprof_trace_emit_running(struct gprof_trace *t, bool again);
bool gprof_trace_mark(struct gprof_trace *t, const struct gprof_trigger_event *fired, pid_t tid,
		      u32 flags);

/**
 * gprof_trace_emit() - write an event of one word
 * @t: trace
 * @c: this CPU's, which has a ring
 * @now: its time
 * @word: gprof_trace_word()
 * @tid: that of @named, which it names, or 0: it names none that has a name
 * @named: task
 *
 * It is one word alone where a reader knows already the running task and the named one; then all
 * that could be in the way is looked at ahead of the first thing that is done, and nothing has to
 * be kept for the seldom part. The running task is known while it is looked ahead in the ring. In
 * an interrupt the caller counts it as such.
 *
 * Context: Any but NMI, interrupts off.
 */
static __always_inline void gprof_trace_emit(struct gprof_trace *t, struct gprof_trace_cpu *c,
					     u64 now, u32 word, u32 tid,
					     struct task_struct *named)
{
	struct gprof_buffer *b = c->buffer;
	u64 at, since;

	local64_inc(&b->produced);
	at = local64_read(&b->word);
	barrier();	/* reads behind it are gprof_buffer_put()'s business */
	/* No generation is longer than a word can tell, but by gprof_trace_emit_slowly(). */
	since = now - READ_ONCE(b->generation_start);
	if (unlikely(since >= b->generation_ns) ||
	    (tid && unlikely(*gprof_trace_name(c, tid) != gprof_trace_name_key(c, tid))) ||
	    unlikely(!gprof_buffer_put(b, at, since / GPROF_TRACE_TIME_UNIT
					      << GPROF_TRACE_TIME_SHIFT | word)))
		gprof_trace_emit_slowly(t, now, word, tid ? named : NULL);
}

#endif /* GPROF_TRACE_EMIT_H */
