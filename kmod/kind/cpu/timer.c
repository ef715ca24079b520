// SPDX-License-Identifier: GPL-2.0-only
/*
 * timer: CPU time of a target as an event.
 *
 * CPUs (and the system, and cgroups): the slot of each CPU runs all the time;
 * whose time it is, is decided by the sample. Where that of an idle CPU is nobody's, the tracepoint
 * of idle CPUs lets it sleep.
 *
 * Tasks: the slot of a CPU runs only while a task of the target does. A user of the
 * tracepoint of switches lets it run and halt, so that the weight of the samples follows
 * the target's CPU time, whichever tasks it is made of: the next task goes on with the
 * rest of a period that one leaves. A task that runs already when the recorder starts,
 * or changes sides by an exec, is found by looking at current.
 *
 * A sample that is due when its task is switched out, because the scheduler
 * had interrupts off, is taken there; the next task must not be charged for it. Unless
 * samples take so much of the CPU, with switches all the time, that the tasks are owed
 * more than PATIENCE_NS: the due sample waits then, for the target's task that runs next.
 *
 * Lock order: recorder lock, switch_lock, hotplug lock, timers_lock. A tracepoint is
 * switched on and off under the hotplug lock, which the kernel takes for that; so a CPU
 * that comes must not want a lock that is held then. The probes take no lock but
 * task_set.c's.
 */
#include "timer.h"
#include "probe/tp_mux.h"
#include "sample/sampler.h"
#include "target/oncpu.h"
#include "target/target.h"
#include "unwind/stack.h"
#include "user/memlock.h"

#include <asm/irq_regs.h>
#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/gprof.h>
#include <linux/mutex.h>
#include <linux/perf_event.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/timekeeping.h>

#define PATIENCE_NS	(10 * NSEC_PER_MSEC)

static LIST_HEAD(timer_following);
static DEFINE_MUTEX(timers_lock);	/* protects it */
static unsigned int switch_users;
static unsigned int idle_users;
static DEFINE_MUTEX(switch_lock);	/* protects these */
static enum cpuhp_state timer_hotplug_state;

/* ---- targets made of tasks: on the CPU, interrupts off ---- */

static bool is_due(const struct list_head *slots, u64 now)
{
	const struct gprof_slot *slot;

	list_for_each_entry(slot, slots, node) {
		if ((s64)(now - slot->due) >= 0)
			return true;
	}
	return false;
}

static noinline void expire_all(struct list_head *slots, u64 now, struct pt_regs *regs)
{
	struct gprof_capture c __uninitialized;
	struct gprof_slot *slot;

	gprof_capture(&c, regs, now);
	list_for_each_entry(slot, slots, node) {
		if ((s64)(now - slot->due) >= 0)
			gprof_slot_expire(slot, &c);
	}
	gprof_captured(&c);
}

static void run_for(struct gprof_cpu_clock *c, const struct task_struct *task, u64 now)
{
	/* With interrupts off this is a reader of RCU. */
	struct gprof_task_set_process *p = gprof_task_set_process_of(task);
	struct gprof_task_set_entry *m;

	if (!p)
		return;
	hlist_for_each_entry_rcu(m, &p->entries[GPROF_TASK_SET_TIMER], node, irqs_disabled()) {
		struct gprof_timer *t = container_of(m->task_set, struct gprof_timer, task_set);

		if (gprof_task_set_counts(m, task))
			gprof_slot_run(this_cpu_ptr(t->slots), &c->task, &t->spec, now);
	}
}

/*
 * Under the lock of this CPU's run queue; current is still @prev. One for all timers:
 * whose clocks run is in the CPU's list, and whose are to run is asked of the task set.
 */
static void switch_clocks(void *data, bool preempt, struct task_struct *prev,
			  struct task_struct *next, unsigned int state)
{
	struct gprof_cpu_clock *c = this_cpu_ptr(&gprof_cpu_clock);
	u64 now = ktime_get_mono_fast_ns();

	if (unlikely(is_due(&c->task, now)) && likely((s64)(c->rest - now) < PATIENCE_NS)) {
		struct pt_regs *regs = this_cpu_ptr(&gprof_switch_regs);

		gprof_arch_caller_regs(regs);
		expire_all(&c->task, now, regs);
		gprof_cpu_clock_rest(c, now);
	}
	gprof_slots_halt(&c->task, now);
	run_for(c, next, now);
}

/* A clock that runs is of a known task. */
static struct gprof_tp_sub switches = {
	.tp = GPROF_TP_SWITCH, .on_switch = switch_clocks, .tracked_only = true,
	.wants_regs = true,
};

/*
 * Takes overdue samples on this CPU: its slots are about to halt, perhaps for good.
 * Interrupts are off.
 */
static noinline void expire_overdue(struct list_head *slots, u64 now)
{
	struct pt_regs *irq = get_irq_regs(), here;

	if (likely(!is_due(slots, now)))
		return;
	if (!irq)
		perf_fetch_caller_regs(&here);
	expire_all(slots, now, irq ?: &here);
}

/* Members have changed: does current belong to them? */
static void update_current(void)
{
	struct gprof_cpu_clock *c = this_cpu_ptr(&gprof_cpu_clock);
	u64 now = ktime_get_mono_fast_ns();

	expire_overdue(&c->task, now);
	gprof_slots_halt(&c->task, now);
	run_for(c, current, now);
}

/* In an interrupt, or called by the CPU that sends them to the others. */
static void update_current_there(void *unused)
{
	update_current();
}

static void timer_executed(struct gprof_task_set *task_set, bool changed)
{
	unsigned long flags;

	if (!changed)
		return;
	local_irq_save(flags);
	update_current();
	local_irq_restore(flags);
}

/* Something of it will be missing, which must not go unsaid. */
static void timer_missed(struct gprof_task_set *task_set)
{
	struct gprof_timer *t = container_of(task_set, struct gprof_timer, task_set);

	atomic64_inc(&t->spec.sampler->no_buffer);
}

static const struct gprof_task_set_ops timer_task_set_ops = {
	.executed = timer_executed,
	.missed = timer_missed,
};

static int tp_begin(struct gprof_tp_sub *user, unsigned int *users)
{
	int err = 0;

	mutex_lock(&switch_lock);
	if (!*users)
		err = gprof_tp_subscribe(user);
	if (!err)
		++*users;
	mutex_unlock(&switch_lock);
	return err;
}

static void tp_end(struct gprof_tp_sub *user, unsigned int *users)
{
	mutex_lock(&switch_lock);
	if (!--*users)
		gprof_tp_unsubscribe_nowait(user);
	mutex_unlock(&switch_lock);
}

static int start_on_tasks(struct gprof_timer *t, u32 *attached)
{
	int err;

	err = tp_begin(&switches, &switch_users);
	if (err)
		return err;
	err = gprof_task_set_attach(&t->task_set, attached);
	if (err) {
		tp_end(&switches, &switch_users);
		return err;
	}
	/* Before those that run are sampled. A task that is switched in meanwhile is already. */
	gprof_oncpu_scan(t->spec.sampler->oncpu);
	gprof_target_call_running(t->spec.target, update_current_there, NULL);
	return 0;
}

static bool slot_runs(int cpu, void *timer)
{
	const struct gprof_timer *t = timer;

	return gprof_slot_runs(per_cpu_ptr(t->slots, cpu));
}

static void stop_on_tasks(struct gprof_timer *t)
{
	gprof_oncpu_forget(t->spec.sampler->oncpu);
	gprof_task_set_detach(&t->task_set);
	/* A CPU that saw a member of ours has let a slot run before this takes it off. */
	on_each_cpu_cond(slot_runs, update_current_there, t, 1);
	tp_end(&switches, &switch_users);
}

/* ---- targets made of CPUs ---- */

static void idle_changes(void *data, bool sleeps)
{
	unsigned long flags;

	local_irq_save(flags);
	if (sleeps)
		gprof_cpu_clock_sleeps(this_cpu_ptr(&gprof_cpu_clock));
	else
		gprof_cpu_clock_wakes(this_cpu_ptr(&gprof_cpu_clock));
	local_irq_restore(flags);
}

static struct gprof_tp_sub idles = {
	.tp = GPROF_TP_IDLE,
	.on_idle = idle_changes,
};

/* On the CPU, interrupts off. */
static void run_always(void *timer)
{
	struct gprof_timer *t = timer;

	/* It may be of before the tracepoint was left. */
	this_cpu_write(gprof_cpu_clock.sleeps, false);
	gprof_slot_run(this_cpu_ptr(t->slots), this_cpu_ptr(&gprof_cpu_clock.always), &t->spec,
		       ktime_get_mono_fast_ns());
}

static void halt_always(void *timer)
{
	struct gprof_timer *t = timer;
	struct gprof_slot *slot = this_cpu_ptr(t->slots);
	u64 now = ktime_get_mono_fast_ns();

	if (list_empty(&slot->node))
		return;
	expire_overdue(&this_cpu_ptr(&gprof_cpu_clock)->always, now);
	gprof_slot_halt(slot, now);
}

static u32 start_on_cpus(struct gprof_timer *t)
{
	u32 attached = 0;
	int cpu;

	/* A kernel without it has idle CPUs interrupted. */
	t->sees_idle = !t->spec.with_idle && !tp_begin(&idles, &idle_users);
	cpus_read_lock();
	mutex_lock(&timers_lock);
	list_add(&t->node, &timer_following);
	for_each_cpu_and(cpu, t->spec.target->cpus, cpu_online_mask)
		attached += !smp_call_function_single(cpu, run_always, t, 1);
	mutex_unlock(&timers_lock);
	cpus_read_unlock();
	return attached;
}

static void stop_on_cpus(struct gprof_timer *t)
{
	cpus_read_lock();
	mutex_lock(&timers_lock);
	list_del_init(&t->node);
	mutex_unlock(&timers_lock);
	on_each_cpu_mask(t->spec.target->cpus, halt_always, t, 1);
	cpus_read_unlock();
	if (t->sees_idle)
		tp_end(&idles, &idle_users);
}

/* On the CPU, under the hotplug lock. */
static int timer_cpu_came(unsigned int cpu)
{
	struct gprof_timer *t;

	gprof_cpu_clock_online();
	mutex_lock(&timers_lock);
	list_for_each_entry(t, &timer_following, node) {
		if (!cpumask_test_cpu(cpu, t->spec.target->cpus))
			continue;
		local_irq_disable();
		run_always(t);
		local_irq_enable();
	}
	mutex_unlock(&timers_lock);
	return 0;
}

static int cpu_offline(unsigned int cpu)
{
	gprof_cpu_clock_offline();
	return 0;
}

/* ---- */

/**
 * gprof_timers_init() - prepare every CPU's clock
 *
 * Context: Task.
 * Return: 0 or a negative errno.
 */
int gprof_timers_init(void)
{
	unsigned int cpu;
	int state;

	for_each_possible_cpu(cpu)
		gprof_cpu_clock_init(cpu);
	state = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "gprof:timer", timer_cpu_came, cpu_offline);
	if (state < 0)
		return state;
	timer_hotplug_state = state;
	return 0;
}

/**
 * gprof_timers_exit() - end every CPU's clock
 *
 * Context: Task; no recorder exists any more.
 */
void gprof_timers_exit(void)
{
	cpuhp_remove_state(timer_hotplug_state);
}

static int make_slots(struct gprof_timer *t)
{
	int cpu;

	t->slots = alloc_percpu_gfp(struct gprof_slot, GFP_KERNEL_ACCOUNT);
	if (!t->slots)
		return -ENOMEM;
	for_each_possible_cpu(cpu)
		INIT_LIST_HEAD(&per_cpu_ptr(t->slots, cpu)->node);
	return 0;
}

/**
 * gprof_timer_bytes() - memory that a timer takes, for the charge
 * @target: whose time
 *
 * Context: Task.
 */
u64 gprof_timer_bytes(const struct gprof_target *target)
{
	return gprof_memory_of(sizeof(struct gprof_timer)) +
	       sizeof(struct gprof_slot) * num_possible_cpus() + gprof_task_set_bytes(target);
}

/**
 * gprof_timer_new() - prepare a timer; it does not run yet
 * @spec: its clock; copied
 * @charge: pays for processes that the target forks
 *
 * Context: Task.
 * Return: timer for gprof_timer_destroy(), or NULL.
 */
struct gprof_timer *gprof_timer_new(const struct gprof_clock_spec *spec,
				    struct gprof_charge *charge)
{
	struct gprof_timer *t = kzalloc(sizeof(*t), GFP_KERNEL_ACCOUNT);
	int err;

	if (!t)
		return NULL;
	t->spec = *spec;
	/* The slots of tasks run for these alone. */
	t->spec.selective = spec->user_only || spec->target->cgroup ||
			    (!gprof_target_is_tasks(spec->target) && !spec->with_idle);
	INIT_LIST_HEAD(&t->node);
	t->task_set.tgids = gprof_oncpu_tgids(spec->sampler->oncpu);
	err = make_slots(t);
	if (!err && gprof_target_is_tasks(spec->target))
		err = gprof_task_set_init(&t->task_set, GPROF_TASK_SET_TIMER, &timer_task_set_ops,
					  spec->target, charge);
	if (err) {
		gprof_timer_destroy(t);
		return NULL;
	}
	return t;
}

/**
 * gprof_timer_destroy() - free; stopped before
 * @state: timer
 *
 * Context: Task.
 */
void gprof_timer_destroy(void *state)
{
	struct gprof_timer *t = state;

	free_percpu(t->slots);
	kfree(t);
}

/**
 * gprof_timer_start() - sample from now on
 * @state: timer that does not run
 * @attached: gets the number of threads, or of CPUs, that it begins with
 *
 * Context: Task.
 * Return: 0 or a negative errno; it does not run then.
 */
int gprof_timer_start(void *state, u32 *attached)
{
	struct gprof_timer *t = state;

	if (gprof_target_is_tasks(t->spec.target))
		return start_on_tasks(t, attached);
	*attached = start_on_cpus(t);
	return 0;
}

/**
 * gprof_timer_stop() - no sample is taken once this returns
 * @state: timer that runs
 *
 * Context: Task.
 */
void gprof_timer_stop(void *state)
{
	struct gprof_timer *t = state;

	if (gprof_target_is_tasks(t->spec.target))
		stop_on_tasks(t);
	else
		stop_on_cpus(t);
}

/**
 * gprof_timer_stats() - fill in for how long it ran
 * @state: timer
 * @stats: out_count, out_time_enabled and out_time_running are set
 *
 * Context: Task.
 */
void gprof_timer_stats(void *state, struct gprof_stats *stats)
{
	struct gprof_timer *t = state;
	u64 time = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		time += gprof_slot_time(per_cpu_ptr(t->slots, cpu));
	stats->out_time_enabled = time;
	stats->out_time_running = time;
	/* Not the time that each sample left out: that was not the target's. */
	if (t->spec.selective)
		time = 0;
	stats->out_count = time;
}
