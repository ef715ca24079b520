// SPDX-License-Identifier: GPL-2.0-only
/*
 * notice: tells that something happened to a recorder, from any context.
 *
 * What happens, happens in NMIs too, and what is told is told by netlink, which
 * allocates: NMI -> queue -> irq_work -> work. The queue is a small ring for each
 * recorder. A producer takes a place by compare-exchange, writes the notice and then
 * its turn; one that it interrupts waits for nobody, and the worker stops at a place
 * whose turn is not written yet: who writes it queues the worker again.
 *
 * Each kind of notice is told at most once a second, lest a ring that is full for an
 * hour keeps netlink busy. Counters tell how much of it there was. Triggers are told each
 * time, but no more often than some dozen times a second: their limits are for who owns
 * the recorder to choose, and must not make a worker busy, or listeners miss others' news.
 */
#include "notice.h"

#include <linux/bitops.h>
#include <linux/build_bug.h>
#include <linux/jiffies.h>

static_assert(!(GPROF_NOTICES & (GPROF_NOTICES - 1)));

#define FIRINGS_TOLD	64	/* in a second */

/* False: it has been told less than a second ago, or another CPU tells it now. */
static bool is_due(struct gprof_notices *n, u32 what)
{
	unsigned long next = READ_ONCE(n->next[what]);

	return time_after_eq(jiffies, next) &&
	       cmpxchg(&n->next[what], next, jiffies + HZ) == next;
}

/* May one more firing be told in this second? Who begins it may let a few too many through. */
static bool may_tell_firing(struct gprof_notices *n)
{
	unsigned long begin = READ_ONCE(n->second);

	if (time_after_eq(jiffies, begin + HZ) &&
	    cmpxchg(&n->second, begin, jiffies) == begin)
		atomic_set(&n->firings, 0);
	return atomic_read(&n->firings) < FIRINGS_TOLD &&
	       atomic_inc_return(&n->firings) <= FIRINGS_TOLD;
}

static bool enqueue(struct gprof_notices *n, const struct gprof_notice *notice)
{
	struct gprof_notice *place;
	int head = atomic_read(&n->head);

	do {
		/* Pairs with atomic_set_release() in dequeue(): the place has been read. */
		if ((unsigned int)(head - atomic_read_acquire(&n->tail)) >= GPROF_NOTICES)
			return false;
	} while (!atomic_try_cmpxchg(&n->head, &head, head + 1));
	place = &n->queue[head & (GPROF_NOTICES - 1)];
	place->what = notice->what;
	place->trigger = notice->trigger;
	place->trigger_what = notice->trigger_what;
	/* Pairs with smp_load_acquire() in dequeue(). */
	smp_store_release(&place->turn, (unsigned int)head + 1);
	return true;
}

/* By the worker alone. */
static bool dequeue(struct gprof_notices *n, struct gprof_notice *notice)
{
	int tail = atomic_read(&n->tail);
	struct gprof_notice *place = &n->queue[tail & (GPROF_NOTICES - 1)];

	/* Pairs with smp_store_release() in enqueue(). */
	if (smp_load_acquire(&place->turn) != (unsigned int)tail + 1)
		return false;
	*notice = *place;
	/* Pairs with atomic_read_acquire() in enqueue(). */
	atomic_set_release(&n->tail, tail + 1);
	return true;
}

static void irq(struct irq_work *irq)
{
	struct gprof_notices *n = container_of(irq, struct gprof_notices, irq);

	n->wake(n);
	if (atomic_read(&n->head) != atomic_read(&n->tail))
		schedule_work(&n->work);
}

static void work(struct work_struct *work)
{
	struct gprof_notices *n = container_of(work, struct gprof_notices, work);
	struct gprof_notice notice;

	while (dequeue(n, &notice)) {
		if (!n->tell(n, &notice))
			atomic64_inc(&n->untold);
	}
}

/**
 * gprof_notices_init() - nothing has happened yet
 * @n: notices, zeroed
 * @wake: called when something is pending, with interrupts off (PREEMPT_RT: in a thread)
 * @tell: called with each notice, in a worker; returns whether anybody heard of it
 *
 * Context: Task.
 */
void gprof_notices_init(struct gprof_notices *n, void (*wake)(struct gprof_notices *n),
			bool (*tell)(struct gprof_notices *n, const struct gprof_notice *notice))
{
	unsigned int i;

	n->wake = wake;
	n->tell = tell;
	for (i = 0; i < GPROF_NOTICE_NR; i++)
		n->next[i] = jiffies;
	n->second = jiffies;
	init_irq_work(&n->irq, irq);
	INIT_WORK(&n->work, work);
}

/**
 * gprof_notices_end() - what has happened has been told when this returns
 * @n: notices; nothing more happens
 *
 * Context: Task.
 */
void gprof_notices_end(struct gprof_notices *n)
{
	irq_work_sync(&n->irq);
	flush_work(&n->work);
}

/* Who owns the recorder is woken in any case. */
static void pass_on(struct gprof_notices *n, const struct gprof_notice *notice, bool tell)
{
	if (!tell || !enqueue(n, notice))
		atomic64_inc(&n->untold);
	irq_work_queue(&n->irq);
}

/**
 * gprof_notice() - something has happened
 * @n: to whom
 * @what: GPROF_NOTICE_*
 *
 * Context: Any incl. NMI.
 */
void gprof_notice(struct gprof_notices *n, u32 what)
{
	if (likely(!is_due(n, what)))
		return;
	set_bit(what, &n->pending);
	pass_on(n, &(struct gprof_notice){ .what = what }, true);
}

/**
 * gprof_notice_fired() - a trigger has fired
 * @n: to whom
 * @index: of the trigger
 * @what: GPROF_TRIGGER_*
 *
 * Context: Any incl. NMI.
 */
void gprof_notice_fired(struct gprof_notices *n, u32 index, u32 what)
{
	pass_on(n, &(struct gprof_notice){
		.what = GPROF_NOTICE_FIRED, .trigger = index, .trigger_what = what,
	}, may_tell_firing(n));
}

/**
 * gprof_notices_take() - what has happened since this was called last
 * @n: notices
 *
 * Context: Any.
 * Return: bit (1 << GPROF_NOTICE_*) each.
 */
u64 gprof_notices_take(struct gprof_notices *n)
{
	return xchg(&n->pending, 0);
}
