// SPDX-License-Identifier: GPL-2.0-only
/*
 * counter_attach: one counter per thread, or one per CPU.
 *
 * Tasks. Every existing thread gets a counter that tasks it forks inherit
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
 * (begin_new_exec()). That is right for recorders without privilege. For the
 * others the task set tells of such tasks, and they are attached again.
 *
 * Lock order: recorder lock, @lock, the lock that keeps execs out, then perf's own and the
 * hotplug lock.
 * list_lock is innermost and taken in hotplug callbacks too.
 */
#include "counter_attach.h"
#include "compat/perf.h"
#include "compat/task.h"
#include "compat/workqueue.h"
#include "target/target.h"

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
static enum cpuhp_state attach_hotplug_state;

static void add_up(struct gprof_counts *sum, struct perf_event *event)
{
	u64 enabled, running;

	sum->count += perf_event_read_value(event, &enabled, &running);
	sum->enabled += enabled;
	sum->running += running;
}

static void detach(struct gprof_attached *a, struct perf_event *event)
{
	lockdep_assert_held(&a->lock);
	/*
	 * Stopped first, or samples after the reading would stand for events
	 * that are not in it. (perf lets nobody stop inherited events.)
	 */
	perf_event_disable(event);
	add_up(&a->gone, event);
	perf_event_release_kernel(event);
}

/* At START; a task that lost its counter later is past the exec in question. */
static enum gprof_enable first_enable(const struct gprof_attached *a)
{
	return a->target->on_exec ? GPROF_ON_EXEC : GPROF_NOW;
}

static int add_counter(struct gprof_attached *a, struct task_struct *task,
		       enum gprof_enable enable)
{
	struct attached_task *t = kmalloc(sizeof(*t), GFP_KERNEL_ACCOUNT);

	if (!t)
		return -ENOMEM;
	t->event = gprof_counter_create(&a->counter, -1, task, enable);
	if (IS_ERR(t->event)) {
		int err = PTR_ERR(t->event);

		kfree(t);
		return err;
	}
	list_add(&t->node, &a->tasks);
	a->nr++;
	return 0;
}

/* The check and the counter are one step against an exec, as in perf_event_open(2). */
static int attach_task(struct gprof_attached *a, struct task_struct *task,
		       enum gprof_enable enable)
{
	const struct gprof_target *t = a->target;
	int err;

	lockdep_assert_held(&a->lock);
	err = gprof_target_hold(t);
	if (err)
		return err;
	if (gprof_task_allowed(task, t->owner))
		err = add_counter(a, task, enable);
	else
		err = task->flags & PF_EXITING ? -ESRCH : -EPERM;
	gprof_target_release(t);
	return err;
}

/*
 * Fills @batch with threads behind @last that have no counter of ours; references are taken.
 * A thread that comes is put behind all others. Where @last has gone, nobody knows the thread
 * behind it: from the first one on again.
 */
static unsigned int find_unattached(struct gprof_attached *a, struct task_struct *last,
				    struct task_struct **batch)
{
	struct list_head *threads = &a->target->task->signal->thread_head;
	struct task_struct *task;
	unsigned int n = 0;

	rcu_read_lock();
	task = last && pid_alive(last) ? last :
	       list_entry(threads, struct task_struct, thread_node);
	list_for_each_entry_continue_rcu(task, threads, thread_node) {
		if (task->flags & PF_EXITING || gprof_task_counter(task, &a->counter))
			continue;
		get_task_struct(task);
		batch[n++] = task;
		if (n == BATCH)
			break;
	}
	rcu_read_unlock();
	return n;
}

/* @last: was the last one of all before, and is held; becomes that of @batch. */
static int attach_batch(struct gprof_attached *a, struct task_struct **batch, unsigned int n,
			struct task_struct **last)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < n; i++) {
		int ret = err ? 0 : attach_task(a, batch[i], first_enable(a));

		/* A thread that just ended is no error. */
		if (ret && ret != -ESRCH)
			err = ret;
		if (*last)
			put_task_struct(*last);
		*last = batch[i];
	}
	return err;
}

static int attach_process(struct gprof_attached *a)
{
	struct task_struct **batch = kmalloc_array(BATCH, sizeof(*batch), GFP_KERNEL);
	struct task_struct *last = NULL;
	unsigned int n;
	int err;

	if (!batch)
		return -ENOMEM;
	do {
		n = find_unattached(a, last, batch);
		err = attach_batch(a, batch, n, &last);
	} while (n && !err && !fatal_signal_pending(a->target->caller));
	if (last)
		put_task_struct(last);
	kfree(batch);
	if (!err && !a->nr)
		err = -ESRCH;
	return err;
}

static int attach_cpus(struct gprof_attached *a)
{
	int cpu, err = 0;

	lockdep_assert_held(&a->lock);
	for_each_cpu_and(cpu, a->target->cpus, cpu_online_mask) {
		struct perf_event *event;

		if (a->by_cpu[cpu])
			continue;
		event = gprof_counter_create(&a->counter, cpu, NULL, GPROF_NOW);
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
		a->by_cpu[cpu] = event;
		a->nr++;
	}
	return a->nr ? 0 : err;
}

static void detach_cpu(struct gprof_attached *a, int cpu)
{
	if (!a->by_cpu || !a->by_cpu[cpu])
		return;
	detach(a, a->by_cpu[cpu]);
	a->by_cpu[cpu] = NULL;
	a->nr--;
}

static void detach_all(struct gprof_attached *a)
{
	struct attached_task *t, *next;
	int cpu;

	lockdep_assert_held(&a->lock);
	list_for_each_entry_safe(t, next, &a->tasks, node) {
		detach(a, t->event);
		list_del(&t->node);
		kfree(t);
		a->nr--;
	}
	for_each_possible_cpu(cpu)
		detach_cpu(a, cpu);
}

/**
 * gprof_attached_close() - let none join any more
 * @a: attached
 *
 * Context: Any but NMI; in a probe before it goes on to those that have joined.
 */
void gprof_attached_close(struct gprof_attached *a)
{
	if (!READ_ONCE(a->closed))
		WRITE_ONCE(a->closed, true);
	/* A recorder that the closing probe does not find finds it closed. */
	smp_mb();	/* pairs with smp_mb() in join() of counter_share.c */
}

/*
 * perf lets the child's counter begin with a whole period: a task that lives
 * shorter would never be sampled, and of every task the last part would be
 * missing. From a random place in the period each event is a sample with the
 * same probability, whichever task it belongs to.
 */
/**
 * gprof_attached_forked() - a task of the target has made another
 * @a: attached
 * @child: which has not run yet
 *
 * A process that comes later belongs to the recorders that its parent belonged to; none that
 * begins now may have its events, and the events that it inherited do not tell them apart.
 *
 * Context: Preemption off.
 */
void gprof_attached_forked(struct gprof_attached *a, struct task_struct *child)
{
	struct perf_event *event = gprof_task_counter(child, &a->counter);
	u32 random;

	if (child->tgid != current->tgid)
		gprof_attached_close(a);
	if (!event)
		return;
	random = hash_64(ktime_get_mono_fast_ns() + ((u64)child->pid << 32), 32);
	gprof_counter_set_phase(event,
				1 + mul_u64_u32_shr(event->attr.sample_period, random, 32));
	*gprof_counter_seen(event) = READ_ONCE(a->counter.changes);
}

/**
 * gprof_attached_executed() - current belongs, and may have lost its event by an exec
 * @a: attached
 *
 * Context: Preemption off.
 */
void gprof_attached_executed(struct gprof_attached *a)
{
	int i;

	if (gprof_task_dumpable(current, current->mm) ||
	    gprof_task_counter(current, &a->counter))
		return;
	/* A later recorder may find the task allowed again; those that are here do not. */
	gprof_attached_close(a);
	if (!READ_ONCE(a->target)->privileged)
		return;
	for (i = 0; i < GPROF_NR_LOST_ON_EXEC; i++) {
		if (!atomic_cmpxchg(&a->lost_on_exec[i], 0, current->tgid)) {
			queue_work(system_dfl_wq, &a->refresh);
			return;
		}
	}
}

static void attach_lost_on_exec(struct gprof_attached *a)
{
	struct task_struct *task;
	int i, pid;

	for (i = 0; i < GPROF_NR_LOST_ON_EXEC; i++) {
		/* A full barrier; pairs with atomic_cmpxchg() in gprof_attached_executed(). */
		pid = atomic_xchg(&a->lost_on_exec[i], 0);
		if (!pid)
			continue;
		rcu_read_lock();
		/* A worker lives in the initial pid namespace. */
		task = pid_task(find_vpid(pid), PIDTYPE_TGID);
		/* It may have asked twice, by two execs in a row. */
		if (task && gprof_task_counter(task, &a->counter))
			task = NULL;
		if (task)
			get_task_struct(task);
		rcu_read_unlock();
		if (!task)
			continue;
		attach_task(a, task, GPROF_NOW);
		put_task_struct(task);
	}
}

static void attach_cpus_that_came(struct gprof_attached *a)
{
	unsigned int cpu;

	for_each_cpu(cpu, a->target->cpus) {
		bool came;

		spin_lock_irq(&list_lock);
		came = cpumask_test_and_clear_cpu(cpu, a->came);
		spin_unlock_irq(&list_lock);
		/* perf took the counter off when the CPU went. */
		if (came)
			detach_cpu(a, cpu);
	}
	attach_cpus(a);
}

static void refresh(struct work_struct *work)
{
	struct gprof_attached *a = container_of(work, struct gprof_attached, refresh);

	mutex_lock(&a->lock);
	if (a->over)
		;	/* nobody wants them any more */
	else if (a->by_cpu)
		attach_cpus_that_came(a);
	else
		attach_lost_on_exec(a);
	mutex_unlock(&a->lock);
}

/* Hotplug callback: under the hotplug lock, hence no call into perf. */
static int cpu_came(unsigned int cpu)
{
	struct gprof_attached *a;

	spin_lock_irq(&list_lock);
	list_for_each_entry(a, &following, node) {
		cpumask_set_cpu(cpu, a->came);
		queue_work(system_dfl_wq, &a->refresh);
	}
	spin_unlock_irq(&list_lock);
	return 0;
}

/*
 * Before the first counter is attached: a CPU that goes and returns between that and
 * this would be taken to have its counter still.
 */
static void follow_cpus(struct gprof_attached *a)
{
	spin_lock_irq(&list_lock);
	cpumask_clear(a->came);
	list_add(&a->node, &following);
	spin_unlock_irq(&list_lock);
}

static void unfollow_cpus(struct gprof_attached *a)
{
	spin_lock_irq(&list_lock);
	list_del_init(&a->node);
	spin_unlock_irq(&list_lock);
}

/**
 * gprof_counter_attach_init() - begin to follow CPUs
 *
 * Context: Task.
 * Return: 0 or a negative errno.
 */
int gprof_counter_attach_init(void)
{
	int state = cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN, "gprof:online", cpu_came,
					      NULL);

	if (state < 0)
		return state;
	attach_hotplug_state = state;
	return 0;
}

/**
 * gprof_counter_attach_exit() - cease to follow CPUs
 *
 * Context: Task; no recorder exists any more.
 */
void gprof_counter_attach_exit(void)
{
	cpuhp_remove_state_nocalls(attach_hotplug_state);
}

/**
 * gprof_attached_new() - prepare events; there are none yet
 * @spec: their event and place
 *
 * Context: Task.
 * Return: for gprof_attached_free(), or NULL.
 */
struct gprof_attached *gprof_attached_new(const struct gprof_counter_spec *spec)
{
	struct gprof_attached *a = kzalloc(sizeof(*a), GFP_KERNEL_ACCOUNT);

	if (!a)
		return NULL;
	a->counter.attr = spec->attr;
	a->counter.inherit = spec->target->type == GPROF_TARGET_PROCESS;
	INIT_LIST_HEAD(&a->counter.consumers);
	mutex_init(&a->lock);
	INIT_LIST_HEAD(&a->tasks);
	INIT_LIST_HEAD(&a->node);
	INIT_LIST_HEAD(&a->list);
	INIT_WORK(&a->refresh, refresh);
	refcount_set(&a->refs, 1);
	a->target = spec->target;
	if (!zalloc_cpumask_var(&a->came, GFP_KERNEL_ACCOUNT))
		goto err_free;
	if (gprof_target_is_tasks(spec->target))
		return a;
	a->by_cpu = kcalloc(nr_cpu_ids, sizeof(*a->by_cpu), GFP_KERNEL_ACCOUNT);
	if (a->by_cpu)
		return a;
	free_cpumask_var(a->came);
err_free:
	kfree(a);
	return NULL;
}

/**
 * gprof_attached_free() - free; ended before, or never begun
 * @a: attached
 *
 * Context: Task.
 */
void gprof_attached_free(struct gprof_attached *a)
{
	kfree(a->by_cpu);
	free_cpumask_var(a->came);
	mutex_destroy(&a->lock);
	kfree(a);
}

/**
 * gprof_attached_begin() - attach, and count from now on
 * @a: attached, under its lock; to nothing yet
 *
 * Context: Task.
 * Return: 0 or a negative errno; then, too, gprof_attached_end() is to follow.
 */
int gprof_attached_begin(struct gprof_attached *a)
{
	lockdep_assert_held(&a->lock);
	if (a->by_cpu) {
		follow_cpus(a);
		return attach_cpus(a);
	}
	if (a->target->type == GPROF_TARGET_THREAD)
		return attach_task(a, a->target->task, first_enable(a));
	return attach_process(a);
}

/**
 * gprof_attached_end() - detach; no sample is taken once this returns
 * @a: attached, which is over
 *
 * Context: Task, without the lock.
 */
void gprof_attached_end(struct gprof_attached *a)
{
	if (a->by_cpu)
		unfollow_cpus(a);
	cancel_work_sync(&a->refresh);
	mutex_lock(&a->lock);
	detach_all(a);
	mutex_unlock(&a->lock);
}

/**
 * gprof_attached_flush() - the fastest consumer wants more samples than before
 * @a: attached, under its lock
 *
 * Context: Task.
 */
void gprof_attached_flush(struct gprof_attached *a)
{
	struct attached_task *t;
	int cpu;

	lockdep_assert_held(&a->lock);
	list_for_each_entry(t, &a->tasks, node)
		gprof_counter_flush(&a->counter, t->event);
	for_each_possible_cpu(cpu) {
		if (a->by_cpu && a->by_cpu[cpu])
			gprof_counter_flush(&a->counter, a->by_cpu[cpu]);
	}
}

/**
 * gprof_attached_read() - the counts so far
 * @a: attached, under its lock
 *
 * Context: Task.
 */
struct gprof_counts gprof_attached_read(struct gprof_attached *a)
{
	struct gprof_counts sum = a->gone;
	struct attached_task *t;
	int cpu;

	lockdep_assert_held(&a->lock);
	list_for_each_entry(t, &a->tasks, node)
		add_up(&sum, t->event);
	for_each_possible_cpu(cpu) {
		if (a->by_cpu && a->by_cpu[cpu])
			add_up(&sum, a->by_cpu[cpu]);
	}
	return sum;
}
