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

static struct gprof_work *next_urgent(struct gprof_worker *worker)
{
	struct gprof_work *work;

	list_for_each_entry(work, &worker->works, node) {
		if (work->urgent && (READ_ONCE(work->called) || work->asked != work->answered))
			return work;
	}
	return NULL;
}

/* The next work item to run, or NULL and when to look again. */
static struct gprof_work *next_work(struct gprof_worker *worker, u64 now, u64 *due)
{
	u64 solvent = gprof_cpu_budget_due(&worker->spent);
	struct gprof_work *work = next_urgent(worker);

	*due = U64_MAX;
	if (work)
		return work;
	list_for_each_entry(work, &worker->works, node) {
		u64 at = READ_ONCE(work->called) ? 0 : work->due;

		/* A waiter gets an answer, if only that nothing can be done. */
		if (work->asked != work->answered)
			return work;
		at = max(at, solvent);
		if (at <= now)
			return work;
		*due = min(*due, at);
	}
	return NULL;
}

/* Runs one, under the lock but for that. @slot: where it stands meanwhile. */
static void run_work(struct gprof_worker *worker, struct gprof_work *work, struct gprof_work **slot)
{
	u64 asked = work->asked, due;

	*slot = work;
	list_move_tail(&work->node, &worker->works);
	raw_spin_unlock(&worker->lock);
	/* Called from here on is run again: pairs with xchg() in gprof_work_call(). */
	xchg(&work->called, 0);
	due = work->run(work, asked != work->answered);
	cond_resched();
	raw_spin_lock(&worker->lock);
	work->due = due;
	work->answered = asked;
	*slot = NULL;
	raw_spin_unlock(&worker->lock);
	swake_up_all(&worker->ran);
	raw_spin_lock(&worker->lock);
}

/* Runs all that is due; returns when the next will be. */
static u64 run_works(struct gprof_worker *worker)
{
	struct gprof_work *work;
	u64 due;

	raw_spin_lock(&worker->lock);
	while ((work = next_work(worker, ktime_get_mono_fast_ns(), &due)))
		run_work(worker, work, &worker->running);
	raw_spin_unlock(&worker->lock);
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
static void settle(struct gprof_worker *worker)
{
	u64 run = own_run();

	gprof_cpu_budget_spend(&worker->spent, ktime_get_mono_fast_ns(), run - worker->accounted,
			       worker->share);
	worker->accounted = run;
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
	struct gprof_worker *worker = data;
	u64 due = U64_MAX;

	gprof_pay_for(worker->memcg);
	for (;;) {
		/* Asleep, as far as a waker can see, before @called is looked at. */
		set_current_state(TASK_IDLE);
		if (kthread_should_stop())
			break;
		if (!atomic_read(&worker->called))
			rest_until(due);
		__set_current_state(TASK_RUNNING);
		/* A full barrier; pairs with atomic_xchg() in wake(). */
		atomic_xchg(&worker->called, 0);
		settle(worker);
		due = run_works(worker);
	}
	__set_current_state(TASK_RUNNING);
	gprof_pay_for(NULL);
	return 0;
}

/* Raw locks only: also from a hard interrupt of PREEMPT_RT. */
static void wake(struct gprof_worker *worker)
{
	/* Pairs with atomic_xchg() in serve(): a thread that reads 1 sees the request. */
	if (!atomic_xchg(&worker->called, 1))
		wake_up_process(worker->thread);
}

static int nice_of_current(void)
{
	if (current->policy == SCHED_IDLE)
		return MAX_NICE;
	return max(task_nice(current), 0);
}

/* Its thread has ended. */
static void free_worker(struct gprof_worker *worker)
{
	gprof_uncharge(&worker->charge);
	put_cred(worker->cred);
	mem_cgroup_put(worker->memcg);
	kfree(worker);
}

static void dismiss(struct gprof_worker *worker)
{
	kthread_stop(worker->thread);
	free_worker(worker);
}

/* Not in @workers yet; its thread sleeps. */
static struct gprof_worker *worker_get(u64 cgroup)
{
	struct gprof_worker *worker = kzalloc(sizeof(*worker), GFP_KERNEL_ACCOUNT);
	int err;

	if (!worker)
		return ERR_PTR(-ENOMEM);
	worker->cred = get_current_cred();
	err = gprof_charge(&worker->charge, THREAD_BYTES, !cgroup);
	if (err)
		goto err_free;
	raw_spin_lock_init(&worker->lock);
	INIT_LIST_HEAD(&worker->works);
	init_swait_queue_head(&worker->ran);
	worker->nice = MAX_NICE;
	worker->cgroup = cgroup;
	worker->share = cgroup ? SHARE : SHARE_PRIVILEGED;
	if (cgroup)
		worker->memcg = get_mem_cgroup_from_mm(current->mm);
	worker->thread = kthread_create(serve, worker, "gprof/%u",
					from_kuid_munged(&init_user_ns, current_uid()));
	if (IS_ERR(worker->thread)) {
		err = PTR_ERR(worker->thread);
		goto err_free;
	}
	set_user_nice(worker->thread, worker->nice);
	wake_up_process(worker->thread);
	return worker;

err_free:
	free_worker(worker);
	return ERR_PTR(err);
}

static struct gprof_worker *find_servant(u64 cgroup)
{
	struct gprof_worker *worker;

	lockdep_assert_held(&workers_lock);
	list_for_each_entry(worker, &workers, node) {
		if (worker->cred->user == current_user() && worker->cgroup == cgroup)
			return worker;
	}
	return NULL;
}

/* @spare: not NULL: becomes the one, unless there is one. Returns it, with one more work item. */
static struct gprof_worker *try_engage(u64 cgroup, struct gprof_worker *spare, int nice)
{
	struct gprof_worker *worker;

	raw_spin_lock(&workers_lock);
	worker = find_servant(cgroup);
	if (!worker && spare) {
		worker = spare;
		list_add(&worker->node, &workers);
	}
	if (worker) {
		worker->recorders++;
		if (nice < worker->nice) {
			worker->nice = nice;
			set_user_nice(worker->thread, nice);
		}
	}
	raw_spin_unlock(&workers_lock);
	return worker;
}

/* The user's for the cgroup, with one more work item; @first: it is new. */
static struct gprof_worker *engage(u64 cgroup, bool *first)
{
	int nice = nice_of_current();
	struct gprof_worker *worker = try_engage(cgroup, NULL, nice), *spare;

	*first = false;
	if (worker)
		return worker;
	spare = worker_get(cgroup);
	if (IS_ERR(spare))
		return spare;
	worker = try_engage(cgroup, spare, nice);
	*first = worker == spare;
	if (!*first)
		dismiss(spare);
	return worker;
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
static int join_cgroups(struct gprof_worker *worker)
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
	j->thread = get_task_struct(worker->thread);
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
 * @work: work item, zeroed but for @work->urgent
 * @run: see struct gprof_work; called in task context without locks, by one
 *	thread, with no mapping of the user's and all privileges
 * @privileged: the user records the whole host, and may spend more
 *
 * Context: Task; the first of a cgroup waits for a grace period.
 * Return: 0 or a negative errno; -EAGAIN: see gprof_call().
 */
int gprof_work_init(struct gprof_work *work, u64 (*run)(struct gprof_work *work, bool awaited),
		    bool privileged)
{
	struct gprof_worker *worker;
	bool first;
	int err = 0;

	worker = engage(privileged ? 0 : gprof_cgroup_of_current(), &first);
	if (IS_ERR(worker))
		return PTR_ERR(worker);
	work->run = run;
	work->worker = worker;
	gprof_irq_work_init_hard(&work->irq, called);
	work->due = U64_MAX;
	raw_spin_lock(&worker->lock);
	list_add_tail(&work->node, &worker->works);
	raw_spin_unlock(&worker->lock);
	if (first && !privileged)
		err = join_cgroups(worker);
	if (err)
		gprof_work_destroy(work);
	return err;
}

static bool is_under_way(const struct gprof_work *work)
{
	lockdep_assert_held(&work->worker->lock);
	return work->worker->running == work || work->worker->between == work;
}

/* Takes it out of the list, unless it is being run. */
static bool dequeue(struct gprof_work *work)
{
	struct gprof_worker *worker = work->worker;
	bool out;

	raw_spin_lock(&worker->lock);
	out = !is_under_way(work);
	if (out)
		list_del(&work->node);
	raw_spin_unlock(&worker->lock);
	return out;
}

/**
 * gprof_work_destroy() - no longer; the last one sends the thread away
 * @work: work item that nobody calls any more
 *
 * Context: Task; waits for the owner's thread, which may be kept from running.
 */
void gprof_work_destroy(struct gprof_work *work)
{
	struct gprof_worker *worker = work->worker;
	bool last;

	irq_work_sync(&work->irq);
	swait_event_exclusive(worker->ran, dequeue(work));
	raw_spin_lock(&workers_lock);
	last = !--worker->recorders;
	if (last)
		list_del(&worker->node);
	raw_spin_unlock(&workers_lock);
	if (last)
		dismiss(worker);
}

/**
 * gprof_work_call() - have it run soon
 * @work: work item
 *
 * Context: Any but NMI.
 */
void gprof_work_call(struct gprof_work *work)
{
	/* A full barrier; pairs with xchg() in run_work(). */
	if (xchg(&work->called, 1))
		return;
	if (work->urgent)
		atomic_set(&work->worker->has_urgent, 1);
	wake(work->worker);
}

/**
 * gprof_work_raise() - have it run soon
 * @work: work item
 *
 * Context: Any incl. NMI.
 */
void gprof_work_raise(struct gprof_work *work)
{
	irq_work_queue(&work->irq);
}

/**
 * gprof_work_yield() - let urgent ones of the user run now
 * @work: work item that is running, and not urgent
 *
 * Context: As for @work.
 */
void gprof_work_yield(struct gprof_work *work)
{
	struct gprof_worker *worker = work->worker;
	struct gprof_work *urgent;

	if (likely(!atomic_read(&worker->has_urgent)) || !atomic_xchg(&worker->has_urgent, 0))
		return;
	raw_spin_lock(&worker->lock);
	while ((urgent = next_urgent(worker)))
		run_work(worker, urgent, &worker->between);
	raw_spin_unlock(&worker->lock);
}

static bool is_answered(struct gprof_work *work, u64 asked)
{
	struct gprof_worker *worker = work->worker;
	bool answered;

	raw_spin_lock(&worker->lock);
	answered = work->answered >= asked;
	raw_spin_unlock(&worker->lock);
	return answered;
}

/* Has it run since it was called last, and has nothing to do later? */
static bool is_idle(const struct gprof_work *work)
{
	lockdep_assert_held(&work->worker->lock);
	return !READ_ONCE(work->called) && work->due == U64_MAX && !is_under_way(work);
}

/* Has it run; returns whether it did from beginning to end, or had nothing to do. */
static bool await(struct gprof_work *work, u64 ns)
{
	u64 until = ktime_get_mono_fast_ns() + ns;
	struct gprof_worker *worker = work->worker;
	bool idle;
	u64 asked;

	irq_work_sync(&work->irq);
	raw_spin_lock(&worker->lock);
	idle = is_idle(work);
	asked = work->asked += !idle;
	raw_spin_unlock(&worker->lock);
	if (idle)
		return true;
	if (work->urgent)
		atomic_set(&worker->has_urgent, 1);
	wake(worker);
	return !gprof_swait(worker->ran, is_answered(work, asked), TASK_UNINTERRUPTIBLE, until);
}

/**
 * gprof_work_finish() - have it run now, and wait; where there is nothing to do, return
 * @work: work item
 * @ns: for so long; then it is cut, and given a quarter of a second to end
 *
 * Context: Task.
 * Return: whether it has run since it was called last, and was not cut. Else gprof_work_resume()
 * has to be called before it is to run again.
 */
bool gprof_work_finish(struct gprof_work *work, u64 ns)
{
	if (await(work, ns))
		return true;
	WRITE_ONCE(work->cut, true);
	await(work, CUT_NS);
	return false;
}

/**
 * gprof_work_resume() - go on after gprof_work_finish()
 * @work: work item, or zeroed
 *
 * Context: Task; waits for the owner's thread, for a quarter of a second at most.
 * Return: whether nothing is under way any more, and it may be called.
 */
bool gprof_work_resume(struct gprof_work *work)
{
	if (READ_ONCE(work->cut) && !await(work, CUT_NS))
		return false;
	WRITE_ONCE(work->cut, false);
	return true;
}

/**
 * gprof_work_due() - when may the work item go on?
 * @work: work item that is running
 *
 * Return: a time of ktime_get_mono_fast_ns(); it has passed unless the user has
 *	spent too much.
 */
u64 gprof_work_due(const struct gprof_work *work)
{
	return gprof_cpu_budget_due(&work->worker->spent);
}

/**
 * gprof_work_begin() - from here on work is done that costs
 * @work: work item that is running
 */
void gprof_work_begin(struct gprof_work *work)
{
	struct gprof_worker *worker = work->worker;

	worker->began = ktime_get_mono_fast_ns();
	worker->began_run = own_run();
}

/*
 * The scheduler's account is as old as the last tick, time also runs while others do:
 * the smaller of both.
 */
static u64 cost_until(const struct gprof_worker *worker, u64 now)
{
	return min(now - worker->began, own_run() - worker->began_run + TICK_NSEC);
}

/**
 * gprof_work_overspent() - has this piece of work cost all that can be saved for it?
 * @work: work item that is running, after gprof_work_begin()
 *
 * How long a piece of work takes is up to the process it is about. Time spent beyond the
 * savings is a debt, which binds only the next piece: so each has to end by itself.
 */
bool gprof_work_overspent(const struct gprof_work *work)
{
	const struct gprof_worker *worker = work->worker;

	return cost_until(worker, ktime_get_mono_fast_ns()) * worker->share >
	       GPROF_CPU_BUDGET_SAVED_NS;
}

/**
 * gprof_work_end() - up to here
 * @work: work item that is running
 *
 * Return: how much it was, ns of CPU time.
 */
u64 gprof_work_end(struct gprof_work *work)
{
	struct gprof_worker *worker = work->worker;

	settle(worker);
	return cost_until(worker, ktime_get_mono_fast_ns());
}
