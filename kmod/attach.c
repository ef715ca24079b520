// SPDX-License-Identifier: GPL-2.0-only
/*
 * attach: one counter per thread, or one per CPU.
 *
 * Tasks. Every existing thread gets a counter that what it forks inherits
 * (attr.inherit; the copies call the same handler). Threads are created while
 * this attaches; one whose creator was attached in time has inherited, the
 * others get their own. Which is which is read off the thread: has it a counter
 * with our context? perf decides on inheritance before a thread becomes
 * visible, so the answer is final.
 *
 * CPUs. One counter per online CPU; a CPU that comes later gets one from a
 * work item, since perf takes the hotplug lock itself and must not be called
 * from a hotplug callback.
 *
 * perf's interface knows no propagation of enable and disable to inherited
 * counters, so START creates them and STOP releases them; perf guarantees that
 * no handler runs after the release.
 *
 * A task that executes a set-user-ID program loses its counters
 * (begin_new_exec()). That is right for whoever is not privileged. For the
 * others the scope tells of such tasks, and they are attached again.
 *
 * Lock order: recorder lock, @lock, what keeps execs out, then perf's own and the
 * hotplug lock.
 * list_lock is innermost and taken in hotplug callbacks too.
 */
#include "attach.h"
#include "target.h"
#include "compat/perf.h"
#include "compat/task.h"

#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/gprof.h>
#include <linux/hash.h>
#include <linux/math64.h>
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/timekeeping.h>

#define BATCH	64	/* threads that are looked up under one RCU section */

struct attached_task {
	struct list_head node;
	struct perf_event *event;
};

static LIST_HEAD(following);
static DEFINE_SPINLOCK(list_lock);	/* protects following and every @came */
static enum cpuhp_state hotplug_state;

static void add_up(struct gprof_counters *c, struct perf_event *event)
{
	u64 enabled, running;

	c->count += perf_event_read_value(event, &enabled, &running);
	c->enabled += enabled;
	c->running += running;
}

static void detach(struct gprof_counters *c, struct perf_event *event)
{
	lockdep_assert_held(&c->lock);
	/*
	 * Stopped first, or samples after the reading would stand for events
	 * that are not in it. (perf lets nobody stop what was inherited.)
	 */
	perf_event_disable(event);
	add_up(c, event);
	perf_event_release_kernel(event);
}

/* At START; a task that lost its counter later is past the exec in question. */
static enum gprof_enable first_enable(const struct gprof_counters *c)
{
	return c->spec.target->on_exec ? GPROF_ON_EXEC : GPROF_NOW;
}

static int add_counter(struct gprof_counters *c, struct task_struct *task,
		       enum gprof_enable enable)
{
	struct attached_task *a = kmalloc(sizeof(*a), GFP_KERNEL_ACCOUNT);

	if (!a)
		return -ENOMEM;
	a->event = gprof_counter_create(&c->spec, -1, task, enable);
	if (IS_ERR(a->event)) {
		int err = PTR_ERR(a->event);

		kfree(a);
		return err;
	}
	list_add(&a->node, &c->tasks);
	c->attached++;
	return 0;
}

/* The check and the counter are one step against an exec, as in perf_event_open(2). */
static int attach_task(struct gprof_counters *c, struct task_struct *task,
		       enum gprof_enable enable)
{
	const struct gprof_target *t = c->spec.target;
	int err;

	lockdep_assert_held(&c->lock);
	err = gprof_target_hold(t);
	if (err)
		return err;
	if (gprof_task_allowed(task, t->owner))
		err = add_counter(c, task, enable);
	else
		err = task->flags & PF_EXITING ? -ESRCH : -EPERM;
	gprof_target_release(t);
	return err;
}

/* Fills @batch with threads that have no counter of ours; references are taken. */
static unsigned int find_unattached(struct gprof_counters *c, struct task_struct **batch)
{
	struct task_struct *leader = c->spec.target->task, *task;
	unsigned int n = 0;

	rcu_read_lock();
	for_each_thread(leader, task) {
		if (task->flags & PF_EXITING || gprof_task_counter(task, &c->spec))
			continue;
		get_task_struct(task);
		batch[n++] = task;
		if (n == BATCH)
			break;
	}
	rcu_read_unlock();
	return n;
}

static int attach_process(struct gprof_counters *c)
{
	struct task_struct **batch = kmalloc_array(BATCH, sizeof(*batch), GFP_KERNEL);
	unsigned int n, i;
	int err = 0;

	if (!batch)
		return -ENOMEM;
	do {
		n = find_unattached(c, batch);
		for (i = 0; i < n; i++) {
			int ret = err ? 0 : attach_task(c, batch[i], first_enable(c));

			/* A thread that just ended is no error. */
			if (ret && ret != -ESRCH)
				err = ret;
			put_task_struct(batch[i]);
		}
	} while (n && !err && !fatal_signal_pending(current));
	kfree(batch);
	if (!err && !c->attached)
		err = -ESRCH;
	return err;
}

static int attach_cpus(struct gprof_counters *c)
{
	int cpu, err = 0;

	lockdep_assert_held(&c->lock);
	for_each_cpu_and(cpu, c->spec.target->cpus, cpu_online_mask) {
		struct perf_event *event;

		if (c->by_cpu[cpu])
			continue;
		event = gprof_counter_create(&c->spec, cpu, NULL, GPROF_NOW);
		/*
		 * A CPU that just went away comes back to us through hotplug; a
		 * PMU of one kind of core does not exist on the other kind.
		 */
		if (IS_ERR(event)) {
			if (PTR_ERR(event) != -ENODEV && PTR_ERR(event) != -ENOENT)
				return PTR_ERR(event);
			err = PTR_ERR(event);
			continue;
		}
		c->by_cpu[cpu] = event;
		c->attached++;
	}
	return c->attached ? 0 : err;
}

static void detach_all(struct gprof_counters *c)
{
	struct attached_task *a, *next;
	int cpu;

	lockdep_assert_held(&c->lock);
	list_for_each_entry_safe(a, next, &c->tasks, node) {
		detach(c, a->event);
		list_del(&a->node);
		kfree(a);
	}
	c->attached = 0;
	if (!c->by_cpu)
		return;
	for_each_possible_cpu(cpu) {
		if (c->by_cpu[cpu])
			detach(c, c->by_cpu[cpu]);
		c->by_cpu[cpu] = NULL;
	}
}

/*
 * perf lets the child's counter begin with a whole period: a task that lives
 * shorter would never be sampled, and of every task the last part would be
 * missing. From a random place in the period each event is a sample with the
 * same probability, whoever it belongs to.
 */
static void forked(struct gprof_scope *scope, struct task_struct *child)
{
	struct gprof_counters *c = container_of(scope, struct gprof_counters, scope);
	struct perf_event *event = gprof_task_counter(child, &c->spec);
	u32 random;

	if (!event)
		return;
	random = hash_64(ktime_get_mono_fast_ns() + ((u64)child->pid << 32), 32);
	gprof_counter_set_phase(event, 1 + mul_u64_u32_shr(c->spec.attr.sample_period, random, 32));
}

/* Current belongs, and may have lost its counter by an exec. */
static void executed(struct gprof_scope *scope, bool changed)
{
	struct gprof_counters *c = container_of(scope, struct gprof_counters, scope);
	int i;

	if (!c->spec.target->privileged || gprof_task_dumpable(current, current->mm) ||
	    gprof_task_counter(current, &c->spec))
		return;
	for (i = 0; i < GPROF_STRIPPED; i++) {
		if (!atomic_cmpxchg(&c->stripped[i], 0, current->tgid)) {
			schedule_work(&c->refresh);
			return;
		}
	}
}

static const struct gprof_scope_ops scope_ops = {
	.forked = forked,
	.executed = executed,
};

static void attach_stripped(struct gprof_counters *c)
{
	struct task_struct *task;
	int i, pid;

	for (i = 0; i < GPROF_STRIPPED; i++) {
		/* A full barrier; pairs with atomic_cmpxchg() in executed(). */
		pid = atomic_xchg(&c->stripped[i], 0);
		if (!pid)
			continue;
		rcu_read_lock();
		/* A worker lives in the initial pid namespace. */
		task = pid_task(find_vpid(pid), PIDTYPE_TGID);
		/* It may have asked twice, by two execs in a row. */
		if (task && gprof_task_counter(task, &c->spec))
			task = NULL;
		if (task)
			get_task_struct(task);
		rcu_read_unlock();
		if (!task)
			continue;
		attach_task(c, task, GPROF_NOW);
		put_task_struct(task);
	}
}

static void attach_cpus_that_came(struct gprof_counters *c)
{
	unsigned int cpu;

	for_each_cpu(cpu, c->spec.target->cpus) {
		bool came;

		spin_lock_irq(&list_lock);
		came = cpumask_test_and_clear_cpu(cpu, c->came);
		spin_unlock_irq(&list_lock);
		/* perf took the counter off when the CPU went. */
		if (came && c->by_cpu[cpu]) {
			detach(c, c->by_cpu[cpu]);
			c->by_cpu[cpu] = NULL;
			c->attached--;
		}
	}
	attach_cpus(c);
}

static void refresh(struct work_struct *work)
{
	struct gprof_counters *c = container_of(work, struct gprof_counters, refresh);

	mutex_lock(&c->lock);
	if (c->by_cpu)
		attach_cpus_that_came(c);
	else
		attach_stripped(c);
	mutex_unlock(&c->lock);
}

/* Hotplug callback: under the hotplug lock, hence no call into perf. */
static int cpu_came(unsigned int cpu)
{
	struct gprof_counters *c;

	spin_lock_irq(&list_lock);
	list_for_each_entry(c, &following, node) {
		cpumask_set_cpu(cpu, c->came);
		schedule_work(&c->refresh);
	}
	spin_unlock_irq(&list_lock);
	return 0;
}

/*
 * Before the first counter is attached: a CPU that goes and returns between that and
 * this would be taken to have its counter still.
 */
static int follow_cpus(struct gprof_counters *c)
{
	spin_lock_irq(&list_lock);
	cpumask_clear(c->came);
	list_add(&c->node, &following);
	spin_unlock_irq(&list_lock);
	return 0;
}

static void unfollow_cpus(struct gprof_counters *c)
{
	spin_lock_irq(&list_lock);
	list_del_init(&c->node);
	spin_unlock_irq(&list_lock);
}

/**
 * gprof_attach_init() - begin to follow CPUs
 *
 * Context: Task.
 * Return: 0 or a negative errno.
 */
int gprof_attach_init(void)
{
	int state = cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN, "gprof:online", cpu_came,
					      NULL);

	if (state < 0)
		return state;
	hotplug_state = state;
	return 0;
}

/**
 * gprof_attach_exit() - cease to follow CPUs
 *
 * Context: Task; no recorder exists any more.
 */
void gprof_attach_exit(void)
{
	cpuhp_remove_state_nocalls(hotplug_state);
}

/**
 * gprof_counters_new() - prepare counters; none is attached yet
 * @spec: what they count and where; copied
 * @charge: who pays for what the target forks
 *
 * Context: Task.
 * Return: counters for gprof_counters_destroy(), or NULL.
 */
struct gprof_counters *gprof_counters_new(const struct gprof_counter_spec *spec,
					  struct gprof_charge *charge)
{
	struct gprof_counters *c = kzalloc(sizeof(*c), GFP_KERNEL_ACCOUNT);

	if (!c)
		return NULL;
	c->spec = *spec;
	mutex_init(&c->lock);
	INIT_LIST_HEAD(&c->tasks);
	INIT_LIST_HEAD(&c->node);
	INIT_WORK(&c->refresh, refresh);
	if (!zalloc_cpumask_var(&c->came, GFP_KERNEL_ACCOUNT))
		goto err_free;
	if (gprof_target_is_tasks(spec->target)) {
		if (gprof_scope_init(&c->scope, GPROF_SCOPE_COUNTER, &scope_ops, spec->target,
				     charge))
			goto err_came;
		return c;
	}
	c->by_cpu = kcalloc(nr_cpu_ids, sizeof(*c->by_cpu), GFP_KERNEL_ACCOUNT);
	if (!c->by_cpu)
		goto err_came;
	return c;

err_came:
	free_cpumask_var(c->came);
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

	kfree(c->by_cpu);
	free_cpumask_var(c->came);
	mutex_destroy(&c->lock);
	kfree(c);
}

/**
 * gprof_counters_start() - attach, and count from now on
 * @state: counters that are not attached
 * @attached: gets their number
 *
 * Context: Task.
 * Return: 0 or a negative errno; nothing is attached then.
 */
int gprof_counters_start(void *state, u32 *attached)
{
	struct gprof_counters *c = state;
	int err;

	memset(c->stripped, 0, sizeof(c->stripped));
	err = c->by_cpu ? follow_cpus(c) : gprof_scope_enter(&c->scope, attached);
	if (err)
		return err;
	mutex_lock(&c->lock);
	if (c->spec.target->type == GPROF_TARGET_THREAD)
		err = attach_task(c, c->spec.target->task, first_enable(c));
	else if (c->spec.target->type == GPROF_TARGET_PROCESS)
		err = attach_process(c);
	else
		err = attach_cpus(c);
	*attached = c->attached;
	mutex_unlock(&c->lock);
	if (err)
		gprof_counters_stop(c);
	return err;
}

/**
 * gprof_counters_stop() - detach; no sample is taken once this returns
 * @state: counters, attached or not
 *
 * Context: Task.
 */
void gprof_counters_stop(void *state)
{
	struct gprof_counters *c = state;

	if (c->by_cpu)
		unfollow_cpus(c);
	else
		gprof_scope_leave(&c->scope);
	cancel_work_sync(&c->refresh);

	mutex_lock(&c->lock);
	detach_all(c);
	mutex_unlock(&c->lock);
}

/**
 * gprof_counters_stats() - fill in what the counters counted
 * @state: counters
 * @stats: out_count, out_time_enabled and out_time_running are set
 *
 * Context: Task.
 */
void gprof_counters_stats(void *state, struct gprof_stats *stats)
{
	struct gprof_counters *c = state;
	struct attached_task *a;
	u64 count, enabled, running;
	int cpu;

	mutex_lock(&c->lock);
	stats->out_count = c->count;
	stats->out_time_enabled = c->enabled;
	stats->out_time_running = c->running;
	list_for_each_entry(a, &c->tasks, node) {
		count = perf_event_read_value(a->event, &enabled, &running);
		stats->out_count += count;
		stats->out_time_enabled += enabled;
		stats->out_time_running += running;
	}
	for_each_possible_cpu(cpu) {
		if (!c->by_cpu || !c->by_cpu[cpu])
			continue;
		count = perf_event_read_value(c->by_cpu[cpu], &enabled, &running);
		stats->out_count += count;
		stats->out_time_enabled += enabled;
		stats->out_time_running += running;
	}
	/* What the handler leaves out was counted too. */
	if (c->spec.target->cgroup || c->spec.user_only || (c->by_cpu && !c->spec.with_idle))
		stats->out_count = 0;
	mutex_unlock(&c->lock);
}
