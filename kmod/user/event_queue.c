// SPDX-License-Identifier: GPL-2.0-only
/*
 * event_queue: tells that something happened to a recorder, from any context.
 *
 * An event happens in an NMI or under locks of the scheduler; it is told by wake-ups, which
 * take sleeping locks on PREEMPT_RT, and by netlink, which allocates. So the producer sets a
 * bit, and a hard irq_work wakes the owner's thread (worker.c), which does both. Nothing in
 * between needs a thread on one particular CPU, which a task of real time may keep for itself.
 *
 * An event (samples were lost, the target is gone) says only that it happened: its bit is all
 * there is of it, and it is told at most once a second. Counters tell how much of it there was.
 *
 * A trigger event of a trigger has data, which wait in a place of the queue. A producer takes a
 * place by compare-exchange, writes it, and then its turn; a producer that it interrupts waits
 * for nobody. There are two consumers: GPROF_IOC_TRIGGER_READ takes the trigger event, and
 * either consumer announces it. A place is free once both have passed it. The queue keeps ids
 * of tasks by reference: the reader may live in another pid namespace, and the task may be gone
 * by then. Trigger events are announced some dozen times a second at most: their limits are for
 * the owner to choose, and must not let listeners miss events of others.
 */
#include "event_queue.h"
#include "memlock.h"

#include <linux/bitops.h>
#include <linux/build_bug.h>
#include <linux/errno.h>
#include <linux/irqflags.h>
#include <linux/jiffies.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/poll.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/timekeeping.h>

#define PLACES		GPROF_TRIGGER_EVENTS_MAX
#define ANNOUNCED_MAX	64	/* trigger events in a second */

static_assert(!(PLACES & (PLACES - 1)));

/* Netlink's, set before there is a recorder. */
static bool (*announcer)(struct gprof_event_queue *q, const struct gprof_event *e) __ro_after_init;

/**
 * gprof_events_announce_by() - how events are announced to the host
 * @announce: called in task context, without locks; returns whether anybody listened. Or NULL
 *
 * Context: Task; there is no recorder.
 */
void gprof_events_announce_by(bool (*announce)(struct gprof_event_queue *q,
					       const struct gprof_event *e))
{
	announcer = announce;
}

/**
 * gprof_event_announce() - tell listeners
 * @q: whose
 * @e: event; of its members, @type, @what and @told.index are used
 *
 * Context: Task.
 * Return: whether there is one.
 */
bool gprof_event_announce(struct gprof_event_queue *q, const struct gprof_event *e)
{
	return announcer(q, e);
}

static struct gprof_event *place_of(const struct gprof_event_queue *q, unsigned int number)
{
	return &q->places[number & (PLACES - 1)];
}

static bool is_written(const struct gprof_event *e, unsigned int number)
{
	/* Pairs with smp_store_release() in gprof_event_publish(). */
	return smp_load_acquire(&e->turn) == number + 1;
}

/* May one more trigger event be announced in this second? Its first may let too many by. */
static bool may_announce(struct gprof_event_queue *q)
{
	unsigned long begin = READ_ONCE(q->second);

	if (time_after_eq(jiffies, begin + HZ) &&
	    cmpxchg(&q->second, begin, jiffies) == begin)
		atomic_set(&q->announced, 0);
	return atomic_read(&q->announced) < ANNOUNCED_MAX &&
	       atomic_inc_return(&q->announced) <= ANNOUNCED_MAX;
}

/*
 * Announces the oldest trigger event that was not; false: all were. A place is reused only once
 * @heard has passed it, so that the copy is right where the exchange succeeds.
 */
static bool announce_next(struct gprof_event_queue *q)
{
	int heard = atomic_read(&q->heard);
	struct gprof_event *place = place_of(q, heard), e;

	if (!is_written(place, heard))
		return false;
	e.type = GPROF_EVENT_TRIGGER;
	e.what = READ_ONCE(place->what);
	e.told.index = READ_ONCE(place->told.index);
	/* Pairs with atomic_read_acquire() in gprof_event_claim(): the place has been read. */
	if (atomic_cmpxchg_release(&q->heard, heard, heard + 1) != heard)
		return true;
	if (!may_announce(q) || !announcer(q, &e))
		atomic64_inc(&q->dropped);
	return true;
}

/* In the owner's thread. */
static u64 tell(struct gprof_work *work, bool awaited)
{
	struct gprof_event_queue *q = container_of(work, struct gprof_event_queue, work);
	unsigned long raised = xchg(&q->raised, 0);
	struct gprof_event e = { };

	if (raised & BIT(GPROF_EVENT_READABLE))
		wake_up_interruptible_poll(&q->wait, EPOLLIN);
	if (raised & ~BIT(GPROF_EVENT_READABLE))
		wake_up_interruptible_poll(&q->wait, EPOLLPRI);
	for (e.type = 0; e.type < GPROF_STATS_EVENT_NR; e.type++) {
		if (raised & BIT(e.type) && !announcer(q, &e))
			atomic64_inc(&q->dropped);
	}
	while (announce_next(q))
		;
	return U64_MAX;
}

static void raise(struct gprof_event_queue *q, enum gprof_event_type type)
{
	set_bit(type, &q->raised);
	gprof_work_raise(&q->work);
}

/* False: it was raised less than a second ago, or another CPU raises it now. */
static bool is_due(struct gprof_event_queue *q, enum gprof_event_type type)
{
	unsigned long next = READ_ONCE(q->next[type]);

	return time_after_eq(jiffies, next) &&
	       cmpxchg(&q->next[type], next, jiffies + HZ) == next;
}

/**
 * gprof_event_raise() - something has happened
 * @q: queue of the listener
 * @type: an event, or READABLE
 *
 * Context: Any incl. NMI.
 */
void gprof_event_raise(struct gprof_event_queue *q, enum gprof_event_type type)
{
	if (type < GPROF_STATS_EVENT_NR) {
		if (likely(!is_due(q, type)))
			return;
		set_bit(type, &q->pending);
	}
	raise(q, type);
}

/**
 * gprof_events_bytes() - memory that gprof_events_init() takes
 *
 * Context: Any.
 */
u64 gprof_events_bytes(void)
{
	return gprof_memory_of(sizeof(struct gprof_event) * PLACES);
}

/**
 * gprof_events_init() - nothing has happened
 * @q: queue, zeroed but for @q->wait, which is initialized
 * @privileged: the owner records the whole host
 *
 * Context: Task.
 * Return: 0 or a negative errno.
 */
int gprof_events_init(struct gprof_event_queue *q, bool privileged)
{
	unsigned int i;
	int err;

	q->places = kcalloc(PLACES, sizeof(*q->places), GFP_KERNEL_ACCOUNT);
	if (!q->places)
		return -ENOMEM;
	for (i = 0; i < GPROF_STATS_EVENT_NR; i++)
		q->next[i] = jiffies;
	q->second = jiffies;
	q->work.urgent = true;
	err = gprof_work_init(&q->work, tell, privileged);
	if (err) {
		kfree(q->places);
		q->places = NULL;
	}
	return err;
}

/**
 * gprof_events_flush() - events up to now have been told when it returns, or it takes too long
 * @q: queue
 *
 * Context: Task; waits for the owner's thread.
 * Return: whether they have been.
 */
bool gprof_events_flush(struct gprof_event_queue *q)
{
	return gprof_work_finish(&q->work, NSEC_PER_SEC / 8);
}

/**
 * gprof_events_destroy() - free it; events up to now have been told if that takes no time
 * @q: queue that gprof_events_init() made; nothing happens any more
 *
 * Context: Task.
 */
void gprof_events_destroy(struct gprof_event_queue *q)
{
	gprof_events_flush(q);
	gprof_work_destroy(&q->work);
	gprof_events_clear(q);
	kfree(q->places);
	q->places = NULL;
}

/**
 * gprof_event_claim() - get a place in the queue
 * @q: queue
 *
 * Context: Any, interrupts off until gprof_event_publish().
 * Return: place to be written, or NULL when too many wait.
 */
struct gprof_event *gprof_event_claim(struct gprof_event_queue *q)
{
	int head = atomic_read(&q->head);

	do {
		/* Pairs with atomic_set_release() in drop(), and announce_next(). */
		if ((unsigned int)(head - atomic_read_acquire(&q->tail)) >= PLACES ||
		    (unsigned int)(head - atomic_read_acquire(&q->heard)) >= PLACES)
			return NULL;
	} while (!atomic_try_cmpxchg(&q->head, &head, head + 1));
	WRITE_ONCE(place_of(q, head)->turn, head);
	return place_of(q, head);
}

/**
 * gprof_event_publish() - a trigger has fired
 * @q: queue
 * @e: claimed, and written but for its turn
 *
 * Context: As gprof_event_claim().
 */
void gprof_event_publish(struct gprof_event_queue *q, struct gprof_event *e)
{
	/* Pairs with smp_load_acquire() in is_written(). */
	smp_store_release(&e->turn, e->turn + 1);
	/* From here on it may be another's. */
	raise(q, GPROF_EVENT_TRIGGER);
}

/**
 * gprof_event_of() - set the task, its process and the CPU of a trigger event
 * @e: claimed
 * @task: current, or one that does not run, or under RCU
 * @what: GPROF_TRIGGER_*
 * @index: as it is told
 *
 * Context: As gprof_event_claim(): neither the task's numbers nor its process go away.
 */
void gprof_event_of(struct gprof_event *e, struct task_struct *task, u32 what, u32 index)
{
	e->type = GPROF_EVENT_TRIGGER;
	e->what = what;
	e->tid = get_pid(task_pid(task));
	e->tgid = get_pid(task_tgid(task));
	e->suppressed = NULL;
	e->told = (struct gprof_trigger_event){
		.index = index,
		.tid = task->pid,
		.pid = task->tgid,
		.cpu = smp_processor_id(),
	};
	/* Not get_task_comm(): no lock here. */
	strscpy_pad(e->told.comm, task->comm, sizeof(e->told.comm));
}

/**
 * gprof_event_request() - current asks for a snapshot
 * @q: queue
 *
 * Context: Task.
 * Return: 0, or -EBUSY: too many wait to be taken.
 */
int gprof_event_request(struct gprof_event_queue *q)
{
	struct gprof_event *e;
	unsigned long irq;

	local_irq_save(irq);
	e = gprof_event_claim(q);
	if (e) {
		gprof_event_of(e, current, GPROF_TRIGGER_REQUEST, GPROF_TRIGGER_EVENT_REQUEST);
		e->told.time = ktime_get_mono_fast_ns();
		e->told.number = GPROF_TRIGGER_ANY;
		gprof_event_publish(q, e);
	}
	local_irq_restore(irq);
	return e ? 0 : -EBUSY;
}

static struct gprof_event *oldest(struct gprof_event_queue *q)
{
	int tail = atomic_read(&q->tail);

	return is_written(place_of(q, tail), tail) ? place_of(q, tail) : NULL;
}

static void drop(struct gprof_event_queue *q, struct gprof_event *e)
{
	put_pid(e->tid);
	put_pid(e->tgid);
	/* Pairs with atomic_read_acquire() in gprof_event_claim(). */
	atomic_set_release(&q->tail, atomic_read(&q->tail) + 1);
}

/**
 * gprof_events_pending() - is there an event, or a trigger event to be taken?
 * @q: queue of a recorder that is set up
 *
 * Context: Any.
 */
bool gprof_events_pending(const struct gprof_event_queue *q)
{
	unsigned int tail = atomic_read(&q->tail);

	return READ_ONCE(q->pending) || is_written(place_of(q, tail), tail);
}

/**
 * gprof_events_stats() - events since this was called last
 * @q: queue
 *
 * Context: Any.
 * Return: bit (1 << GPROF_STATS_EVENT_*) each.
 */
u64 gprof_events_stats(struct gprof_event_queue *q)
{
	return xchg(&q->pending, 0);
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
 * gprof_event_pop() - take the oldest trigger event
 * @q: queue
 * @fired: gets it, with ids of the caller's pid namespace
 *
 * Context: Task; never two at once.
 * Return: 0, or -EAGAIN when none waits.
 */
int gprof_event_pop(struct gprof_event_queue *q, struct gprof_trigger_event *fired)
{
	struct pid_namespace *ns = task_active_pid_ns(current);
	struct gprof_event *e = oldest(q);
	u32 size = fired->size;

	*fired = e ? e->told : (struct gprof_trigger_event){ };
	fired->size = size;
	fired->untracked = atomic64_read(&q->untracked);
	if (!e) {
		fired->fired = atomic64_read(&q->fired);
		fired->suppressed = atomic64_read(&q->suppressed);
		return -EAGAIN;
	}
	fired->tid = id_in(e->tid, e->told.tid, ns);
	fired->pid = id_in(e->tgid, e->told.pid, ns);
	if (e->suppressed)
		fired->suppressed = atomic64_read(e->suppressed);
	/* The thread of an owner of low priority may be late, and its place is wanted. */
	while (atomic_read(&q->heard) - atomic_read(&q->tail) <= 0 && announce_next(q))
		;
	drop(q, e);
	return 0;
}

/**
 * gprof_events_clear() - throw all trigger events away
 * @q: queue; nothing fires
 *
 * Context: Task.
 */
void gprof_events_clear(struct gprof_event_queue *q)
{
	struct gprof_event *e;

	while (announce_next(q))
		;
	while ((e = oldest(q)))
		drop(q, e);
	atomic64_set(&q->fired, 0);
	atomic64_set(&q->suppressed, 0);
	atomic64_set(&q->untracked, 0);
}
