// SPDX-License-Identifier: GPL-2.0-only
/*
 * trace_min_duration: a call that has begun is told if it lasts.
 *
 * Where a least duration is asked for, the begin of a system call, an interrupt or reclaim
 * is held with its time, and written when something else is to be written on this CPU, a
 * switch above all: so all stays in order, and the events of a call lie within it. An end
 * that finds its begin held, and too young, drops it; nothing of the two is told then.
 *
 * Held words are of the running task, and of interrupts on top of each other: at a switch
 * all of them are written. No generation can have been cut since, as only written records
 * cut one, and CPU samples, which are refused beside a least duration.
 */
#include "clock/clock.h"
#include "trace.h"
#include "trace_emit.h"

#include <linux/gprof.h>
#include <linux/irqflags.h>

/**
 * gprof_trace_begins() - something has begun
 * @t: trace
 * @e: its word, and GPROF_TRACE_STACKS_*
 *
 * Context: Any but NMI, preemption off.
 */
void gprof_trace_begins(struct gprof_trace *t, const struct gprof_trace_event *e)
{
	struct gprof_trace_cpu *c;
	unsigned long flags;

	local_irq_save(flags);
	c = this_cpu_ptr(t->cpus);
	if (!t->min_ns || !c->buffer || c->nr_deferred == GPROF_TRACE_DEFERRED)
		gprof_trace_write(t, e);
	else
		c->deferred[c->nr_deferred++] = (struct gprof_trace_deferred){
			.time = gprof_clock_ns(),
			.word = e->word,
			.stack = e->stack,
			.irq = gprof_trace_in_irq(),
		};
	local_irq_restore(flags);
}

/* The words on top have no end any more. */
static bool drop_short_begin(struct gprof_trace_cpu *c, u64 min_ns, u32 begin)
{
	u32 i = c->nr_deferred;

	while (i && gprof_trace_what(c->deferred[i - 1].word) != begin)
		i--;
	if (!i || gprof_clock_ns() - c->deferred[i - 1].time >= min_ns)
		return false;
	c->nr_deferred = i - 1;
	return true;
}

/**
 * gprof_trace_ends() - and has ended
 * @t: trace
 * @e: the word of its end
 * @begin: type of the word of its begin
 *
 * Context: Any but NMI, preemption off.
 */
void gprof_trace_ends(struct gprof_trace *t, const struct gprof_trace_event *e, u32 begin)
{
	unsigned long flags;

	local_irq_save(flags);
	if (!drop_short_begin(this_cpu_ptr(t->cpus), t->min_ns, begin))
		gprof_trace_write(t, e);
	local_irq_restore(flags);
}
