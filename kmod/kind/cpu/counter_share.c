// SPDX-License-Identifier: GPL-2.0-only
/*
 * counter_share: recorders that ask for the same counter on the same target have one set of
 * events, which runs at the highest rate that one of them wants.
 *
 * The same: all that perf is told but the period, the same task or CPUs, and the same
 * privilege, since that decides the fate of the events when a task gets more rights.
 * Cgroups are told apart by each sample, so that they share the events of all CPUs.
 * Alone stay recorders that begin with an exec; precise events with another period, which
 * hardware reloads behind perf's back; and a recorder that comes when the target has forked a
 * process since the others began: that process is theirs, and not the newcomer's.
 *
 * A recorder that comes or goes changes the period of the events, but neither detaches nor
 * attaches any while another is left. So no other loses an event, or has it twice.
 *
 * Lock order: recorder lock, @lock of the attached, shares_lock, which is innermost.
 */
#include "counter_share.h"
#include "sample/sampler.h"
#include "target/oncpu.h"
#include "target/target.h"
#include "user/memlock.h"

#include <linux/cpumask.h>
#include <linux/gprof.h>
#include <linux/random.h>
#include <linux/rculist.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>

static LIST_HEAD(shares);
static DEFINE_SPINLOCK(shares_lock);	/* protects it */

static void put(struct gprof_attached *a)
{
	if (refcount_dec_and_test(&a->refs))
		gprof_attached_free(a);
}

static bool same_counter(const struct perf_event_attr *a, const struct perf_event_attr *b)
{
	struct perf_event_attr like = *b;

	if (!a->precise_ip)
		like.sample_period = a->sample_period;
	return !memcmp(a, &like, sizeof(like));
}

static bool same_target(const struct gprof_target *a, const struct gprof_target *b)
{
	if (gprof_target_is_tasks(a) != gprof_target_is_tasks(b) || a->privileged != b->privileged)
		return false;
	if (gprof_target_is_tasks(a))
		return a->type == b->type && a->task == b->task && !a->on_exec && !b->on_exec;
	return cpumask_equal(a->cpus, b->cpus);
}

static bool can_join(const struct gprof_attached *a, const struct gprof_counter_spec *spec)
{
	return !READ_ONCE(a->closed) && same_counter(&a->counter.attr, &spec->attr) &&
	       same_target(READ_ONCE(a->target), spec->target);
}

/* Those to join, or @fresh, which others find from now on. A reference is taken. */
static struct gprof_attached *find(const struct gprof_counter_spec *spec,
				   struct gprof_attached *fresh)
{
	struct gprof_attached *a;

	/* Whose target it is may be leaving, and then waits for readers. */
	rcu_read_lock();
	spin_lock(&shares_lock);
	list_for_each_entry(a, &shares, list) {
		if (can_join(a, spec)) {
			refcount_inc(&a->refs);
			goto out;
		}
	}
	a = fresh;
	refcount_inc(&a->refs);
	list_add(&a->list, &shares);
out:
	spin_unlock(&shares_lock);
	rcu_read_unlock();
	return a;
}

/* Nobody joins from now on. */
static void end_joining(struct gprof_attached *a)
{
	lockdep_assert_held(&a->lock);
	a->over = true;
	spin_lock(&shares_lock);
	list_del_init(&a->list);
	spin_unlock(&shares_lock);
}

/* ---- the share of each consumer; under @lock ---- */

static void set_share(struct gprof_consumer *t, struct gprof_counter_share *share)
{
	struct gprof_counter_share *old = rcu_replace_pointer(t->share, share, true);

	if (old)
		kfree_rcu(old, rcu);
}

/* Without memory each overflow is decided on its own, which is slower. */
static void make_share(struct gprof_consumer *t, u64 period)
{
	struct gprof_counter_share *old = rcu_dereference_protected(t->share, true), *share;

	if (t->spec.attr.sample_period <= period || (old && old->subsampling.part == period))
		return;
	share = kmalloc(sizeof(*share), GFP_KERNEL_ACCOUNT);
	if (!share)
		return;
	gprof_subsampling_init(&share->subsampling, period, t->spec.attr.sample_period);
	share->number = get_random_u32() | 1;
	set_share(t, share);
}

static void set_period(struct gprof_attached *a)
{
	u64 period = U64_MAX;
	struct gprof_consumer *t;

	lockdep_assert_held(&a->lock);
	list_for_each_entry(t, &a->counter.consumers, node)
		period = min(period, gprof_consumer_pace(t));
	list_for_each_entry(t, &a->counter.consumers, node)
		make_share(t, period);
	/* Pairs with READ_ONCE() in the handler, which makes events slower. */
	WRITE_ONCE(a->counter.attr.sample_period, period);
	gprof_attached_flush(a);
}

/* ---- coming and going ---- */

/* Returns 1 when it came too late for these. */
static int join(struct gprof_counters *c, struct gprof_attached *a)
{
	bool first = list_empty(&a->counter.consumers);
	int err = 0;

	lockdep_assert_held(&a->lock);
	c->before = gprof_attached_read(a);
	if (!first)
		WRITE_ONCE(a->counter.changes, a->counter.changes + 1);
	c->consumer.since = a->counter.changes;
	list_add_tail_rcu(&c->consumer.node, &a->counter.consumers);
	/* Pairs with WRITE_ONCE() in the probes. */
	WRITE_ONCE(c->attached, a);
	if (first) {
		WRITE_ONCE(a->target, c->consumer.spec.target);
		WRITE_ONCE(a->counter.attr.sample_period, gprof_consumer_pace(&c->consumer));
		make_share(&c->consumer, a->counter.attr.sample_period);
		err = gprof_attached_begin(a);
		if (err)
			end_joining(a);
		return err;
	}
	/* Either a fork finds that this one has come, or is found here. */
	smp_mb();	/* pairs with smp_mb() in gprof_attached_close() */
	if (READ_ONCE(a->closed)) {
		list_del_rcu(&c->consumer.node);
		WRITE_ONCE(c->attached, NULL);
		return 1;
	}
	set_period(a);
	return 0;
}

static int join_one(struct gprof_counters *c, u32 *attached)
{
	struct gprof_attached *fresh = gprof_attached_new(&c->consumer.spec), *a;
	int err = 1;

	if (!fresh)
		return -ENOMEM;
	a = find(&c->consumer.spec, fresh);
	put(fresh);
	mutex_lock(&a->lock);
	if (!a->over)
		err = join(c, a);
	*attached = a->nr;
	mutex_unlock(&a->lock);
	if (!err)
		return 0;
	if (c->attached) {
		gprof_attached_end(a);
		list_del(&c->consumer.node);
		WRITE_ONCE(c->attached, NULL);
	}
	synchronize_rcu();	/* for handlers and probes that saw them */
	put(a);
	return err;
}

static int join_any(struct gprof_counters *c, u32 *attached)
{
	int err;

	do {
		err = join_one(c, attached);
	} while (err > 0);
	return err;
}

static void add_counts(struct gprof_counters *c)
{
	struct gprof_counts now = gprof_attached_read(c->attached);

	c->counts.count += now.count - c->before.count;
	c->counts.enabled += now.enabled - c->before.enabled;
	c->counts.running += now.running - c->before.running;
}

/* Others go on. Returns false when there are none. */
static bool leave_to_others(struct gprof_counters *c, struct gprof_attached *a)
{
	bool others;

	mutex_lock(&a->lock);
	others = !list_is_singular(&a->counter.consumers);
	if (others) {
		list_del_rcu(&c->consumer.node);
		add_counts(c);
		WRITE_ONCE(a->target,
			   list_first_entry(&a->counter.consumers, struct gprof_consumer, node)
				   ->spec.target);
		set_period(a);
	} else {
		end_joining(a);
	}
	mutex_unlock(&a->lock);
	return others;
}

/* ---- probes ---- */

static void forked(struct gprof_task_set *task_set, struct task_struct *child)
{
	struct gprof_counters *c = container_of(task_set, struct gprof_counters, task_set);
	struct gprof_attached *a = READ_ONCE(c->attached);

	if (a)
		gprof_attached_forked(a, child);
}

static void share_executed(struct gprof_task_set *task_set, bool changed)
{
	struct gprof_counters *c = container_of(task_set, struct gprof_counters, task_set);
	struct gprof_attached *a = READ_ONCE(c->attached);

	if (a)
		gprof_attached_executed(a);
}

/* A process has been forked, of which the task set will not tell any more. */
static void share_missed(struct gprof_task_set *task_set)
{
	struct gprof_counters *c = container_of(task_set, struct gprof_counters, task_set);
	struct gprof_attached *a = READ_ONCE(c->attached);

	if (a)
		gprof_attached_close(a);
}

static const struct gprof_task_set_ops share_ops = {
	.forked = forked,
	.executed = share_executed,
	.missed = share_missed,
};

/* ---- */

/**
 * gprof_counters_bytes() - memory that counters take, for the charge
 * @target: whose events
 *
 * Context: Task.
 */
u64 gprof_counters_bytes(const struct gprof_target *target)
{
	return gprof_memory_of(sizeof(struct gprof_counters)) +
	       gprof_memory_of(sizeof(struct gprof_attached)) +
	       gprof_memory_of(sizeof(struct gprof_counter_share)) +
	       sizeof(struct gprof_subsample) * num_possible_cpus() + gprof_task_set_bytes(target);
}

/**
 * gprof_counters_new() - prepare counters; none is attached yet
 * @spec: their event and place; copied
 * @charge: pays for processes that the target forks
 *
 * Context: Task.
 * Return: counters for gprof_counters_destroy(), or NULL.
 */
struct gprof_counters *gprof_counters_new(const struct gprof_counter_spec *spec,
					  struct gprof_charge *charge)
{
	struct gprof_counters *c = kzalloc(sizeof(*c), GFP_KERNEL_ACCOUNT);
	int cpu;

	if (!c)
		return NULL;
	c->consumer.spec = *spec;
	c->consumer.subsample = alloc_percpu_gfp(struct gprof_subsample, GFP_KERNEL_ACCOUNT);
	if (!c->consumer.subsample)
		goto err_free;
	for_each_possible_cpu(cpu)
		local64_set(&per_cpu_ptr(c->consumer.subsample, cpu)->random, get_random_u64());
	c->task_set.tgids = gprof_oncpu_tgids(spec->sampler->oncpu);
	if (gprof_target_is_tasks(spec->target) &&
	    gprof_task_set_init(&c->task_set, GPROF_TASK_SET_COUNTER, &share_ops, spec->target,
				charge))
		goto err_subsample;
	return c;

err_subsample:
	free_percpu(c->consumer.subsample);
err_free:
	kfree(c);
	return NULL;
}

/**
 * gprof_counters_destroy() - free; stopped before
 * @state: counters
 *
 * Context: Task.
 */
void gprof_counters_destroy(void *state)
{
	struct gprof_counters *c = state;

	set_share(&c->consumer, NULL);
	free_percpu(c->consumer.subsample);
	kfree(c);
}

/**
 * gprof_counters_start() - attach or join, and count from now on
 * @state: counters that are not attached
 * @attached: gets the number of events
 *
 * Context: Task.
 * Return: 0 or a negative errno; nothing is attached then.
 */
int gprof_counters_start(void *state, u32 *attached)
{
	struct gprof_counters *c = state;
	bool tasks = gprof_target_is_tasks(c->consumer.spec.target);
	int err = tasks ? gprof_task_set_attach(&c->task_set, attached) : 0;

	if (err)
		return err;
	gprof_oncpu_scan(c->consumer.spec.sampler->oncpu);
	err = join_any(c, attached);
	if (err && tasks) {
		gprof_oncpu_forget(c->consumer.spec.sampler->oncpu);
		gprof_task_set_detach(&c->task_set);
	}
	return err;
}

/**
 * gprof_counters_stop() - leave, or detach; no sample is taken once this returns
 * @state: counters, attached
 *
 * Context: Task.
 */
void gprof_counters_stop(void *state)
{
	struct gprof_counters *c = state;
	struct gprof_attached *a = c->attached;
	bool tasks = gprof_target_is_tasks(c->consumer.spec.target);
	bool others = leave_to_others(c, a);

	gprof_oncpu_forget(c->consumer.spec.sampler->oncpu);
	/* Waits for probes, and with them for handlers that see the consumer still. */
	if (tasks)
		gprof_task_set_detach(&c->task_set);
	else if (others)
		synchronize_rcu();
	if (!others) {
		gprof_attached_end(a);
		mutex_lock(&a->lock);
		add_counts(c);
		list_del(&c->consumer.node);
		mutex_unlock(&a->lock);
	}
	WRITE_ONCE(c->attached, NULL);
	put(a);
}

/**
 * gprof_counters_stats() - fill in the counts of the counters
 * @state: counters
 * @stats: out_count, out_time_enabled and out_time_running are set
 *
 * Context: Task.
 */
void gprof_counters_stats(void *state, struct gprof_stats *stats)
{
	struct gprof_counters *c = state;
	const struct gprof_counter_spec *spec = &c->consumer.spec;
	struct gprof_counts now = {}, *sum = &c->counts, *before = &c->before;

	if (c->attached) {
		mutex_lock(&c->attached->lock);
		now = gprof_attached_read(c->attached);
		mutex_unlock(&c->attached->lock);
		now.count -= before->count;
		now.enabled -= before->enabled;
		now.running -= before->running;
	}
	stats->out_count = sum->count + now.count;
	stats->out_time_enabled = sum->enabled + now.enabled;
	stats->out_time_running = sum->running + now.running;
	/* Events that the handler leaves out were counted too. */
	if (spec->target->cgroup || spec->user_only || spec->filter ||
	    (!gprof_target_is_tasks(spec->target) && !spec->with_idle))
		stats->out_count = 0;
}
