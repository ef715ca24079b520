// SPDX-License-Identifier: GPL-2.0-only
/*
 * wait_table: the table of waits that go on, and the sample of one.
 *
 * By the task's address, which unlike its id an exec does not change. A consumer of a note
 * takes it by compare-exchange, so that each is told once.
 *
 * No task that may be recorded is lost from the table but by being switched in. A task
 * that exits has been, since from then on it is not noted any more (exit_state), and no task
 * ends on a CPU of which the kernel does not tell, one that is not online; so each task in the
 * table exists. A reader holds RCU.
 */
#include "compat/preempt.h"
#include "sample/sampler.h"
#include "task/wait_reason.h"
#include "waits.h"

#include <linux/build_bug.h>
#include <linux/gprof.h>

#define RUNNABLE_MAX	((1ULL << (64 - GPROF_WAIT_RUNNABLE_SHIFT)) - 1)

/**
 * gprof_wait_lose() - there is no sample of a wait
 * @w: waits
 *
 * Context: Any but NMI, preemption off.
 */
void gprof_wait_lose(struct gprof_waits *w)
{
	struct gprof_percpu_buffer *ch = w->sampler->buffers[smp_processor_id()];

	if (!ch) {
		atomic64_inc(&w->sampler->no_buffer);
		return;
	}
	local64_inc(&ch->buffer.produced);
	if (in_hardirq())
		local64_inc(&ch->buffer.irq);
	gprof_buffer_lose(&ch->buffer, GPROF_LOST_WAIT);
}

/* Others may want the same place at the same time, but for other tasks. */
static int claim(struct gprof_waits *w, const struct task_struct *task)
{
	unsigned int home = gprof_wait_home(w, task), i;

	for (i = 0; i < GPROF_WAIT_WAYS; i++) {
		long empty = 0;

		if (atomic_long_try_cmpxchg(&w->buckets[home].tasks[i], &empty,
					    (long)task | GPROF_WAIT_BUSY))
			return home * GPROF_WAIT_WAYS + i;
	}
	return -1;
}

static atomic_long_t *owner_of(struct gprof_waits *w, unsigned int at)
{
	return &w->buckets[at / GPROF_WAIT_WAYS].tasks[at % GPROF_WAIT_WAYS];
}

/*
 * One that a switch-in has left behind of which the kernel did not tell; its end is unknown.
 * Others may be about to take it, and must not find half of another.
 */
static int claim_former(struct gprof_waits *w, const struct task_struct *key)
{
	int at = gprof_wait_at(w, key);
	long former = (long)key;

	if (at < 0 || !atomic_long_try_cmpxchg(owner_of(w, at), &former,
					       (long)key | GPROF_WAIT_BUSY))
		return -1;
	if (!READ_ONCE(w->waits[at].unsampled))
		gprof_wait_lose(w);
	return at;
}

/**
 * gprof_wait_table_add() - note a wait whose cause is known
 * @w: waits
 * @key: whose; others may not note anything under it meanwhile
 * @wait: it
 * @owner: owner of the lock, for recorders that want to know; else NULL
 *
 * Context: Any but NMI, interrupts off.
 * Return: false: there is no room for it.
 */
bool gprof_wait_table_add(struct gprof_waits *w, const struct task_struct *key,
			  const struct gprof_wait *wait, const struct gprof_lock_owner *owner)
{
	int at = claim_former(w, key);
	struct gprof_wait *to;

	if (at < 0)
		at = claim(w, key);
	if (at < 0)
		return false;
	to = &w->waits[at];
	WRITE_ONCE(to->since, wait->since);
	WRITE_ONCE(to->woken, 0);
	WRITE_ONCE(to->addr, wait->addr);
	WRITE_ONCE(to->switches, wait->switches);
	WRITE_ONCE(to->what, wait->what);
	WRITE_ONCE(to->unsampled, wait->unsampled);
	if (owner)
		w->owners[at] = *owner;
	/* Pairs with atomic_long_read_acquire() in gprof_wait_claim(): all of it is there. */
	atomic_long_set_release(owner_of(w, at), (long)key);
	return true;
}

/* How often it has given its CPU away: counted before that is told. */
static u32 switches_of(const struct task_struct *task)
{
	return READ_ONCE(task->nvcsw) + READ_ONCE(task->nivcsw);
}

/**
 * gprof_wait_begins() - note a wait
 * @w: waits
 * @task: whose; it is being switched out, or its lock is held
 * @since: when
 * @state: the task's
 * @unsampled: see struct gprof_wait
 *
 * Context: Any but NMI, interrupts off.
 * Return: false: there is no room for it.
 */
bool gprof_wait_begins(struct gprof_waits *w, struct task_struct *task, u64 since,
		       unsigned int state, bool unsampled)
{
	struct gprof_wait wait = {
		.since = since, .switches = switches_of(task), .unsampled = unsampled,
	};
	u32 lock;

	/* 8 bits of it, and 4 of how it ended, are below the lock. */
	BUILD_BUG_ON(GPROF_WAIT_LOCK_SHIFT + 4 > 8 * sizeof(wait.what));
	if (!unsampled) {
		wait.what = gprof_wait_reason(task, state);
		if (w->spec.locks) {
			lock = gprof_wait_reason_lock(task, &wait.addr);
			wait.what |= lock << GPROF_WAIT_LOCK_SHIFT;
		}
	}
	return gprof_wait_table_add(w, task, &wait, NULL);
}

/**
 * gprof_wait_claim() - have a note for good
 * @w: waits
 * @at: where
 * @key: whose it is
 * @wait: gets it
 *
 * Context: Any but NMI.
 * Return: false: somebody else has it.
 */
bool gprof_wait_claim(struct gprof_waits *w, unsigned int at, const struct task_struct *key,
		      struct gprof_wait *wait)
{
	const struct gprof_wait *from = &w->waits[at];
	long owner = (long)key;

	/*
	 * Pairs with atomic_long_set_release() in gprof_wait_table_add(). The search for it has not
	 * ordered anything; nor does a waker share a lock with the CPU that switched out its task.
	 */
	if (atomic_long_read_acquire(owner_of(w, at)) != owner)
		return false;
	wait->since = READ_ONCE(from->since);
	wait->woken = READ_ONCE(from->woken);
	wait->addr = READ_ONCE(from->addr);
	wait->switches = READ_ONCE(from->switches);
	wait->what = READ_ONCE(from->what);
	wait->unsampled = READ_ONCE(from->unsampled);
	/*
	 * As long as it is the task's nobody else changes it, but for @woken. Fully ordered:
	 * the next owner of the place, in claim(), writes after all of it was read.
	 */
	return atomic_long_try_cmpxchg(owner_of(w, at), &owner, 0);
}

/**
 * gprof_wait_claim_of() - ... of a task, where it is a sampled one
 * @w: waits
 * @at: where
 * @task: whose it is; it is being switched in, or its lock is held
 * @wait: gets it
 *
 * A note that was left behind, since the kernel did not tell of a switch-in, is of an older
 * wait, where the next one was not sampled; its end is unknown.
 *
 * Context: Any but NMI, preemption off.
 * Return: false: there is none to be told.
 */
bool gprof_wait_claim_of(struct gprof_waits *w, unsigned int at, struct task_struct *task,
			 struct gprof_wait *wait)
{
	if (!gprof_wait_claim(w, at, task, wait) || wait->unsampled)
		return false;
	if (likely(wait->switches == switches_of(task)))
		return true;
	gprof_wait_lose(w);
	return false;
}

static u64 between(u64 from, u64 until)
{
	return (s64)(until - from) > 0 ? until - from : 0;
}

/**
 * gprof_wait_end() - how long it lasted, as far as it was in the window
 * @w: waits
 * @wait: wait
 * @now: when the task runs again, is woken, or STOP was
 * @e: gets it, but for whose it is
 *
 * Context: Any.
 */
void gprof_wait_end(const struct gprof_waits *w, const struct gprof_wait *wait, u64 now,
		    struct gprof_wait_end *e)
{
	u64 since = wait->since, woken = wait->woken ?: now, runnable;

	/* Pairs with smp_store_release() in gprof_waits_last(). */
	if (unlikely(smp_load_acquire(&w->phase) == GPROF_WAITS_OVER)) {
		now = (s64)(now - w->until) > 0 ? w->until : now;
		woken = (s64)(woken - now) > 0 ? now : woken;
	}
	if ((s64)(w->from - since) > 0)
		since = w->from;
	runnable = between(woken, now);
	if (unlikely(runnable > RUNNABLE_MAX))
		runnable = RUNNABLE_MAX;
	e->ns = between(since, woken);
	e->addr = wait->addr;
	e->owner = NULL;
	e->wait = runnable << GPROF_WAIT_RUNNABLE_SHIFT | wait->what;
}

/**
 * gprof_wait_emit() - write a sample
 * @w: waits
 * @e: the wait
 * @c: of the task that it is about, and where current is
 *
 * Context: Any but NMI, preemption off.
 */
void gprof_wait_emit(struct gprof_waits *w, const struct gprof_wait_end *e,
		     struct gprof_capture *c)
{
	c->flags |= GPROF_SAMPLE_REC_F_VALUE | GPROF_SAMPLE_REC_F_WAIT;
	c->value = e->ns;
	c->wait = e->wait;
	c->addr = e->addr;
	if (w->spec.addr && e->addr)
		c->flags |= GPROF_SAMPLE_REC_F_ADDR;
	c->owner = e->owner;
	if (e->owner)
		c->flags |= GPROF_SAMPLE_REC_F_OWNER;
	gprof_emit(c, w->sampler, w->spec.period);
}

/**
 * gprof_wait_report() - write a sample with the stack of current
 * @w: waits
 * @e: the wait
 * @task: the task that it is about
 * @regs: where current is
 * @without: GPROF_STACK_F_* of the stack that are not to be told
 *
 * Context: Any but NMI, preemption off.
 */
void gprof_wait_report(struct gprof_waits *w, const struct gprof_wait_end *e,
		       struct task_struct *task, struct pt_regs *regs, u32 without)
{
	struct gprof_capture c __uninitialized;

	gprof_capture(&c, regs, 0);
	c.task = task;
	c.without = without;
	gprof_wait_emit(w, e, &c);
	gprof_captured(&c);
}
