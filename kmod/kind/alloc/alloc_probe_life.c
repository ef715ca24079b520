// SPDX-License-Identifier: GPL-2.0-only
/*
 * alloc_probe_life: probes of functions of allocators are made, set, ended and freed.
 *
 * To set and to end probes can take as long as any process likes that has mapped the files
 * (user_probe.c). So a work does it, which has a reference of its own. START waits for that until a
 * signal comes, and STOP for a second. @allocs is cut off then, which handlers read under
 * SRCU: the work does the rest without the recorder.
 */
#include "allocs.h"
#include "alloc_probe.h"
#include "alloc_probe_parts.h"
#include "target/target.h"
#include "task/pid.h"
#include "user/memlock.h"

#include <linux/gprof.h>
#include <linux/mutex.h>
#include <linux/overflow.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>

#define PATIENCE_NS	NSEC_PER_SEC	/* of STOP with each step */
#define TRIED_NS	(20 * NSEC_PER_MSEC)	/* that START waits for a lock */

DEFINE_SRCU(gprof_probes_srcu);

static struct workqueue_struct *probes_queue;	/* made by the first, for exit to drain */
static DEFINE_MUTEX(probes_queue_lock);		/* protects its making */

/**
 * gprof_alloc_probes_exist() - can functions of allocators be probed?
 *
 * Without memory cgroups an address space does not know whose it is, without MMU notifiers
 * nobody when it ends.
 */
bool gprof_alloc_probes_exist(void)
{
	return gprof_user_probes_exist() && IS_ENABLED(CONFIG_MEMCG) &&
	       IS_ENABLED(CONFIG_MMU_NOTIFIER) && gprof_tp_exists(GPROF_TP_EXIT);
}

/**
 * gprof_alloc_probes_bytes() - memory that they take, for the charge
 * @nr: how many functions
 */
u64 gprof_alloc_probes_bytes(u32 nr)
{
	struct gprof_alloc_probes *p;

	return gprof_memory_of(struct_size(p, functions, nr)) +
	       gprof_memory_of(sizeof(struct gprof_alloc_call) << GPROF_CALLS_BITS);
}

/*
 * While the kernel waits for the lock of a process nobody forks: waits that can come before do so,
 * and keep nobody from anything.
 */
static void waits(void *data, struct mm_struct *mm, u32 pid)
{
	struct gprof_alloc_probes *p = data;

	spin_lock(&p->lock);
	if (mm)
		WRITE_ONCE(p->pid, pid);
	p->waited_for = mm;
	p->holder = 0;
	p->since = ktime_get_mono_fast_ns();
	spin_unlock(&p->lock);
}

static int await_unlocked(struct gprof_alloc_probes *p, const struct gprof_user_probe *probe)
{
	WRITE_ONCE(p->step, ktime_get_mono_fast_ns());
	return gprof_user_probe_await(probe, waits, p);
}

/* One of each file: mostly there is one alone. */
static void hold(struct gprof_alloc_probes *p)
{
	unsigned int i, j;

	for (i = 0; i < p->nr; i++) {
		struct gprof_user_probe *probe = &p->functions[i].probe;

		for (j = 0; j < i; j++) {
			if (p->functions[j].probe.is_held &&
			    p->functions[j].probe.inode == probe->inode)
				break;
		}
		if (j < i || !probe->is_set)
			continue;
		await_unlocked(p, probe);
		gprof_user_probe_hold(probe);
	}
}

static void unset(struct gprof_alloc_probes *p)
{
	unsigned int i;

	hold(p);
	for (i = 0; i < p->nr; i++) {
		if (p->functions[i].probe.is_set)
			await_unlocked(p, &p->functions[i].probe);
		gprof_user_probe_unset(&p->functions[i].probe);
	}
	WRITE_ONCE(p->step, ktime_get_mono_fast_ns());
	gprof_user_probes_pass();
	for (i = 0; i < p->nr; i++) {
		if (p->functions[i].probe.is_held)
			await_unlocked(p, &p->functions[i].probe);
		gprof_user_probe_put(&p->functions[i].probe);
	}
	WRITE_ONCE(p->step, ktime_get_mono_fast_ns());
	gprof_user_probes_settle();
	gprof_tp_unsubscribe_all(&p->exit, 1);
}

/* Ends first, or an allocation could be freed unseen. */
static struct gprof_alloc_fn *function_at(struct gprof_alloc_probes *p, unsigned int i)
{
	struct gprof_alloc_fn *f = &p->functions[i % p->nr];
	bool frees = f->role == GPROF_ALLOC_FN_FREE, ends = i < p->nr;

	return frees != ends || (frees && !p->frees) ? NULL : f;
}

static int set(struct gprof_alloc_probes *p)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < 2 * p->nr && !err; i++) {
		struct gprof_alloc_fn *f = function_at(p, i);

		if (!READ_ONCE(p->wanted))
			return -EINTR;
		if (f)
			err = await_unlocked(p, &f->probe);
		if (f && !err && READ_ONCE(p->wanted))
			err = gprof_user_probe_set(&f->probe);
	}
	return err;
}

static void put(struct gprof_alloc_probes *p)
{
	if (!refcount_dec_and_test(&p->refs))
		return;
	while (p->nr)
		gprof_user_probe_close(&p->functions[--p->nr].probe);
	kvfree(p->calls);
	kvfree(p);
}

/* Is that so? Otherwise the probes that were set are to be ended. */
static bool is_done(struct gprof_alloc_probes *p, bool set)
{
	bool done;

	spin_lock(&p->lock);
	done = set == p->wanted;
	if (done)
		p->busy = false;
	spin_unlock(&p->lock);
	return done;
}

/* A START that has failed need not wait until the probes that were set are ended. */
static void decide(struct gprof_alloc_probes *p, int err)
{
	spin_lock(&p->lock);
	p->err = err;
	if (err)
		p->wanted = false;
	spin_unlock(&p->lock);
	wake_up_all(&p->changed);
}

static void change(struct work_struct *work)
{
	struct gprof_alloc_probes *p = container_of(work, struct gprof_alloc_probes, work);
	int err = READ_ONCE(p->wanted) ? set(p) : 0;

	decide(p, err);
	if (!is_done(p, true)) {
		unset(p);
		is_done(p, false);
	}
	wake_up_all(&p->changed);
	put(p);
}

static bool is_busy(struct gprof_alloc_probes *p)
{
	bool busy;

	spin_lock(&p->lock);
	busy = p->busy;
	spin_unlock(&p->lock);
	return busy;
}

static bool is_decided(struct gprof_alloc_probes *p)
{
	bool decided;

	spin_lock(&p->lock);
	decided = !p->busy || !p->wanted;
	spin_unlock(&p->lock);
	return decided;
}

/* Has that done by the work, which is not under way. */
static void queue_set(struct gprof_alloc_probes *p, bool set)
{
	spin_lock(&p->lock);
	p->wanted = set;
	p->busy = true;
	WRITE_ONCE(p->step, ktime_get_mono_fast_ns());
	spin_unlock(&p->lock);
	refcount_inc(&p->refs);
	queue_work(probes_queue, &p->work);
}

/* Returns false when it was not needed: the work is done. */
static bool give_up(struct gprof_alloc_probes *p)
{
	bool busy;

	spin_lock(&p->lock);
	busy = p->busy;
	if (busy)
		p->wanted = false;
	spin_unlock(&p->lock);
	return busy;
}

/* No handler sees it afterwards. */
static void cut_off(struct gprof_alloc_probes *p)
{
	WRITE_ONCE(p->allocs, NULL);
	synchronize_srcu_expedited(&gprof_probes_srcu);
}

/* ---- for the recorder ---- */

static bool make_queue(void)
{
	mutex_lock(&probes_queue_lock);
	if (!probes_queue)
		probes_queue = alloc_workqueue("gprof_probes", WQ_UNBOUND, 0);
	mutex_unlock(&probes_queue_lock);
	return probes_queue;
}

/**
 * gprof_alloc_probes_exit() - wait until all are ended
 *
 * Context: Task; no recorder exists any more.
 */
void gprof_alloc_probes_exit(void)
{
	if (probes_queue)
		destroy_workqueue(probes_queue);
}

static int add(struct gprof_alloc_probes *p, const struct gprof_alloc_function *row,
	       struct mm_struct *mm, u32 *reason)
{
	struct gprof_alloc_fn *f = &p->functions[p->nr];
	int err;

	*reason = GPROF_REASON_PARAMS;
	if (!row->role || row->role > GPROF_ALLOC_FN_LAST)
		return -EINVAL;
	*f = (struct gprof_alloc_fn){
		.probe.ops = &gprof_alloc_probe_ops,
		.probe.returns = row->role != GPROF_ALLOC_FN_FREE,
		.role = row->role,
		.all = p,
	};
	*reason = GPROF_REASON_FILE;
	err = gprof_user_probe_open(&f->probe, row->fd, row->offset);
	if (err)
		return err;
	p->nr++;
	return gprof_user_probe_is_code(&f->probe, mm) ? 0 : -EINVAL;
}

static int add_all(struct gprof_alloc_probes *p, const struct gprof_alloc_params *params,
		   const struct gprof_target *target, u32 *reason)
{
	const struct gprof_alloc_function __user *rows = u64_to_user_ptr(params->functions);
	struct mm_struct *mm;
	unsigned int i;
	int err = 0;

	*reason = GPROF_REASON_TASK_GONE;
	mm = get_task_mm(target->task);
	if (!mm)
		return -ESRCH;
	for (i = 0; i < params->nr_functions && !err; i++) {
		struct gprof_alloc_function row;

		*reason = GPROF_REASON_PARAMS;
		err = copy_from_user(&row, &rows[i], sizeof(row)) ? -EFAULT :
		      add(p, &row, mm, reason);
	}
	mmput(mm);
	return err;
}

/**
 * gprof_alloc_probes_new() - prepare to probe
 * @probes: gets them
 * @params: the functions, at most GPROF_ALLOC_FUNCTIONS_MAX
 * @target: whose; tasks
 * @reason: GPROF_REASON_* on error
 *
 * Context: Task, in the process that asks.
 * Return: 0 or a negative errno.
 */
int gprof_alloc_probes_new(struct gprof_alloc_probes **probes,
			   const struct gprof_alloc_params *params,
			   const struct gprof_target *target, u32 *reason)
{
	struct gprof_alloc_probes *p;
	int err;

	*reason = GPROF_REASON_NONE;
	p = kvzalloc(struct_size(p, functions, params->nr_functions), GFP_KERNEL_ACCOUNT);
	if (!p)
		return -ENOMEM;
	refcount_set(&p->refs, 1);
	INIT_WORK(&p->work, change);
	init_waitqueue_head(&p->changed);
	spin_lock_init(&p->lock);
	p->exit = (struct gprof_tp_sub){
		.tp = GPROF_TP_EXIT,
		.on_task = gprof_alloc_task_ends,
		.data = p,
	};
	p->calls = kvcalloc(1 << GPROF_CALLS_BITS, sizeof(*p->calls), GFP_KERNEL_ACCOUNT);
	err = p->calls && make_queue() ? add_all(p, params, target, reason) : -ENOMEM;
	if (err) {
		gprof_alloc_probes_free(p);
		return err;
	}
	*reason = GPROF_REASON_NONE;
	*probes = p;
	return 0;
}

/**
 * gprof_alloc_probes_free() - free; stopped before
 * @p: probes or NULL
 *
 * Context: Task.
 */
void gprof_alloc_probes_free(struct gprof_alloc_probes *p)
{
	if (p)
		put(p);
}

static bool is_stuck(const struct gprof_alloc_probes *p)
{
	return ktime_get_mono_fast_ns() - READ_ONCE(p->step) > PATIENCE_NS;
}

/* Waits for the probes that the last STOP has left to the work. */
static int await_end(struct gprof_alloc_probes *p, struct task_struct *caller)
{
	long left;

	do {
		left = wait_event_interruptible_timeout(p->changed, !is_busy(p), HZ / 20);
	} while (!left && !is_stuck(p) && !signal_pending(caller));
	return left > 0 ? 0 : signal_pending(caller) ? -EINTR : -EBUSY;
}

/* Does one holder sit on the lock? Threads that take it in turn let the work have it soon. */
static bool waits_long(struct gprof_alloc_probes *p)
{
	u64 now = ktime_get_mono_fast_ns();
	unsigned long holder;
	bool long_so = false;

	spin_lock(&p->lock);
	if (p->waited_for) {
		holder = gprof_user_mm_holder(p->waited_for);
		if (holder != p->holder)
			p->since = now;
		p->holder = holder;
		long_so = now - p->since > TRIED_NS;
	}
	spin_unlock(&p->lock);
	return long_so;
}

/* Returns 0, -EINTR, -EBUSY, or why they could not be set. */
static int await_set(struct gprof_alloc_probes *p, struct task_struct *caller)
{
	long left;

	do {
		left = wait_event_interruptible_timeout(p->changed, is_decided(p), 1 + HZ / 200);
	} while (!left && !waits_long(p) && !is_stuck(p) && !signal_pending(caller));
	if (left <= 0 && give_up(p))
		return signal_pending(caller) ? -EINTR : -EBUSY;
	return p->err;
}

/**
 * gprof_alloc_probes_start() - probe from now on
 * @p: probes; the processes of the target are known
 * @a: their allocations
 * @pid: gets a process, on -EBUSY
 *
 * Context: Task, without mmap_lock. Asks of each process that has mapped the files.
 * Return: 0 or a negative errno; nothing is recorded then. -EBUSY: @pid keeps its address space
 * locked; -EINTR: the probes that were set are being ended.
 */
int gprof_alloc_probes_start(struct gprof_alloc_probes *p, struct gprof_allocs *a, u32 *pid)
{
	struct task_struct *caller = a->whose.target->caller;
	int err;

	err = await_end(p, caller);
	if (err)
		goto out;
	memset(p->calls, 0, sizeof(*p->calls) << GPROF_CALLS_BITS);
	err = gprof_tp_subscribe_all(&p->exit, 1);
	if (err)
		return err;
	p->frees = a->objects;
	WRITE_ONCE(p->allocs, a);
	queue_set(p, true);
	err = await_set(p, caller);
	if (err)
		cut_off(p);
out:
	if (err == -EBUSY)
		*pid = gprof_pid_in(task_active_pid_ns(caller), READ_ONCE(p->pid));
	return err;
}

/**
 * gprof_alloc_probes_stop() - end it; none is in a call when this returns
 * @p: probes that were started
 *
 * They themselves may be ended a while later.
 *
 * Context: Task, without mmap_lock; sleeps.
 */
void gprof_alloc_probes_stop(struct gprof_alloc_probes *p)
{
	queue_set(p, false);
	/* Meanwhile tasks that have ended amid a call are counted. */
	while (!wait_event_timeout(p->changed, !is_busy(p), HZ / 20) && !is_stuck(p))
		;
	cut_off(p);
}
