// SPDX-License-Identifier: GPL-2.0-only
/*
 * klock_wait: waits for locks of the kernel, which tells of them itself, by two tracepoints
 * that have been there since 5.19.
 *
 * The waiter is current all the time, in any context: it may be interrupted while it
 * spins, and have to wait for another lock in the interrupt; and one wait may be within
 * another, as those of a percpu_rw_semaphore are. So a note is found by the task, the
 * context and the lock together. All that is done to it is done in that context, one after
 * the other.
 *
 * A mutex tells of two begins where it spins first and then sleeps: it is the first that
 * counts. Therefore those that are not sampled have notes too.
 */
#include "clock/clock.h"
#include "compat/preempt.h"
#include "sample/sampler.h"
#include "task/pid.h"
#include "waits.h"

#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/gprof.h>
#include <linux/irqflags.h>
#include <linux/mutex.h>
#include <linux/perf_event.h>
#include <linux/rtmutex.h>
#include <linux/rwsem.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/timekeeping.h>

/* As in include/trace/events/lock.h, which older kernels do not have. */
#define LCB_F_SPIN	BIT(0)
#define LCB_F_READ	BIT(1)
#define LCB_F_WRITE	BIT(2)
#define LCB_F_RT	BIT(3)
#define LCB_F_PERCPU	BIT(4)
#define LCB_F_MUTEX	BIT(5)

static u32 kind_of(unsigned int flags)
{
	if (flags & LCB_F_MUTEX)
		return GPROF_WAIT_LOCK_MUTEX;
	if (flags & LCB_F_PERCPU)
		return GPROF_WAIT_LOCK_PERCPU;
	if (flags & (LCB_F_READ | LCB_F_WRITE))
		return flags & (LCB_F_SPIN | LCB_F_RT) ? GPROF_WAIT_LOCK_RWLOCK :
							 GPROF_WAIT_LOCK_RWSEM;
	if (flags & LCB_F_RT)
		return GPROF_WAIT_LOCK_RT;
	/* A semaphore has no flag of its own. */
	return flags & LCB_F_SPIN ? GPROF_WAIT_LOCK_SPIN : GPROF_WAIT_LOCK_SEMAPHORE;
}

/*
 * In place of a task's address. Of one lock each task and context has another; whether
 * one is of this lock is for its @addr to say. The lowest bit is GPROF_WAIT_BUSY's.
 */
static const struct task_struct *key_of(const void *lock)
{
	u64 level = in_hardirq() ? 2 : in_serving_softirq() ? 1 : 0;
	u64 mixed = (u64)lock * GOLDEN_RATIO_64 & ~0x3fULL;

	return (const struct task_struct *)(((u64)current | level << 1) ^ mixed);
}

#define OWNER_FLAGS	7UL	/* of the lock's, below the address of a task */
#define OWNED_BY_READERS 1UL	/* of an rwsem's: the task may be any that read once */

static unsigned long owner_word(const void *lock, unsigned int flags)
{
#ifndef CONFIG_PREEMPT_RT
	if (flags & LCB_F_MUTEX)
		return atomic_long_read(&((struct mutex *)lock)->owner);
	if (kind_of(flags) == GPROF_WAIT_LOCK_RWSEM) {
		unsigned long word = atomic_long_read(&((struct rw_semaphore *)lock)->owner);

		return word & OWNED_BY_READERS ? 0 : word;
	}
#endif
#ifdef GPROF_HAVE_RT_MUTEX_BASE
	if (kind_of(flags) == GPROF_WAIT_LOCK_RT)
		return (unsigned long)READ_ONCE(((struct rt_mutex_base *)lock)->owner);
#endif
	return 0;
}

/*
 * The owner of the lock that current is about to wait for, which so is there itself. It may
 * release it and end, but is not freed meanwhile: with preemption off this reads RCU.
 */
static void find_owner(const struct gprof_waits *w, const void *lock, unsigned int flags,
		       struct gprof_lock_owner *o)
{
	const struct task_struct *task;

	task = (const struct task_struct *)(owner_word(lock, flags) & ~OWNER_FLAGS);
	memset(o, 0, sizeof(*o));
	if (!task)
		return;
	BUILD_BUG_ON(sizeof(o->comm) != TASK_COMM_LEN);
	o->tid = gprof_pid_in(w->sampler->pid_ns, task->pid);
	if (!o->tid)
		return;
	/* No lock here: a name that is just being changed may be mixed. */
	memcpy(o->comm, task->comm, sizeof(o->comm) - 1);
}

static void lock_begins(struct gprof_waits *w, void *lock, unsigned int flags)
{
	const struct task_struct *key = key_of(lock);
	struct gprof_lock_owner owner;
	struct gprof_wait_cpu *c = this_cpu_ptr(w->cpus);
	struct gprof_wait wait = { .addr = (u64)lock };
	int at = gprof_wait_at(w, key);

	if (at >= 0 && READ_ONCE(w->waits[at].addr) == (u64)lock)
		return;
	local64_inc(&c->count);
	wait.unsampled = w->subsampled && !gprof_subsample_takes(&c->subsample, &w->subsampling, 1);
	if (!wait.unsampled) {
		wait.since = gprof_clock_ns();
		wait.what = GPROF_WAIT_FOR_LOCK | kind_of(flags) << GPROF_WAIT_LOCK_SHIFT;
	}
	if (w->owners)
		find_owner(w, lock, flags, &owner);
	if (at < 0 && gprof_wait_table_add(w, key, &wait, w->owners ? &owner : NULL))
		return;
	if (!wait.unsampled)
		gprof_wait_lose(w);
}

/* Current begins to wait for a lock, in any context. A waiter in an NMI is not told. */
static notrace void on_begin(void *data, void *lock, unsigned int flags)
{
	struct gprof_waits *w = data;
	unsigned long irqs;

	if (in_nmi() || READ_ONCE(w->phase) < GPROF_WAITS_BEGIN || !gprof_waits_have(w, current))
		return;
	local_irq_save(irqs);
	lock_begins(w, lock, flags);
	local_irq_restore(irqs);
}

static noinline void lock_ends(struct gprof_waits *w, unsigned int at,
			       const struct task_struct *key, void *lock)
{
	struct gprof_wait_cpu *c = this_cpu_ptr(w->cpus);
	struct gprof_lock_owner owner;
	struct gprof_wait_end e;
	struct gprof_wait wait;

	/* Before the place is given up. */
	if (w->owners)
		owner = w->owners[at];
	if (READ_ONCE(w->waits[at].addr) != (u64)lock || !gprof_wait_claim(w, at, key, &wait) ||
	    wait.unsampled)
		return;
	/* Pairs with smp_store_release() in gprof_waits_last(). */
	if (smp_load_acquire(&w->phase) == GPROF_WAITS_OVER)
		return;
	gprof_wait_end(w, &wait, gprof_clock_ns(), &e);
	if (w->owners)
		e.owner = &owner;
	perf_fetch_caller_regs(&c->regs);
	gprof_arch_caller_regs(&c->regs);
	gprof_wait_report(w, &e, current, &c->regs, 0);
}

/* It has the lock, or has given up. */
static notrace void on_end(void *data, void *lock, unsigned int err)
{
	const struct task_struct *key;
	struct gprof_waits *w = data;
	unsigned long irqs;
	int at;

	if (in_nmi())
		return;
	local_irq_save(irqs);
	key = key_of(lock);
	at = gprof_wait_at(w, key);
	if (at >= 0)
		lock_ends(w, at, key, lock);
	local_irq_restore(irqs);
}

/**
 * gprof_wait_set_klock_subs() - set the tracepoints that tell of such waits
 * @w: waits, in_kernel
 *
 * Context: Task.
 * Return: how many of w->subs.
 */
unsigned int gprof_wait_set_klock_subs(struct gprof_waits *w)
{
	unsigned int i;

	for (i = 0; i < 2; i++) {
		/* Its @left and @has_left stay. */
		w->subs[i].tp = i ? GPROF_TP_LOCK_END : GPROF_TP_LOCK_BEGIN;
		w->subs[i].on_lock = i ? on_end : on_begin;
		w->subs[i].data = w;
		w->subs[i].tracked_only = w->whose.tgids;
	}
	return i;
}
