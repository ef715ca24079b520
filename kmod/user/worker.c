// SPDX-License-Identifier: GPL-2.0-only
/*
 * worker: a thread for each cgroup that a user records from, and the time it may spend.
 *
 * Lock order: @workers_lock, then struct gprof_worker.lock. No work item runs under either. Both
 * are raw, as is that of the wait queue: the holder of another can be preempted, and its cgroup may
 * have no time left to run in, or a task of real time may keep its CPU. Others would wait for it.
 */
#include "worker.h"
#include "compat/irq_work.h"
#include "later.h"
#include "memlock.h"
#include "task/cgroups.h"

#include <linux/atomic.h>
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/memcontrol.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/sched/user.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/swait.h>
#include <linux/timekeeping.h>
#include <linux/uidgid.h>
#include <linux/user_namespace.h>

#define SHARE			16	/* of one CPU that a user's work items take */
#define SHARE_PRIVILEGED	4	/* for a user that records the whole host */
#define CUT_NS			(NSEC_PER_SEC / 4)

/* The thread's stack and task, about. */
#define THREAD_BYTES		(THREAD_SIZE + 4 * PAGE_SIZE)

/**
 * struct gprof_worker - one user's thread
 * @node: in @workers
 * @cred: keeps the user
 * @cgroup: id of the cgroup of version 2 whose recorders it serves, and that it is in; 0: it
 *	serves those with CAP_PERFMON
 * @charge: for the thread
 * @recorders: number of work items; protected by @workers_lock
 * @nice: of the thread: the best that a recorder of the user was set up at
 * @share: one in so many of the time of a CPU
 * @spent: by the thread; its own
 * @accounted: CPU time of the thread that is in @spent
 * @began: time when the current piece of work began; the thread's
 * @began_run: CPU time of the thread then
 * @thread: runs the work items
 * @memcg: memory cgroup that pays for the thread's allocations, or NULL
 * @lock: protects @works, @running, @between and the times and counts of work items
 * @works: those that are to be looked at first come first
 * @running: the one that is being run
 * @between: the urgent one that is being run in the middle of @running
 * @ran: waits for a work item to end
 * @called: a work item is to be run now
 * @has_urgent: an urgent one is
 */
struct gprof_worker {
	struct list_head node;
	const struct cred *cred;
	u64 cgroup;
	struct gprof_charge charge;
	unsigned int recorders;
	int nice;
	unsigned int share;
	struct gprof_cpu_budget spent;
	u64 accounted;
	u64 began;
	u64 began_run;
	struct task_struct *thread;
	struct mem_cgroup *memcg;
	raw_spinlock_t lock;		/* protects work items */
	struct list_head works;
	struct gprof_work *running;
	struct gprof_work *between;
	struct swait_queue_head ran;
	atomic_t called;
	atomic_t has_urgent;
};

static DEFINE_RAW_SPINLOCK(workers_lock); /* protects workers, and their number of work items */
static LIST_HEAD(workers);

static struct gprof_work *next_urgent(struct gprof_worker *s)
{
	struct gprof_work *e;

	list_for_each_entry(e, &s->works, node) {
		if (e->urgent && (READ_ONCE(e->called) || e->asked != e->answered))
			return e;
	}
	return NULL;
}

/* The next work item to run, or NULL and when to look again. */
static struct gprof_work *next_work(struct gprof_worker *s, u64 now, u64 *due)
{
	u64 solvent = gprof_cpu_budget_due(&s->spent);
	struct gprof_work *e = next_urgent(s);

	*due = U64_MAX;
	if (e)
		return e;
	list_for_each_entry(e, &s->works, node) {
		u64 at = READ_ONCE(e->called) ? 0 : e->due;

		/* A waiter gets an answer, if only that nothing can be done. */
		if (e->asked != e->answered)
			return e;
		at = max(at, solvent);
		if (at <= now)
			return e;
		*due = min(*due, at);
	}
	return NULL;
}

/* Runs one, under the lock but for that. @slot: where it stands meanwhile. */
static void run_work(struct gprof_worker *s, struct gprof_work *e, struct gprof_work **slot)
{
	u64 asked = e->asked, due;

	*slot = e;
	list_move_tail(&e->node, &s->works);
	raw_spin_unlock(&s->lock);
	/* Called from here on is run again: pairs with xchg() in gprof_work_call(). */
	xchg(&e->called, 0);
	due = e->run(e, asked != e->answered);
	cond_resched();
	raw_spin_lock(&s->lock);
	e->due = due;
	e->answered = asked;
	*slot = NULL;
	raw_spin_unlock(&s->lock);
	swake_up_all(&s->ran);
	raw_spin_lock(&s->lock);
}

/* Runs all that is due; returns when the next will be. */
static u64 run_works(struct gprof_worker *s)
{
	struct gprof_work *e;
	u64 due;

	raw_spin_lock(&s->lock);
	while ((e = next_work(s, ktime_get_mono_fast_ns(), &due)))
		run_work(s, e, &s->running);
	raw_spin_unlock(&s->lock);
	return due;
}

/* As old as the last tick, which may come meanwhile. */
static u64 own_run(void)
{
	return READ_ONCE(current->se.sum_exec_runtime);
}

/*
 * All time of the thread is its user's: that of waking up too, which is most of it where
 * there is much to ask for and nothing that may be done.
 */
static void settle(struct gprof_worker *s)
{
	u64 run = own_run();

	gprof_cpu_budget_spend(&s->spent, ktime_get_mono_fast_ns(), run - s->accounted, s->share);
	s->accounted = run;
}

static void rest_until(u64 due)
{
	/* No more often than once a tick. */
	if (due > ktime_get_mono_fast_ns())
		gprof_sleep_until(due == U64_MAX ? due : due + TICK_NSEC);
	__set_current_state(TASK_RUNNING);
}

static int serve(void *data)
{
	struct gprof_worker *s = data;
	u64 due = U64_MAX;

	gprof_pay_for(s->memcg);
	for (;;) {
		/* Asleep, as far as a waker can see, before @called is looked at. */
		set_current_state(TASK_IDLE);
		if (kthread_should_stop())
			break;
		if (!atomic_read(&s->called))
			rest_until(due);
		__set_current_state(TASK_RUNNING);
		/* A full barrier; pairs with atomic_xchg() in wake(). */
		atomic_xchg(&s->called, 0);
		settle(s);
		due = run_works(s);
	}
	__set_current_state(TASK_RUNNING);
	gprof_pay_for(NULL);
	return 0;
}

/* Raw locks only: also from a hard interrupt of PREEMPT_RT. */
static void wake(struct gprof_worker *s)
{
	/* Pairs with atomic_xchg() in serve(): a thread that reads 1 sees the request. */
	if (!atomic_xchg(&s->called, 1))
		wake_up_process(s->thread);
}

static int nice_of_current(void)
{
	if (current->policy == SCHED_IDLE)
		return MAX_NICE;
	return max(task_nice(current), 0);
}

/* Its thread has ended. */
static void free_worker(struct gprof_worker *s)
{
	gprof_uncharge(&s->charge);
	put_cred(s->cred);
	mem_cgroup_put(s->memcg);
	kfree(s);
}

static void dismiss(struct gprof_worker *s)
{
	kthread_stop(s->thread);
	free_worker(s);
}

/* Not in @workers yet; its thread sleeps. */
static struct gprof_worker *worker_get(u64 cgroup)
{
	struct gprof_worker *s = kzalloc(sizeof(*s), GFP_KERNEL_ACCOUNT);
	int err;

	if (!s)
		return ERR_PTR(-ENOMEM);
	s->cred = get_current_cred();
	err = gprof_charge(&s->charge, THREAD_BYTES, !cgroup);
	if (err)
		goto err_free;
	raw_spin_lock_init(&s->lock);
	INIT_LIST_HEAD(&s->works);
	init_swait_queue_head(&s->ran);
	s->nice = MAX_NICE;
	s->cgroup = cgroup;
	s->share = cgroup ? SHARE : SHARE_PRIVILEGED;
	if (cgroup)
		s->memcg = get_mem_cgroup_from_mm(current->mm);
	s->thread = kthread_create(serve, s, "gprof/%u",
				   from_kuid_munged(&init_user_ns, current_uid()));
	if (IS_ERR(s->thread)) {
		err = PTR_ERR(s->thread);
		goto err_free;
	}
	set_user_nice(s->thread, s->nice);
	wake_up_process(s->thread);
	return s;

err_free:
	free_worker(s);
	return ERR_PTR(err);
}

static struct gprof_worker *find_servant(u64 cgroup)
{
	struct gprof_worker *s;

	lockdep_assert_held(&workers_lock);
	list_for_each_entry(s, &workers, node) {
		if (s->cred->user == current_user() && s->cgroup == cgroup)
			return s;
	}
	return NULL;
}

/* @spare: not NULL: becomes the one, unless there is one. Returns it, with one more work item. */
static struct gprof_worker *try_engage(u64 cgroup, struct gprof_worker *spare, int nice)
{
	struct gprof_worker *s;

	raw_spin_lock(&workers_lock);
	s = find_servant(cgroup);
	if (!s && spare) {
		s = spare;
		list_add(&s->node, &workers);
	}
	if (s) {
		s->recorders++;
		if (nice < s->nice) {
			s->nice = nice;
			set_user_nice(s->thread, nice);
		}
	}
	raw_spin_unlock(&workers_lock);
	return s;
}

/* The user's for the cgroup, with one more work item; @first: it is new. */
static struct gprof_worker *engage(u64 cgroup, bool *first)
{
	int nice = nice_of_current();
	struct gprof_worker *s = try_engage(cgroup, NULL, nice), *spare;

	*first = false;
	if (s)
		return s;
	spare = worker_get(cgroup);
	if (IS_ERR(spare))
		return spare;
	s = try_engage(cgroup, spare, nice);
	*first = s == spare;
	if (!*first)
		dismiss(spare);
	return s;
}

/* A thread joins the cgroups of the task that had it made, which is alive meanwhile. */
struct joining {
	struct gprof_call call;
	struct task_struct *model;
	struct task_struct *thread;
};

/* Where the thread may not join them it stays. */
static int join(struct gprof_call *call)
{
	struct joining *j = container_of(call, struct joining, call);

	cgroup_attach_task_all(j->model, j->thread);
	return 0;
}

static void end_joining(struct gprof_call *call, bool left)
{
	struct joining *j = container_of(call, struct joining, call);

	put_task_struct(j->model);
	put_task_struct(j->thread);
}

/* Waits for a grace period, under locks that each fork and each change of a cgroup wants. */
static int join_cgroups(struct gprof_worker *s)
{
	struct joining *j = kzalloc(sizeof(*j), GFP_KERNEL_ACCOUNT);
	int err;

	BUILD_BUG_ON(offsetof(struct joining, call));
	if (!j)
		return -ENOMEM;
	j->call.run = join;
	j->call.rest = end_joining;
	j->call.for_all = true;
	j->model = get_task_struct(current);
	j->thread = get_task_struct(s->thread);
	err = gprof_call(&j->call) ? 0 : -EAGAIN;
	gprof_call_put(&j->call);
	return err;
}

static void called(struct irq_work *irq)
{
	gprof_work_call(container_of(irq, struct gprof_work, irq));
}

/**
 * gprof_work_init() - have something done for the calling user
 * @e: work item, zeroed but for @e->urgent
 * @run: see struct gprof_work; called in task context without locks, by one
 *	thread, with no mapping of the user's and all privileges
 * @privileged: the user records the whole host, and may spend more
 *
 * Context: Task; the first of a cgroup waits for a grace period.
 * Return: 0 or a negative errno; -EAGAIN: see gprof_call().
 */
int gprof_work_init(struct gprof_work *e, u64 (*run)(struct gprof_work *e, bool awaited),
		    bool privileged)
{
	struct gprof_worker *s;
	bool first;
	int err = 0;

	s = engage(privileged ? 0 : gprof_cgroup_of_current(), &first);
	if (IS_ERR(s))
		return PTR_ERR(s);
	e->run = run;
	e->worker = s;
	gprof_irq_work_init_hard(&e->irq, called);
	e->due = U64_MAX;
	raw_spin_lock(&s->lock);
	list_add_tail(&e->node, &s->works);
	raw_spin_unlock(&s->lock);
	if (first && !privileged)
		err = join_cgroups(s);
	if (err)
		gprof_work_destroy(e);
	return err;
}

static bool is_under_way(const struct gprof_work *e)
{
	lockdep_assert_held(&e->worker->lock);
	return e->worker->running == e || e->worker->between == e;
}

/* Takes it out of the list, unless it is being run. */
static bool take_off_list(struct gprof_work *e)
{
	struct gprof_worker *s = e->worker;
	bool out;

	raw_spin_lock(&s->lock);
	out = !is_under_way(e);
	if (out)
		list_del(&e->node);
	raw_spin_unlock(&s->lock);
	return out;
}

/**
 * gprof_work_destroy() - no longer; the last one sends the thread away
 * @e: work item that nobody calls any more
 *
 * Context: Task; waits for the owner's thread, which may be kept from running.
 */
void gprof_work_destroy(struct gprof_work *e)
{
	struct gprof_worker *s = e->worker;
	bool last;

	irq_work_sync(&e->irq);
	swait_event_exclusive(s->ran, take_off_list(e));
	raw_spin_lock(&workers_lock);
	last = !--s->recorders;
	if (last)
		list_del(&s->node);
	raw_spin_unlock(&workers_lock);
	if (last)
		dismiss(s);
}

/**
 * gprof_work_call() - have it run soon
 * @e: work item
 *
 * Context: Any but NMI.
 */
void gprof_work_call(struct gprof_work *e)
{
	/* A full barrier; pairs with xchg() in run_work(). */
	if (xchg(&e->called, 1))
		return;
	if (e->urgent)
		atomic_set(&e->worker->has_urgent, 1);
	wake(e->worker);
}

/**
 * gprof_work_raise() - have it run soon
 * @e: work item
 *
 * Context: Any incl. NMI.
 */
void gprof_work_raise(struct gprof_work *e)
{
	irq_work_queue(&e->irq);
}

/**
 * gprof_work_give_way() - let urgent ones of the user run now
 * @e: work item that is running, and not urgent
 *
 * Context: As for @e.
 */
void gprof_work_give_way(struct gprof_work *e)
{
	struct gprof_worker *s = e->worker;
	struct gprof_work *urgent;

	if (likely(!atomic_read(&s->has_urgent)) || !atomic_xchg(&s->has_urgent, 0))
		return;
	raw_spin_lock(&s->lock);
	while ((urgent = next_urgent(s)))
		run_work(s, urgent, &s->between);
	raw_spin_unlock(&s->lock);
}

static bool is_answered(struct gprof_work *e, u64 asked)
{
	struct gprof_worker *s = e->worker;
	bool answered;

	raw_spin_lock(&s->lock);
	answered = e->answered >= asked;
	raw_spin_unlock(&s->lock);
	return answered;
}

/* Has it run since it was called last, and has nothing to do later? */
static bool is_idle(const struct gprof_work *e)
{
	lockdep_assert_held(&e->worker->lock);
	return !READ_ONCE(e->called) && e->due == U64_MAX && !is_under_way(e);
}

/* Has it run; returns whether it did from beginning to end, or had nothing to do. */
static bool await(struct gprof_work *e, u64 ns)
{
	u64 until = ktime_get_mono_fast_ns() + ns;
	struct gprof_worker *s = e->worker;
	bool idle;
	u64 asked;

	irq_work_sync(&e->irq);
	raw_spin_lock(&s->lock);
	idle = is_idle(e);
	asked = e->asked += !idle;
	raw_spin_unlock(&s->lock);
	if (idle)
		return true;
	if (e->urgent)
		atomic_set(&s->has_urgent, 1);
	wake(s);
	return !gprof_swait(s->ran, is_answered(e, asked), TASK_UNINTERRUPTIBLE, until);
}

/**
 * gprof_work_finish() - have it run now, and wait; where there is nothing to do, return
 * @e: work item
 * @ns: for so long; then it is cut, and given a quarter of a second to end
 *
 * Context: Task.
 * Return: whether it has run since it was called last, and was not cut. Else gprof_work_resume()
 * has to be called before it is to run again.
 */
bool gprof_work_finish(struct gprof_work *e, u64 ns)
{
	if (await(e, ns))
		return true;
	WRITE_ONCE(e->cut, true);
	await(e, CUT_NS);
	return false;
}

/**
 * gprof_work_resume() - go on after gprof_work_finish()
 * @e: work item, or zeroed
 *
 * Context: Task; waits for the owner's thread, for a quarter of a second at most.
 * Return: whether nothing is under way any more, and it may be called.
 */
bool gprof_work_resume(struct gprof_work *e)
{
	if (READ_ONCE(e->cut) && !await(e, CUT_NS))
		return false;
	WRITE_ONCE(e->cut, false);
	return true;
}

/**
 * gprof_work_due() - when may the work item go on?
 * @e: work item that is running
 *
 * Return: a time of ktime_get_mono_fast_ns(); it has passed unless the user has
 *	spent too much.
 */
u64 gprof_work_due(const struct gprof_work *e)
{
	return gprof_cpu_budget_due(&e->worker->spent);
}

/**
 * gprof_work_begin() - from here on work is done that costs
 * @e: work item that is running
 */
void gprof_work_begin(struct gprof_work *e)
{
	struct gprof_worker *s = e->worker;

	s->began = ktime_get_mono_fast_ns();
	s->began_run = own_run();
}

/*
 * The scheduler's account is as old as the last tick, time also runs while others do:
 * the smaller of both.
 */
static u64 cost_until(const struct gprof_worker *s, u64 now)
{
	return min(now - s->began, own_run() - s->began_run + TICK_NSEC);
}

/**
 * gprof_work_overspent() - has this piece of work cost all that can be saved for it?
 * @e: work item that is running, after gprof_work_begin()
 *
 * How long a piece of work takes is up to the process it is about. Time spent beyond the
 * savings is a debt, which binds only the next piece: so each has to end by itself.
 */
bool gprof_work_overspent(const struct gprof_work *e)
{
	const struct gprof_worker *s = e->worker;

	return cost_until(s, ktime_get_mono_fast_ns()) * s->share > GPROF_CPU_BUDGET_SAVED_NS;
}

/**
 * gprof_work_end() - up to here
 * @e: work item that is running
 *
 * Return: how much it was, ns of CPU time.
 */
u64 gprof_work_end(struct gprof_work *e)
{
	struct gprof_worker *s = e->worker;

	settle(s);
	return cost_until(s, ktime_get_mono_fast_ns());
}
