/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * perf events.
 *
 * data->sample_flags: 6.1. Before, a driver fills data->callchain exactly if the event has asked
 * it to (precise_ip).
 *
 * task->perf_event_ctxp: an array of contexts (hardware, software) until 6.1,
 * one context since 6.2. Both are an array of pointers in memory.
 */
#ifndef GPROF_COMPAT_PERF_H
#define GPROF_COMPAT_PERF_H

#include <linux/perf_event.h>
#include <linux/rculist.h>
#include <linux/sched.h>

/* The call chain that the driver of a precise event took, or NULL. */
static inline const struct perf_callchain_entry *
gprof_driver_callchain(const struct perf_event *event, const struct perf_sample_data *data)
{
	if (!(event->attr.sample_type & PERF_SAMPLE_CALLCHAIN))
		return NULL;
#ifdef GPROF_HAVE_SAMPLE_FLAGS
	if (!(data->sample_flags & PERF_SAMPLE_CALLCHAIN))
		return NULL;
#endif
	return data->callchain;
}

/* Does the kernel throttle this counter now? Called from its overflow handler. */
static inline bool gprof_counter_throttled(const struct perf_event *event)
{
	/* MAX_INTERRUPTS of kernel/events/core.c, set before the handler runs. */
	return event->hw.interrupts == (typeof(event->hw.interrupts))~0ULL;
}

/*
 * Number of events of the counter that have become samples. perf uses this member
 * for counters in frequency mode, which the module's counters never are.
 */
static inline u64 *gprof_counter_stamp(struct perf_event *event)
{
	return &event->hw.freq_count_stamp;
}

/*
 * A number that only the handler uses, 0 in a new counter; a member as above.
 */
static inline u64 *gprof_counter_seen(struct perf_event *event)
{
	return &event->hw.freq_time_stamp;
}

/*
 * The task's counter whose handler gets @context, inherited or not, or NULL.
 *
 * The list is walked under RCU as perf's own perf_iterate_ctx() does: contexts
 * and events are freed after a grace period.
 */
static inline struct perf_event *gprof_task_counter(struct task_struct *task,
						    const void *context)
{
	struct perf_event_context **ctxp = (void *)&task->perf_event_ctxp;
	unsigned int i;

	RCU_LOCKDEP_WARN(!rcu_read_lock_held(), "the list of counters needs RCU");
	for (i = 0; i < sizeof(task->perf_event_ctxp) / sizeof(*ctxp); i++) {
		struct perf_event_context *ctx = READ_ONCE(ctxp[i]);
		struct perf_event *event;

		if (!ctx)
			continue;
		list_for_each_entry_rcu(event, &ctx->event_list, event_entry) {
			if (event->overflow_handler_context == context)
				return event;
		}
	}
	return NULL;
}

/* Does software increment it? Such counters run from -period up to 0. */
static inline bool gprof_counter_counts_up(const struct perf_event *event)
{
	return event->attr.type == PERF_TYPE_TRACEPOINT || event->attr.type == PERF_TYPE_SOFTWARE;
}

/*
 * Sets the period that begins at the next overflow, from within the handler or while the
 * counter may overflow: software events use last_period, and copy it to sample_period then.
 */
static inline void gprof_counter_set_period(struct perf_event *event, u64 period)
{
	WRITE_ONCE(event->hw.sample_period, period);
	WRITE_ONCE(event->hw.last_period, period);
}

/*
 * Sets the number of events to the first overflow, of a counter that has not run yet or of a
 * software event. A counter of another type that runs keeps the rest of its period.
 */
static inline void gprof_counter_set_phase(struct perf_event *event, u64 first)
{
	local64_set(&event->hw.period_left,
		    gprof_counter_counts_up(event) ? -(s64)first : (s64)first);
}

#endif /* GPROF_COMPAT_PERF_H */
