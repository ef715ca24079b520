// SPDX-License-Identifier: GPL-2.0-only
/*
 * trigger: which there are.
 *
 * They are set before START, and nothing of them changes until STOP but when they may fire
 * again, and how often they have.
 *
 * Lock order: the recorder's > @scanning; trigger event takes none.
 */
#include "trigger.h"
#include "target/target.h"
#include "user/event_queue.h"
#include "user/memlock.h"

#include <linux/interrupt.h>
#include <linux/percpu.h>
#include <linux/signal.h>
#include <linux/slab.h>
#include <linux/string.h>

#define INTERVAL_DEFAULT	NSEC_PER_SEC

static bool pending(u32 what)
{
	return what - 1 < GPROF_PENDING_NR;
}

static bool slows(u32 what)
{
	return what != GPROF_TRIGGER_DELAY && what != GPROF_TRIGGER_OFF_CPU &&
	       what != GPROF_TRIGGER_BLOCKED && what != GPROF_TRIGGER_SIGNAL;
}

static bool has_number(const struct gprof_trigger *t)
{
	if (t->number == GPROF_TRIGGER_ANY)
		return true;
	switch (t->what) {
	case GPROF_TRIGGER_SYSCALL:
		return t->number >= 0;
	case GPROF_TRIGGER_IRQ:
		/* Negative: a vector of the CPU. */
		return true;
	case GPROF_TRIGGER_SOFTIRQ:
		return t->number >= 0 && t->number < NR_SOFTIRQS;
	case GPROF_TRIGGER_SIGNAL:
		return t->number > 0 && t->number <= _NSIG;
	}
	return false;
}

/* Of a tracepoint alone, and nothing of one where there is none. */
static bool has_filter(const struct gprof_trigger *t)
{
	if (t->filter)
		return t->what == GPROF_TRIGGER_TRACEPOINT;
	return !t->filter_text && !t->filter_steps && !t->filter_text_size;
}

static int trigger_check(const struct gprof_triggers *g, const struct gprof_trigger *t,
			 const char *name, u32 *reason)
{
	bool reached = t->what == GPROF_TRIGGER_TRACEPOINT;

	*reason = GPROF_REASON_FLAGS;
	if (t->flags)
		return -EOPNOTSUPP;
	*reason = GPROF_REASON_TRIGGER;
	if (!t->what || t->what >= GPROF_TRIGGER_NR || !gprof_trigger_can(t->what))
		return -EOPNOTSUPP;
	if (g->nr == GPROF_TRIGGERS_MAX)
		return -ENOSPC;
	*reason = GPROF_REASON_PERIOD;
	if (t->threshold_ns > GPROF_TRIGGER_NS_MAX || t->interval_ns > GPROF_TRIGGER_NS_MAX ||
	    (t->threshold_ns && (reached || t->what == GPROF_TRIGGER_SIGNAL)))
		return -EINVAL;
	*reason = GPROF_REASON_PARAMS;
	if (!has_number(t) || !name != !reached || !has_filter(t))
		return -EINVAL;
	*reason = GPROF_REASON_SLOWS_DENIED;
	return slows(t->what) && !g->trace->whose.target->privileged ? -EPERM : 0;
}

static int prepare(struct gprof_triggers *g, struct gprof_trigger_rule *r,
		   const struct gprof_trigger *t, const char *name, u32 *reason)
{
	if (name)
		return gprof_trigger_find(r, t, name, reason);
	*reason = GPROF_REASON_MEMLOCK;
	return pending(r->what) ? gprof_pending_op_init(g) : 0;
}

/**
 * gprof_triggers_add() - GPROF_IOC_TRIGGER
 * @g: triggers, not started
 * @trigger: argument; its outputs are set
 * @name: of the tracepoint, or NULL
 *
 * Context: Task.
 * Return: 0 or a negative errno; nothing has changed then.
 */
int gprof_triggers_add(struct gprof_triggers *g, struct gprof_trigger *trigger, const char *name)
{
	u32 target = g->trace->whose.target->type;
	bool host = target == GPROF_TARGET_SYSTEM || target == GPROF_TARGET_CPUS;
	struct gprof_trigger_rule *r = &g->rules[g->nr];
	int err = trigger_check(g, trigger, name, &trigger->out_reason);

	if (err)
		return err;
	*r = (struct gprof_trigger_rule){
		.all = g,
		.what = trigger->what,
		.index = g->nr,
		.number = trigger->number,
		.threshold_ns = trigger->threshold_ns,
		.interval_ns = trigger->interval_ns ?: INTERVAL_DEFAULT,
		.own = host ? current->signal : NULL,
	};
	err = prepare(g, r, trigger, name, &trigger->out_reason);
	if (err)
		return err;
	g->wanted |= 1U << r->what;
	g->nr++;
	trigger->out_index = r->index;
	trigger->out_reason = GPROF_REASON_NONE;
	return 0;
}

/**
 * gprof_triggers_new() - none yet
 * @t: trace
 * @events: where they will fire
 * @charge: pays for their memory
 *
 * Context: Task.
 * Return: triggers, or NULL: no memory, or none that may be pinned.
 */
struct gprof_triggers *gprof_triggers_new(struct gprof_trace *t, struct gprof_event_queue *events,
					  struct gprof_charge *charge)
{
	struct gprof_triggers *g;

	if (gprof_charge_more(charge, gprof_memory_of(sizeof(*g)) +
				      sizeof(*g->cpus) * num_possible_cpus()))
		return NULL;
	g = kzalloc(sizeof(*g), GFP_KERNEL_ACCOUNT);
	if (!g)
		return NULL;
	g->cpus = alloc_percpu_gfp(struct gprof_trigger_cpu, GFP_KERNEL_ACCOUNT);
	if (!g->cpus) {
		kfree(g);
		return NULL;
	}
	g->trace = t;
	g->events = events;
	g->charge = charge;
	mutex_init(&g->scanning);
	return g;
}

/**
 * gprof_triggers_destroy() - free them
 * @g: triggers, not started
 *
 * Context: Task.
 */
void gprof_triggers_destroy(struct gprof_triggers *g)
{
	while (g->nr)
		gprof_trigger_lose(&g->rules[--g->nr]);
	gprof_pending_op_destroy(g);
	mutex_destroy(&g->scanning);
	free_percpu(g->cpus);
	kfree(g);
}

/* Those from @from to before @to. */
static void triggers_leave(struct gprof_triggers *g, unsigned int from, unsigned int to)
{
	while (to-- > from) {
		if (g->joined & 1U << to)
			gprof_tp_unsubscribe_nowait(&g->subs[to]);
	}
	gprof_tp_mux_settle();
}

static int join(struct gprof_triggers *g, unsigned int from, unsigned int to)
{
	unsigned int i;
	int err;

	for (i = from; i < to; i++) {
		g->subs[i].data = g;
		g->subs[i].tracked_only = g->trace->whose.tgids;
		if (!(g->joined & 1U << i))
			continue;
		err = gprof_tp_subscribe(&g->subs[i]);
		if (err) {
			triggers_leave(g, from, i);
			return err;
		}
	}
	return 0;
}

static void set_started(struct gprof_triggers *g, bool started)
{
	mutex_lock(&g->scanning);
	g->started = started;
	mutex_unlock(&g->scanning);
	if (started && g->scans)
		gprof_work_call(&g->scan);
}

static void triggers_clear(struct gprof_triggers *g)
{
	unsigned int i;
	int cpu;

	WRITE_ONCE(g->follows, false);
	gprof_pending_op_clear(g);
	for (i = 0; i < g->nr; i++) {
		atomic64_set(&g->rules[i].next, 0);
		atomic64_set(&g->rules[i].fired, 0);
		atomic64_set(&g->rules[i].suppressed, 0);
	}
	for_each_possible_cpu(cpu)
		memset(per_cpu_ptr(g->cpus, cpu), 0, sizeof(*g->cpus));
}

/**
 * gprof_triggers_start() - look out for events other than waits
 * @g: triggers
 *
 * Context: Task; before the trace's own probes are there.
 * Return: 0 or a negative errno; nothing fires then.
 */
int gprof_triggers_start(struct gprof_triggers *g)
{
	int err;

	triggers_clear(g);
	gprof_pending_op_set_subs(g);
	gprof_trigger_set_subs(g);
	err = join(g, 0, GPROF_TRIGGER_SUBS_FOLLOW);
	if (err)
		return err;
	err = gprof_trigger_attach(g);
	if (err) {
		gprof_trigger_detach(g);
		triggers_leave(g, 0, GPROF_TRIGGER_SUBS_FOLLOW);
	}
	return err;
}

/**
 * gprof_triggers_follow() - look out for waits, and for states that go on
 * @g: triggers, started
 *
 * Context: Task; gprof_pending_op_switch() is told of every switch by now.
 * Return: 0 or a negative errno.
 */
int gprof_triggers_follow(struct gprof_triggers *g)
{
	int err;

	/* Pairs with smp_load_acquire() in gprof_pending_op_begins(): switches are told by then. */
	smp_store_release(&g->follows, true);
	err = join(g, GPROF_TRIGGER_SUBS_FOLLOW, GPROF_TRIGGER_SUBS);
	if (!err)
		set_started(g, true);
	return err;
}

/**
 * gprof_triggers_unfollow() - the reverse
 * @g: triggers
 *
 * Context: Task; gprof_pending_op_switch() may still be told, and fire.
 */
void gprof_triggers_unfollow(struct gprof_triggers *g)
{
	set_started(g, false);
	triggers_leave(g, GPROF_TRIGGER_SUBS_FOLLOW, GPROF_TRIGGER_SUBS);
}

/**
 * gprof_triggers_stop() - no longer; nothing fires when it returns
 * @g: triggers, not followed
 *
 * Context: Task.
 */
void gprof_triggers_stop(struct gprof_triggers *g)
{
	gprof_trigger_detach(g);
	triggers_leave(g, 0, GPROF_TRIGGER_SUBS_FOLLOW);
}
