// SPDX-License-Identifier: GPL-2.0-only
/*
 * later: work that a caller hands over, and does not wait for without a limit.
 *
 * Workers that are bound to no CPU do it; unloading the module waits for them.
 *
 * On PREEMPT_RT a thread of each CPU tells RCU that the CPU has passed a quiescent state, and no
 * grace period can be expedited. A task of real time that keeps a CPU for itself
 * (kernel.sched_rt_runtime_us = -1) holds back each grace period for as long as the task likes,
 * and with it all that the kernel waits for where perf events are made and freed and tracepoints
 * are registered. A caller of these lets a worker call them, with the caller's credentials, at the
 * caller's cost. The caller gives up when it has waited for 1.5 s in which no grace period has
 * passed. On other kernels an interrupt tells RCU, and the caller makes the call itself; START
 * may have to wait there for work that the kernel leaves to a thread of the CPU, without a limit.
 */
#include "later.h"
#include "memlock.h"

#include <linux/cred.h>
#include <linux/hrtimer.h>
#include <linux/jiffies.h>
#include <linux/memcontrol.h>
#include <linux/minmax.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>

/*
 * In slices, of which some have to pass: when a virtual machine has stood still for the whole
 * time, only one of them has.
 */
#define LIMIT		(HZ * 3 / 2)
#define SLICE_NS	(100 * NSEC_PER_MSEC)
#define SLICES_MIN	5
#define REST_NS		(100 * NSEC_PER_MSEC)

enum { RUNS, HAS_RUN, LEFT };

/**
 * struct grace - has a grace period passed?
 * @rcu: tells
 * @refs: of the caller and of @rcu
 * @passed: it has
 */
struct grace {
	struct rcu_head rcu;
	refcount_t refs;
	bool passed;
};

static struct workqueue_struct *later;

/**
 * gprof_later_init() - make the workers
 *
 * Context: Task.
 * Return: 0 or -ENOMEM.
 */
int gprof_later_init(void)
{
	later = alloc_workqueue("gprof", WQ_UNBOUND, 0);
	return later ? 0 : -ENOMEM;
}

/**
 * gprof_later_exit() - wait until all is done
 *
 * Context: Task; no file is open. Waits without a limit.
 */
void gprof_later_exit(void)
{
	destroy_workqueue(later);
}

/**
 * gprof_later() - have something done
 * @work: the work
 *
 * Context: Any but NMI. A full barrier: the worker sees the caller's stores.
 * Return: whether it was not queued yet.
 */
bool gprof_later(struct work_struct *work)
{
	return queue_work(later, work);
}

/* ---- waiting ---- */

static void put_grace(struct grace *g)
{
	if (refcount_dec_and_test(&g->refs))
		kfree(g);
}

static void grace_passed(struct rcu_head *rcu)
{
	struct grace *g = container_of(rcu, struct grace, rcu);

	WRITE_ONCE(g->passed, true);
	put_grace(g);
}

static struct grace *ask_grace(void)
{
	struct grace *g = kmalloc(sizeof(*g), GFP_KERNEL_ACCOUNT);

	if (!g)
		return NULL;
	refcount_set(&g->refs, 2);
	g->passed = false;
	call_rcu(&g->rcu, grace_passed);
	return g;
}

/**
 * gprof_sleep_until() - sleep until something wakes the task, or a time
 * @when: of ktime_get_mono_fast_ns(); U64_MAX: never
 *
 * The interrupt of the timer wakes. On PREEMPT_RT other timers wait for a thread of the CPU that
 * they were set on, which a task of real time that has come to keep the CPU does not let run.
 *
 * Context: Task, which has set its state.
 * Return: whether the time has come first.
 */
bool gprof_sleep_until(u64 when)
{
	ktime_t at = ns_to_ktime(when);

	return !schedule_hrtimeout_range(when == U64_MAX ? NULL : &at, 0, HRTIMER_MODE_ABS_HARD);
}

/**
 * gprof_complete_within() - wait for a completion that complete_all() ends, for a time
 * @done: completion
 * @state: of the task
 * @ns: time
 *
 * Context: Task.
 * Return: 0; -ETIME; -ERESTARTSYS, where @state lets signals wake.
 */
int gprof_complete_within(struct completion *done, unsigned int state, u64 ns)
{
	u64 until = ktime_get_mono_fast_ns() + ns;

	return gprof_swait(done->wait, completion_done(done), state, until);
}

static int await_with_grace(struct completion *done, bool interruptible)
{
	unsigned int state = interruptible ? TASK_INTERRUPTIBLE : TASK_UNINTERRUPTIBLE;
	unsigned long end = jiffies + LIMIT;
	int err = gprof_complete_within(done, state, SLICE_NS);
	bool passed = true;

	for (; err == -ETIME && passed; end = jiffies + LIMIT) {
		struct grace *g = ask_grace();
		unsigned int i;

		for (i = 0; err == -ETIME && (i < SLICES_MIN || time_before(jiffies, end)); i++)
			err = gprof_complete_within(done, state, SLICE_NS);
		/* Without memory nobody knows. */
		if (g) {
			passed = READ_ONCE(g->passed);
			put_grace(g);
		}
	}
	return err == -ETIME ? -EAGAIN : err;
}

/**
 * gprof_await() - wait for work that may wait for grace periods
 * @done: that it is done
 * @interruptible: a signal ends the wait
 *
 * Context: Task.
 * Return: 0; -ERESTARTSYS; -EAGAIN: no grace period has passed for 1.5 s.
 */
int gprof_await(struct completion *done, bool interruptible)
{
	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		return await_with_grace(done, interruptible);
	if (interruptible)
		return wait_for_completion_interruptible(done);
	wait_for_completion(done);
	return 0;
}

/* ---- calls ---- */

static void work_for_caller(struct work_struct *work)
{
	struct gprof_call *c = container_of(work, struct gprof_call, work);
	const struct cred *own = override_creds(c->cred);
	bool left;

	set_user_nice(current, c->nice);
	gprof_pay_for(c->memcg);
	c->err = c->run(c);
	/* A full barrier; pairs with atomic_cmpxchg() in gprof_call(): @err is set. */
	left = atomic_cmpxchg(&c->state, RUNS, HAS_RUN) == LEFT;
	complete_all(&c->ran);
	c->rest(c, left);
	complete_all(&c->over);
	gprof_pay_for(NULL);
	set_user_nice(current, 0);
	revert_creds(own);
	gprof_call_put(c);
}

static bool call_in_worker(struct gprof_call *c)
{
	refcount_set(&c->refs, 2);
	INIT_WORK(&c->work, work_for_caller);
	init_completion(&c->ran);
	init_completion(&c->over);
	c->cred = get_current_cred();
	c->memcg = get_mem_cgroup_from_mm(current->mm);
	c->nice = c->for_all ? 0 : max(task_nice(current), 0);
	gprof_later(&c->work);
	if (gprof_await(&c->ran, false) && atomic_cmpxchg(&c->state, RUNS, LEFT) == RUNS)
		return false;
	/* A caller that asks for the same at once finds free again the parts that this one used. */
	gprof_complete_within(&c->over, TASK_UNINTERRUPTIBLE, REST_NS);
	return true;
}

/**
 * gprof_call() - make a call that may wait for grace periods
 * @c: call; gprof_call_put() is to follow
 *
 * Context: Task.
 * Return: whether it has run; else no grace period has passed for 1.5 s, and it goes on.
 */
bool gprof_call(struct gprof_call *c)
{
	if (IS_ENABLED(CONFIG_PREEMPT_RT) || c->for_all)
		return call_in_worker(c);
	refcount_set(&c->refs, 1);
	c->err = c->run(c);
	c->rest(c, false);
	return true;
}

/**
 * gprof_call_put() - the caller has no more use for it
 * @c: call that was made
 *
 * Context: Task.
 */
void gprof_call_put(struct gprof_call *c)
{
	if (!refcount_dec_and_test(&c->refs))
		return;
	if (c->cred) {
		mem_cgroup_put(c->memcg);
		put_cred(c->cred);
	}
	kfree(c);
}
