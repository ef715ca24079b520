// SPDX-License-Identifier: GPL-2.0-only
/*
 * wait_boundary: waits that are under way at START and at STOP.
 *
 * At START all that begin are noted, sampled or not, while a walk looks for tasks that wait
 * already: one without a note has begun before, and the same chance to be sampled as another.
 * The waker looks at a task that it wakes before the walk gets to it.
 */
#include "compat/sched.h"
#include "sample/sampler.h"
#include "target/target.h"
#include "task/wait_reason.h"
#include "waits.h"

#include <linux/gprof.h>
#include <linux/perf_event.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/spinlock.h>

#define WALK_BATCH	256	/* tasks, or places, between two points where others may run */
#define WALK_RESTARTS	16	/* then nobody runs in between */
#define WALKS_UNSURE	3	/* for tasks that are amid falling asleep */

static unsigned int sleep_of(const struct task_struct *task)
{
	unsigned int state = GPROF_TASK_STATE(task);

	return state & (TASK_WAKING | TASK_NEW | TASK_DEAD) ? 0 : state;
}

/*
 * Nobody wakes it while its lock is held, and a sleeper does nothing. In this order: a task that
 * is on no queue, and then on no CPU, has gone to sleep. 0: it does not sleep; else its state.
 */
static unsigned int sleeps(struct task_struct *task)
{
	bool queued = gprof_task_queued(task);

	lockdep_assert_held(&task->pi_lock);
	smp_rmb();	/* pairs with the barriers of a switch, as in try_to_wake_up() */
	if (queued || gprof_task_on_cpu(task) || task->exit_state)
		return 0;
	smp_rmb();	/* it had left its CPU before its stack is read: pairs with finish_task() */
	return sleep_of(task);
}

/*
 * Is it amid falling asleep, or waking up? It was told to leave its CPU before START perhaps,
 * and sleeps() does not see it yet. One that only has its CPU taken away will be told.
 */
static bool is_amid(struct task_struct *task)
{
	return !task->exit_state && sleep_of(task) &&
	       !(gprof_task_queued(task) && gprof_task_on_cpu(task));
}

static bool has(const struct gprof_waits *w, struct task_struct *task)
{
	if (!task->pid)
		return false;
	if (w->only_cpus)
		return cpumask_test_cpu(task_cpu(task), w->only_cpus);
	return gprof_target_matches(&w->whose, task);
}

/* A task left out by chance has a note too, so that another look does not count it again. */
static void begun(struct gprof_waits *w, struct task_struct *task, unsigned int state)
{
	struct gprof_wait_cpu *c = this_cpu_ptr(w->cpus);
	bool unsampled;

	if (w->spec.locks && !gprof_wait_is_for_lock(task, state))
		return;
	local64_inc(&c->count);
	unsampled = w->subsampled && !gprof_subsample_takes(&c->subsample, &w->subsampling, 1);
	if (gprof_wait_begins(w, task, w->from, state, unsampled))
		return;
	WRITE_ONCE(w->crowded, true);
	if (!unsampled)
		gprof_wait_lose(w);
}

/* Returns false where it cannot be told yet whether it sleeps. */
static bool scan_locked(struct gprof_waits *w, struct task_struct *task)
{
	unsigned int state = sleeps(task);

	if (!has(w, task) || gprof_wait_at(w, task) >= 0)
		return true;
	if (state)
		begun(w, task, state);
	return state || !is_amid(task);
}

/**
 * gprof_waits_scan() - note a wait that has begun before START, and is about to end
 * @w: waits, in GPROF_WAITS_BEGIN
 * @task: is being woken by current, be it as an interrupt
 *
 * Context: Any but NMI, under the lock of @task, where that is not current itself.
 */
void gprof_waits_scan(struct gprof_waits *w, struct task_struct *task)
{
	if (task != current)
		scan_locked(w, task);
}

/**
 * gprof_wait_wakes() - the tracepoint of woken tasks while START looks for tasks that wait already
 * @data: waits
 * @task: to which the walk may not have come; nobody would know then that it has waited
 *
 * Context: As gprof_waits_scan().
 */
void notrace gprof_wait_wakes(void *data, struct task_struct *task)
{
	struct gprof_waits *w = data;

	if (READ_ONCE(w->phase) == GPROF_WAITS_BEGIN)
		gprof_waits_scan(w, task);
}

static void scan_target(struct gprof_waits *w, struct task_struct *task)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&task->pi_lock, flags);
	if (!scan_locked(w, task))
		w->unsure = true;
	raw_spin_unlock_irqrestore(&task->pi_lock, flags);
}

/* Returns false where others ran meanwhile, and tasks that came cannot be found from here. */
static bool scan_threads(struct gprof_waits *w, struct task_struct *process, unsigned int *seen,
			 bool may_pause)
{
	struct task_struct *task;

	for_each_thread(process, task) {
		scan_target(w, task);
		if (++*seen % WALK_BATCH == 0 && may_pause && !gprof_pause_walk(process, task))
			return false;
	}
	return true;
}

static bool scan_all(struct gprof_waits *w, bool may_pause)
{
	struct task_struct *process;
	unsigned int seen = 0;

	if (w->whose.tgids)
		return scan_threads(w, w->whose.target->task, &seen, may_pause);
	for_each_process(process) {
		if (!scan_threads(w, process, &seen, may_pause))
			return false;
	}
	return true;
}

/**
 * gprof_waits_find_begun() - note tasks that wait already
 * @w: waits, in GPROF_WAITS_BEGIN
 *
 * Context: Task.
 */
void gprof_waits_find_begun(struct gprof_waits *w)
{
	unsigned int tries = 0, walks = 0;

	w->crowded = false;

	rcu_read_lock();
	do {
		w->unsure = false;
		if (w->whose.thread)
			scan_target(w, w->whose.target->task);
		else
			while (!scan_all(w, tries < WALK_RESTARTS))
				tries++;
		/* A task without a note would be counted again. */
	} while (w->unsure && !READ_ONCE(w->crowded) && ++walks < WALKS_UNSURE);
	rcu_read_unlock();
}

/*
 * Its note and its stack, of one moment. The user frames can be told where the mm is ours;
 * a woken task is no longer where it waited for as long as it takes to look.
 */
static bool take(struct gprof_waits *w, unsigned int at, struct task_struct *task,
		 struct gprof_wait *wait, struct gprof_capture *c)
{
	unsigned long flags;
	bool taken, asleep;

	raw_spin_lock_irqsave(&task->pi_lock, flags);
	asleep = sleeps(task);
	taken = gprof_wait_claim_of(w, at, task, wait);
	if (taken && asleep)
		gprof_stack_capture_task(c->stack, &w->sampler->options, task);
	else
		gprof_stack_capture_none(c->stack, task);
	raw_spin_unlock_irqrestore(&task->pi_lock, flags);
	return taken;
}

static void tell(struct gprof_waits *w, unsigned int at, struct task_struct *task)
{
	struct gprof_capture c __uninitialized;
	struct gprof_wait_end e;
	struct gprof_wait wait;
	struct pt_regs here;

	preempt_disable();
	perf_fetch_caller_regs(&here);
	gprof_capture(&c, &here, 0);
	c.task = task;
	if (!gprof_capture_stack(&c, w->sampler))
		goto out;
	if (take(w, at, task, &wait, &c)) {
		gprof_wait_end(w, &wait, w->until, &e);
		if (!wait.woken)
			e.wait |= GPROF_WAIT_ENDED_NOT << 8;
		gprof_wait_emit(w, &e, &c);
	}
	gprof_captured(&c);
out:
	preempt_enable();
}

/**
 * gprof_waits_report_unended() - tell the waits that go on
 * @w: waits, in GPROF_WAITS_OVER; tracepoints are joined still
 *
 * Context: Task.
 */
void gprof_waits_report_unended(struct gprof_waits *w)
{
	unsigned int nr = GPROF_WAIT_WAYS << w->bits, at;

	rcu_read_lock();
	for (at = 0; at < nr; at++) {
		struct gprof_wait_bucket *b = &w->buckets[at / GPROF_WAIT_WAYS];
		long task = atomic_long_read(&b->tasks[at % GPROF_WAIT_WAYS]);

		if (task && !(task & GPROF_WAIT_BUSY))
			tell(w, at, (struct task_struct *)task);
		if (at % WALK_BATCH == WALK_BATCH - 1) {
			rcu_read_unlock();
			cond_resched();
			rcu_read_lock();
		}
	}
	rcu_read_unlock();
}
