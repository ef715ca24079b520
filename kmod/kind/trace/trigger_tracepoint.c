// SPDX-License-Identifier: GPL-2.0-only
/*
 * trigger_tracepoint: fires when somebody comes to a tracepoint.
 *
 * Each hit is told by a probe of the tracepoint itself, which takes no argument of it. The
 * fields of a filter are in the record that the kernel's trace event makes of the arguments:
 * perf makes one for counters of that event, and so with a filter perf's counters are
 * attached, as for kind profile; see counter.c.
 */
#include "kind/cpu/counter_share.h"
#include "probe/filter.h"
#include "target/target.h"
#include "triggers.h"
#include "user/memlock.h"

#include <linux/err.h>
#include <linux/gprof.h>
#include <linux/perf_event.h>
#include <linux/preempt.h>
#include <linux/security.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/trace_events.h>
#include <linux/tracepoint.h>

#ifdef CONFIG_EVENT_TRACING
/* The arguments that the tracepoint passes on behind the pointer are of no interest. */
static void reached(void *data)
{
	struct gprof_trigger_rule *r = data;

	if (in_nmi()) {
		gprof_trigger_suppress(r);
		return;
	}
	preempt_disable_notrace();
	if (gprof_trace_has(r->all->trace, current))
		gprof_trigger_fire(r, current, 0, GPROF_TRIGGER_ANY, 0);
	preempt_enable_notrace();
}

/* Those of system calls and of probes are no tracepoints of the kernel; perf has them. */
static int find_event(struct gprof_trigger_rule *r, const char *category, const char *event,
		      bool filtered)
{
	struct trace_event_file *file = trace_get_event_file(NULL, category, event);

	if (IS_ERR(file))
		return PTR_ERR(file) == -ENOMEM ? -ENOMEM : -ENOENT;
	if (!filtered && !(file->event_call->flags & TRACE_EVENT_FL_TRACEPOINT)) {
		trace_put_event_file(file);
		return -EOPNOTSUPP;
	}
	r->file = file;
	return 0;
}

static int find_named(struct gprof_trigger_rule *r, const char *name, bool filtered)
{
	const char *colon = strchr(name, ':');
	char *category;
	int err;

	if (!colon)
		return -ENOENT;
	category = kstrndup(name, colon - name, GFP_KERNEL_ACCOUNT);
	if (!category)
		return -ENOMEM;
	err = find_event(r, category, colon + 1, filtered);
	kfree(category);
	return err;
}

static int take_filter(struct gprof_trigger_rule *r, const struct gprof_trigger *t)
{
	struct gprof_filter *f = gprof_filter_new(u64_to_user_ptr(t->filter), t->filter_steps,
						  u64_to_user_ptr(t->filter_text),
						  t->filter_text_size);

	if (IS_ERR(f))
		return PTR_ERR(f);
	r->filter = f;
	return 0;
}

static u64 trigger_bytes(const struct gprof_trigger_rule *r, const struct gprof_trigger *t)
{
	return gprof_counters_bytes(r->all->trace->whose.target) +
	       gprof_filter_bytes(t->filter_steps, t->filter_text_size);
}

/* Counters of each hit. The trace's own sampler is not asked for samples. */
static int make_counters(struct gprof_trigger_rule *r)
{
	struct gprof_trace *t = r->all->trace;
	struct gprof_counter_spec spec = {
		.attr = {
			.size = sizeof(spec.attr),
			.type = PERF_TYPE_TRACEPOINT,
			.config = r->file->event_call->event.type,
			.sample_period = 1,
			.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_RAW,
		},
		.target = t->whose.target,
		.sampler = t->sampler,
		.filter = r->filter,
		.passed = reached,
		.ctx = r,
		.with_idle = true,
	};
	int err = gprof_counter_try(&spec);

	if (err)
		return err == -EINVAL ? -EOPNOTSUPP : err;
	r->counters = gprof_counters_new(&spec, r->all->charge);
	return r->counters ? 0 : -ENOMEM;
}

/* Sets members that gprof_trigger_lose() gives back, and the reason. */
static int find_tracepoint(struct gprof_trigger_rule *r, const struct gprof_trigger *t,
			   const char *name, u32 *reason)
{
	int err;

	*reason = GPROF_REASON_LOCKDOWN;
	if (security_locked_down(LOCKDOWN_PERF))
		return -EPERM;
	*reason = GPROF_REASON_TRIGGER;
	/* Where the kernel compares the types of caller and callee. */
	if (!t->filter && (IS_ENABLED(CONFIG_CFI_CLANG) || IS_ENABLED(CONFIG_CFI)))
		return -EOPNOTSUPP;
	err = find_named(r, name, t->filter);
	if (err || !t->filter)
		return err;
	*reason = GPROF_REASON_PARAMS;
	err = take_filter(r, t);
	if (err)
		return err;
	*reason = GPROF_REASON_MEMLOCK;
	err = gprof_charge_more(r->all->charge, trigger_bytes(r, t));
	if (err)
		return err;
	*reason = GPROF_REASON_TRIGGER;
	err = make_counters(r);
	if (err == -EAGAIN)
		*reason = GPROF_REASON_GRACE;
	if (err)
		gprof_charge_less(r->all->charge, trigger_bytes(r, t));
	return err;
}

/**
 * gprof_trigger_find() - find the tracepoint of a trigger, and hold it
 * @r: trigger
 * @t: request
 * @name: "CATEGORY:NAME"
 * @reason: GPROF_REASON_*
 *
 * Context: Task.
 * Return: 0 or a negative errno; then it holds nothing.
 */
int gprof_trigger_find(struct gprof_trigger_rule *r, const struct gprof_trigger *t,
		       const char *name, u32 *reason)
{
	int err = find_tracepoint(r, t, name, reason);

	if (err)
		gprof_trigger_lose(r);
	return err;
}

/**
 * gprof_trigger_lose() - hold it no longer
 * @r: trigger, which nothing reaches any more
 *
 * Context: Task.
 */
void gprof_trigger_lose(struct gprof_trigger_rule *r)
{
	if (r->counters)
		gprof_counters_destroy(r->counters);
	gprof_filter_free(r->filter);
	if (r->file)
		trace_put_event_file(r->file);
}

/**
 * gprof_trigger_reach() - have it fire from now on
 * @r: trigger; one that has no tracepoint is left alone
 *
 * Context: Task.
 * Return: 0 or a negative errno.
 */
int gprof_trigger_reach(struct gprof_trigger_rule *r)
{
	u32 attached;

	if (r->counters)
		return gprof_counters_start(r->counters, &attached);
	return r->file ? tracepoint_probe_register(r->file->event_call->tp, reached, r) : 0;
}

/**
 * gprof_trigger_unreach() - the reverse
 * @r: trigger
 *
 * Context: Task; tracepoint_synchronize_unregister() is due.
 */
void gprof_trigger_unreach(struct gprof_trigger_rule *r)
{
	if (r->counters)
		gprof_counters_stop(r->counters);
	else if (r->file)
		tracepoint_probe_unregister(r->file->event_call->tp, reached, r);
}
#else
int gprof_trigger_find(struct gprof_trigger_rule *r, const struct gprof_trigger *t,
		       const char *name, u32 *reason)
{
	*reason = GPROF_REASON_TRIGGER;
	return -EOPNOTSUPP;
}

void gprof_trigger_lose(struct gprof_trigger_rule *r)
{
}

int gprof_trigger_reach(struct gprof_trigger_rule *r)
{
	return 0;
}

void gprof_trigger_unreach(struct gprof_trigger_rule *r)
{
}
#endif
