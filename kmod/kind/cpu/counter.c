// SPDX-License-Identifier: GPL-2.0-only
/*
 * counter: a kernel counter of perf, whose overflows become samples of all recorders that
 * ask for it.
 *
 * The counter runs at the shortest period that one of them wants. A consumer of a longer one
 * takes an overflow with the probability that the periods say, which then stands for
 * that one's own period: for as much, over all overflows, as was counted.
 *
 * A period changes from one overflow to the next, for perf lets nobody reach events that tasks
 * have inherited. When the handler runs, perf has begun the next period already, and so
 * the handler's change holds from the one after it. attr.sample_period of the single
 * event says for which period it has been set now, hw.sample_period for which it will be.
 */
#include "counter.h"
#include "compat/perf.h"
#include "probe/filter.h"
#include "sample/sampler.h"
#include "target/target.h"
#include "user/later.h"

#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/math64.h>
#include <linux/ptrace.h>
#include <linux/rculist.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/slab.h>

#define TRIALS_MAX	64	/* that are not freed yet; nobody pays for them */

static atomic_t trials = ATOMIC_INIT(0);

/* An overflow. */
struct hit {
	u64 period;	/* that the event was set for */
	u64 periods;	/* how many it stands for */
	u64 seen;	/* changes of the counter, at its last overflow */
};

/*
 * How many events does this overflow stand for? A period, usually. More when
 * the interrupt came late by a period or more: perf forgets those. The count
 * itself, which perf has just brought up to date, forgets nothing, so the sum
 * over samples follows it.
 *
 * The answer is a multiple of the period, so that a sample of the usual weight
 * need not carry it; the rest waits, for perf too makes the next
 * period shorter by it. The first overflow of a counter with a random phase
 * comes early and is a sample all the same.
 */
static inline struct hit read_hit(const struct gprof_counter *c, struct perf_event *event)
{
	u64 *stamp = gprof_counter_stamp(event), *seen = gprof_counter_seen(event);
	s64 waiting = local64_read(&event->count) - *stamp;
	struct hit hit = {
		.period = event->attr.sample_period,
		.periods = 1,
		.seen = *seen,
	};
	u64 wanted = READ_ONCE(c->attr.sample_period), next;

	if (unlikely(waiting >= (s64)(2 * hit.period)))
		hit.periods = div64_u64(waiting, hit.period);
	*stamp += hit.periods * hit.period;
	*seen = READ_ONCE(c->changes);
	next = READ_ONCE(event->hw.sample_period);
	if (unlikely(next != hit.period))
		WRITE_ONCE(event->attr.sample_period, next);
	if (unlikely(next != wanted))
		gprof_counter_set_period(event, wanted);
	return hit;
}

/* The slower consumer's part of the overflows; 0: not this one. */
static noinline u64 subsampled(const struct gprof_consumer *t, u64 period, u64 periods)
{
	const struct gprof_counter_share *share = rcu_dereference_check(t->share, true);
	u64 whole = t->spec.attr.sample_period;
	struct gprof_subsample *subsample = this_cpu_ptr(t->subsample);
	bool mine;

	if (likely(share && share->subsampling.part == period))
		mine = gprof_subsample_takes(subsample, &share->subsampling, share->number);
	else
		mine = gprof_subsample_by_chance(subsample, period, whole);
	return mine ? periods * whole : 0;
}

/* For how many events is the overflow a sample of the consumer's? 0: it is none. */
static inline u64 weight_for(const struct gprof_consumer *t, const struct hit *hit)
{
	/* Events before the consumer came are not its. */
	u64 periods = likely(hit->seen >= t->since) ? hit->periods : 1;

	if (likely(hit->period >= t->spec.attr.sample_period))
		return periods * hit->period;
	return subsampled(t, hit->period, periods);
}

static inline bool belongs(const struct gprof_counter_spec *spec, struct pt_regs *regs)
{
	if (!spec->with_idle && is_idle_task(current))
		return false;
	if (spec->user_only && !user_mode(regs))
		return false;
	return gprof_target_has_current(spec->target);
}

/*
 * Does the filter, or a callback for events that pass it, drop this event? perf has
 * the record of the tracepoint, as a recorder with a filter asks for it.
 */
static noinline bool filtered(const struct gprof_counter_spec *spec,
			      const struct perf_sample_data *data)
{
	const struct perf_raw_record *raw = data->raw;

	if (!raw || !gprof_filter_passes(spec->filter, raw->frag.data, raw->frag.size))
		return true;
	if (spec->passed)
		spec->passed(spec->ctx);
	return spec->passed;
}

/* NMI, interrupt or task context, preemption off: perf's overflow handler. */
static void overflow(struct perf_event *event, struct perf_sample_data *data,
		     struct pt_regs *regs)
{
	const struct gprof_counter *c = event->overflow_handler_context;
	struct gprof_capture capture __uninitialized;
	struct hit hit = read_hit(c, event);
	struct gprof_consumer *t;

	gprof_capture(&capture, regs, 0);
	capture.chain = gprof_driver_callchain(event, data);
	if (unlikely(gprof_counter_throttled(event)))
		capture.flags = GPROF_SAMPLE_REC_F_THROTTLED;
	if (c->attr.sample_type & PERF_SAMPLE_ADDR && data->addr) {
		capture.flags |= GPROF_SAMPLE_REC_F_ADDR;
		capture.addr = data->addr;
	}
	/* With preemption off this is a reader of RCU. */
	list_for_each_entry_rcu(t, &c->consumers, node, true) {
		u64 weight;

		if (!belongs(&t->spec, regs))
			continue;
		if (unlikely(t->spec.filter) && filtered(&t->spec, data))
			continue;
		weight = weight_for(t, &hit);
		if (weight)
			gprof_emit(&capture, t->spec.sampler, weight);
		else if (unlikely(capture.flags & GPROF_SAMPLE_REC_F_THROTTLED))
			gprof_sampler_throttled(t->spec.sampler);
	}
	gprof_captured(&capture);
}

static struct perf_event *create(const struct perf_event_attr *like, bool inherit, int cpu,
				 struct task_struct *task, enum gprof_enable enable,
				 struct gprof_counter *c)
{
	struct perf_event_attr attr = *like;

	attr.inherit = inherit;
	attr.enable_on_exec = enable == GPROF_ON_EXEC;
	attr.disabled = enable != GPROF_NOW;
	return perf_event_create_kernel_counter(&attr, cpu, task, overflow, c);
}

/**
 * gprof_counter_create() - make an event of a counter
 * @c: its counter; outlives it
 * @cpu: where, or -1 for wherever @task runs
 * @task: counted task, or NULL for everything on @cpu
 * @enable: when it begins
 *
 * Context: Task.
 * Return: event for perf_event_release_kernel(), or perf's errno.
 */
struct perf_event *gprof_counter_create(struct gprof_counter *c, int cpu,
					struct task_struct *task, enum gprof_enable enable)
{
	return create(&c->attr, c->inherit, cpu, task, enable, c);
}

/**
 * gprof_counter_flush() - have an event overflow as often as the fastest consumer wants
 * @c: its counter
 * @event: event that was not inherited
 *
 * One that is fast enough already is left alone: each call begins the period anew, and
 * a user that makes consumers come and go must not keep it from ever ending. The part of the
 * period that it counted is in the weight of the next overflow, for consumers that were there.
 *
 * Context: Task.
 */
void gprof_counter_flush(struct gprof_counter *c, struct perf_event *event)
{
	u64 period = c->attr.sample_period;

	/* The handler may just have decided for a longer one, which is yet to begin. */
	if (READ_ONCE(event->hw.sample_period) > period)
		gprof_counter_set_period(event, period);
	if (READ_ONCE(event->attr.sample_period) <= period)
		return;
	if (perf_event_period(event, period) || !gprof_counter_counts_up(event))
		return;
	gprof_counter_set_period(event, period);
	gprof_counter_set_phase(event, period);
}

/*
 * Some PMUs cannot leave a mode out; then the handler does, from the registers. The
 * count, and when it overflows, still tell of the kernel: not for everybody.
 */
static void exclude_nothing(struct gprof_counter_spec *c)
{
	c->user_only = c->attr.exclude_kernel;
	c->attr.exclude_kernel = 0;
	c->attr.exclude_hv = 0;
	c->attr.exclude_guest = 0;
}

/* An event that is made and freed, which on PREEMPT_RT may wait for grace periods, both. */
struct trial {
	struct gprof_call call;
	struct perf_event_attr attr;
	bool inherit;
	int cpu;
	struct task_struct *task;
	struct perf_event *event;
};

static int try(struct gprof_call *call)
{
	struct trial *t = container_of(call, struct trial, call);

	t->event = create(&t->attr, t->inherit, t->cpu, t->task, GPROF_NEVER, NULL);
	return PTR_ERR_OR_ZERO(t->event);
}

static void end_trial(struct gprof_call *call, bool left)
{
	struct trial *t = container_of(call, struct trial, call);

	if (!IS_ERR(t->event))
		perf_event_release_kernel(t->event);
	if (t->task)
		put_task_struct(t->task);
	atomic_dec(&trials);
}

static int try_once(struct gprof_counter_spec *c)
{
	struct trial *t;
	int err = -EAGAIN;

	BUILD_BUG_ON(offsetof(struct trial, call));
	if (atomic_inc_return(&trials) > TRIALS_MAX)
		goto err_count;
	err = -ENOMEM;
	t = kzalloc(sizeof(*t), GFP_KERNEL_ACCOUNT);
	if (!t)
		goto err_count;
	t->call.run = try;
	t->call.rest = end_trial;
	t->attr = c->attr;
	t->inherit = c->target->type == GPROF_TARGET_PROCESS;
	t->cpu = -1;
	if (gprof_target_is_tasks(c->target))
		t->task = get_task_struct(c->target->task);
	else
		t->cpu = cpumask_any_and(c->target->cpus, cpu_online_mask);
	err = gprof_call(&t->call) ? t->call.err : -EAGAIN;
	gprof_call_put(&t->call);
	return err;

err_count:
	atomic_dec(&trials);
	return err;
}

/**
 * gprof_counter_try() - find out whether the event exists here
 * @c: the event to count; hits that the PMU cannot leave out are left to the handler
 *
 * Context: Task, in SETUP.
 * Return: 0; perf's errno: -ENOENT, -EOPNOTSUPP, -EINVAL, ...; -EACCES for a user that may
 * not count the kernel, where the PMU cannot but do so; -EAGAIN: see gprof_call().
 */
int gprof_counter_try(struct gprof_counter_spec *c)
{
	struct gprof_counter_spec saved = *c;
	int err = try_once(c);

	if (err != -EINVAL || !(c->attr.exclude_hv | c->attr.exclude_kernel))
		return err;
	exclude_nothing(c);
	if (!try_once(c)) {
		if (c->target->privileged)
			return 0;
		err = -EACCES;
	}
	c->attr = saved.attr;
	c->user_only = saved.user_only;
	return err;
}
