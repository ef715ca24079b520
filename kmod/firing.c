// SPDX-License-Identifier: GPL-2.0-only
/*
 * firing: triggers of one recorder that have fired, until somebody takes them.
 *
 * As the queue of notice.c: a producer takes a place by compare-exchange, writes it, and
 * then its turn. What it interrupts waits for nobody. Of tasks the numbers are kept, and
 * not the one in the initial namespace alone: who asks may live in another, and the task
 * may be gone by then.
 */
#include "firing.h"
#include "memlock.h"
#include "notice.h"

#include <linux/build_bug.h>
#include <linux/errno.h>
#include <linux/irqflags.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/timekeeping.h>

static_assert(!(GPROF_FIRED_WAITING & (GPROF_FIRED_WAITING - 1)));

/**
 * gprof_firings_bytes() - memory that gprof_firings_init() takes
 *
 * Context: Any.
 */
u64 gprof_firings_bytes(void)
{
	return gprof_memory_of(sizeof(struct gprof_firing) * GPROF_FIRED_WAITING);
}

/**
 * gprof_firings_init() - nothing has fired
 * @f: firings, zeroed
 * @notices: where it is to be told at once
 *
 * Context: Task.
 * Return: 0 or -ENOMEM.
 */
int gprof_firings_init(struct gprof_firings *f, struct gprof_notices *notices)
{
	struct gprof_firing *queue = kcalloc(GPROF_FIRED_WAITING, sizeof(*queue),
					     GFP_KERNEL_ACCOUNT);

	if (!queue)
		return -ENOMEM;
	*f = (struct gprof_firings){ .notices = notices, .queue = queue };
	return 0;
}

/**
 * gprof_firings_destroy() - free them
 * @f: firings; nothing fires
 *
 * Context: Task.
 */
void gprof_firings_destroy(struct gprof_firings *f)
{
	gprof_firings_clear(f);
	kfree(f->queue);
}

/**
 * gprof_firing_claim() - get a place in the queue
 * @f: firings
 *
 * Context: Any, interrupts off until gprof_firing_publish().
 * Return: place to be written, or NULL when too many wait.
 */
struct gprof_firing *gprof_firing_claim(struct gprof_firings *f)
{
	int head = atomic_read(&f->head);

	do {
		/* Pairs with atomic_set_release() in drop(): the place has been read. */
		if ((unsigned int)(head - atomic_read_acquire(&f->tail)) >= GPROF_FIRED_WAITING)
			return NULL;
	} while (!atomic_try_cmpxchg(&f->head, &head, head + 1));
	WRITE_ONCE(f->queue[head & (GPROF_FIRED_WAITING - 1)].turn, head);
	return &f->queue[head & (GPROF_FIRED_WAITING - 1)];
}

/**
 * gprof_firing_publish() - tell of it
 * @f: firings
 * @one: claimed, and written but for its turn
 *
 * Context: As gprof_firing_claim().
 */
void gprof_firing_publish(struct gprof_firings *f, struct gprof_firing *one)
{
	u32 index = one->told.index, what = one->what;

	/* Pairs with smp_load_acquire() in oldest(). */
	smp_store_release(&one->turn, one->turn + 1);
	/* From here on it may be another's. */
	gprof_notice_fired(f->notices, index, what);
}

/**
 * gprof_firing_of() - whose it is
 * @one: claimed
 * @task: current, or one that does not run, or under RCU
 * @what: GPROF_TRIGGER_*
 * @index: as it is told
 *
 * Context: As gprof_firing_claim(): neither the task's numbers nor its process go away.
 */
void gprof_firing_of(struct gprof_firing *one, struct task_struct *task, u32 what, u32 index)
{
	one->what = what;
	one->tid = get_pid(task_pid(task));
	one->tgid = get_pid(task_tgid(task));
	one->suppressed = NULL;
	one->told = (struct gprof_fired){
		.index = index,
		.tid = task->pid,
		.pid = task->tgid,
		.cpu = smp_processor_id(),
	};
	/* Not get_task_comm(): no lock here. */
	strscpy_pad(one->told.comm, task->comm, sizeof(one->told.comm));
}

/**
 * gprof_firing_request() - current asks for a snapshot
 * @f: firings
 *
 * Context: Task.
 * Return: 0, or -EBUSY: too many wait to be taken.
 */
int gprof_firing_request(struct gprof_firings *f)
{
	struct gprof_firing *one;
	unsigned long irq;

	local_irq_save(irq);
	one = gprof_firing_claim(f);
	if (one) {
		gprof_firing_of(one, current, GPROF_TRIGGER_REQUEST, GPROF_FIRED_REQUEST);
		one->told.time = ktime_get_mono_fast_ns();
		one->told.number = GPROF_TRIGGER_ANY;
		gprof_firing_publish(f, one);
	}
	local_irq_restore(irq);
	return one ? 0 : -EBUSY;
}

static struct gprof_firing *oldest(struct gprof_firings *f)
{
	int tail = atomic_read(&f->tail);
	struct gprof_firing *one = &f->queue[tail & (GPROF_FIRED_WAITING - 1)];

	/* Pairs with smp_store_release() in gprof_firing_publish(). */
	return smp_load_acquire(&one->turn) == (unsigned int)tail + 1 ? one : NULL;
}

static void drop(struct gprof_firings *f, struct gprof_firing *one)
{
	put_pid(one->tid);
	put_pid(one->tgid);
	/* Pairs with atomic_read_acquire() in gprof_firing_claim(). */
	atomic_set_release(&f->tail, atomic_read(&f->tail) + 1);
}

/**
 * gprof_firings_wait() - is there one to be taken?
 * @f: firings
 *
 * Context: Any.
 */
bool gprof_firings_wait(const struct gprof_firings *f)
{
	int tail = atomic_read(&f->tail);

	return READ_ONCE(f->queue[tail & (GPROF_FIRED_WAITING - 1)].turn) ==
	       (unsigned int)tail + 1;
}

/*
 * An interrupt may be the last thing that happens to a task that has been waited for: then
 * the number that it had is all that there is, which is one of the first namespace.
 */
static pid_t id_in(struct pid *pid, pid_t had, struct pid_namespace *ns)
{
	return !pid && ns == &init_pid_ns ? had : pid_nr_ns(pid, ns);
}

/**
 * gprof_firing_take() - take the oldest
 * @f: firings
 * @fired: gets it, with ids of the caller's pid namespace
 *
 * Context: Task; never two at once.
 * Return: 0, or -EAGAIN when none waits.
 */
int gprof_firing_take(struct gprof_firings *f, struct gprof_fired *fired)
{
	struct pid_namespace *ns = task_active_pid_ns(current);
	struct gprof_firing *one = oldest(f);
	u32 size = fired->size;

	*fired = one ? one->told : (struct gprof_fired){ };
	fired->size = size;
	fired->unwatched = atomic64_read(&f->unwatched);
	if (!one) {
		fired->fired = atomic64_read(&f->fired);
		fired->suppressed = atomic64_read(&f->suppressed);
		return -EAGAIN;
	}
	fired->tid = id_in(one->tid, one->told.tid, ns);
	fired->pid = id_in(one->tgid, one->told.pid, ns);
	if (one->suppressed)
		fired->suppressed = atomic64_read(one->suppressed);
	drop(f, one);
	return 0;
}

/**
 * gprof_firings_clear() - throw all away
 * @f: firings; nothing fires
 *
 * Context: Task.
 */
void gprof_firings_clear(struct gprof_firings *f)
{
	struct gprof_firing *one;

	while ((one = oldest(f)))
		drop(f, one);
	atomic64_set(&f->fired, 0);
	atomic64_set(&f->suppressed, 0);
	atomic64_set(&f->unwatched, 0);
}
