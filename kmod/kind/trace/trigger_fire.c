// SPDX-License-Identifier: GPL-2.0-only
/*
 * trigger_fire: fires, at most once in the trigger's interval.
 *
 * Under locks of the scheduler as well: it takes none, and tells its listener by
 * irq_work.
 */
#include "trace_emit.h"
#include "triggers.h"
#include "user/event_queue.h"

#include <linux/irqflags.h>
#include <linux/sched.h>
#include <linux/timekeeping.h>

static bool is_due(struct gprof_trigger_rule *r, u64 now)
{
	s64 next = atomic64_read(&r->next);

	return (s64)now - next >= 0 &&
	       atomic64_cmpxchg(&r->next, next, now + r->interval_ns) == next;
}

/* There was no room: a trigger that has not fired has no interval to wait for. */
static void give_back(struct gprof_trigger_rule *r, u64 now)
{
	atomic64_cmpxchg(&r->next, now + r->interval_ns, now);
}

/**
 * gprof_trigger_suppress() - it would have fired
 * @r: trigger
 *
 * Context: Any.
 */
void gprof_trigger_suppress(struct gprof_trigger_rule *r)
{
	atomic64_inc(&r->suppressed);
	atomic64_inc(&r->all->events->suppressed);
}

/**
 * gprof_trigger_fire() - that has happened which the trigger is for
 * @r: trigger
 * @task: its task: current, or one that does not run, or under RCU
 * @ns: how long it lasted
 * @number: see struct gprof_trigger_event
 * @flags: GPROF_TRIGGER_EVENT_F_*
 *
 * Context: Any but NMI.
 */
void gprof_trigger_fire(struct gprof_trigger_rule *r, struct task_struct *task, u64 ns,
			s32 number, u32 flags)
{
	struct gprof_event_queue *q = r->all->events;
	struct gprof_event *e = NULL;
	unsigned long irq;
	u64 now;

	local_irq_save(irq);
	now = ktime_get_mono_fast_ns();
	if (is_due(r, now)) {
		e = gprof_event_claim(q);
		if (!e)
			give_back(r, now);
	}
	if (e) {
		gprof_event_of(e, task, r->what, r->index);
		e->suppressed = &r->suppressed;
		e->told.fired = atomic64_inc_return(&r->fired);
		e->told.time = now;
		e->told.duration_ns = ns;
		e->told.number = number;
		/* The work item that looks at it may run on any CPU. */
		if (flags & GPROF_TRIGGER_EVENT_F_GOES_ON)
			e->told.cpu = task_cpu(task);
		if (!gprof_trace_mark(r->all->trace, &e->told, task->pid, flags))
			flags |= GPROF_TRIGGER_EVENT_F_UNMARKED;
		e->told.flags = flags;
		atomic64_inc(&q->fired);
		gprof_event_publish(q, e);
	} else {
		gprof_trigger_suppress(r);
	}
	local_irq_restore(irq);
}

/**
 * gprof_trigger_lasted() - something has ended
 * @g: triggers
 * @what: GPROF_TRIGGER_*
 * @task: as for gprof_trigger_fire(), and of the target
 * @since: when it began, with the bits of those that have fired for it
 * @now: gprof_since() of now
 * @number: see struct gprof_trigger_event
 *
 * Context: Any but NMI.
 */
void gprof_trigger_lasted(struct gprof_triggers *g, u32 what, struct task_struct *task,
			  u64 since, u64 now, s32 number)
{
	s64 lasted = gprof_since_duration(since, now);
	u64 ns = lasted > 0 ? lasted >> GPROF_SINCE_SHIFT : 0;
	unsigned int i;

	for (i = 0; i < g->nr; i++) {
		struct gprof_trigger_rule *r = &g->rules[i];

		if (r->what != what || since & gprof_since_fired(r->index) ||
		    ns <= r->threshold_ns ||
		    gprof_trigger_spares(r, task) ||
		    (r->number != GPROF_TRIGGER_ANY && r->number != number))
			continue;
		gprof_trigger_fire(r, task, ns, number, 0);
	}
}
