// SPDX-License-Identifier: GPL-2.0-only
/*
 * trigger_wait: the states of each task that last, and the tracepoints of the scheduler.
 *
 * A task has one place from its first wait, call or reclaim on until it gives its CPU away
 * when its end is told (exit_state), found by a hash of its address, which unlike its id an
 * exec does not change. Each CPU remembers by its id where it found it last. So a switch
 * takes no place and gives none up: it stores the time that the trace has told for the previous
 * task, and subtracts that of the next one.
 *
 * A task is switched out, woken and switched in one after the other, under the lock of its
 * run queue (a wake-up elsewhere waits until it has left its CPU); its calls and reclaim are
 * noted where it runs. So there is one writer for each place at a time, besides the work item
 * that looks for states that go on. That one changes a time by compare-exchange alone, and sets
 * the bit of a trigger in it; the end of a wait that was long enough takes the time by exchange.
 * Each trigger thereby fires once for a wait. A wait that was short leaves its time behind: the
 * work item has seen, after it took the time, that the task had no CPU, and left it then.
 *
 * The way of a switch is counted in instructions: the usual part stands in triggers.h.
 */
#include "clock/clock.h"
#include "compat/sched.h"
#include "target/target.h"
#include "triggers.h"
#include "user/event_queue.h"
#include "user/memlock.h"

#include <linux/cpumask.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>

#define PLACES		8	/* where a task may be, from its home on */
#define BITS_MIN	8
#define BITS_MAX	16

/* Of nobody. */
static struct gprof_pending_op nowhere;

static_assert(GPROF_TRIGGER_DELAY - 1 == GPROF_PENDING_DELAY);
static_assert(GPROF_TRIGGER_RECLAIM - 1 == GPROF_PENDING_RECLAIM);

static noinline struct gprof_pending_op *find_elsewhere(const struct gprof_triggers *g,
							const struct task_struct *task)
{
	unsigned int mask = (1U << g->bits) - 1, home = gprof_pending_op_home(g, task), i;

	for (i = 0; i < PLACES; i++) {
		if (gprof_pending_op_task_at(g, (home + i) & mask) == task)
			return &g->pending_ops[(home + i) & mask];
	}
	return NULL;
}

static __always_inline struct gprof_pending_op *find(const struct gprof_triggers *g,
						     const struct task_struct *task)
{
	struct gprof_pending_op *l = gprof_pending_op_home_of(g, task);

	if (likely(gprof_pending_op_is_of(l, task)))
		return l;
	return find_elsewhere(g, task);
}

/*
 * Others may want the same place at the same time, but for other tasks. A task that has ended
 * gets none: see gprof_pending_op_dies().
 */
static struct gprof_pending_op *claim(struct gprof_triggers *g, const struct task_struct *task)
{
	unsigned int mask = (1U << g->bits) - 1, home = gprof_pending_op_home(g, task), i;

	if (READ_ONCE(task->exit_state))
		return NULL;
	for (i = 0; i < PLACES; i++) {
		unsigned int at = (home + i) & mask;
		long empty = 0;

		/* Pairs with atomic_long_set_release() in give_up(): all of it is 0. */
		if (atomic_long_try_cmpxchg(&g->pending_ops[at].task, &empty, (long)task))
			return &g->pending_ops[at];
	}
	atomic64_inc(&g->events->untracked);
	return NULL;
}

static void give_up(struct gprof_pending_op *l)
{
	unsigned int i;

	for (i = 0; i < GPROF_PENDING_NR; i++)
		WRITE_ONCE(l->since[i], 0);
	/* Pairs with atomic_long_try_cmpxchg() in claim(). */
	atomic_long_set_release(&l->task, 0);
}

/* Takes a time for good. With the bits that the work item has set up to now. */
static u64 take(struct gprof_pending_op *l, enum gprof_pending_op_kind kind)
{
	return xchg(&l->since[kind], 0);
}

static void ended(struct gprof_triggers *g, struct gprof_pending_op *l,
		  enum gprof_pending_op_kind kind, struct task_struct *task, u64 now, s32 number)
{
	u64 since = take(l, kind);

	if (since)
		gprof_trigger_lasted(g, kind + 1, task, since, now, number);
}

/* ---- switches ---- */

/* With the bits that the work item has set up to now, which then finds nothing any more. */
static void report_long_waits(struct gprof_triggers *g, struct gprof_pending_op *l,
			      struct task_struct *next, u64 now)
{
	u64 off = READ_ONCE(l->since[GPROF_PENDING_OFF_CPU]);
	u64 woken = gprof_pending_op_waits_since(l, off);
	bool off_cpu = gprof_pending_op_is_long(g, GPROF_PENDING_OFF_CPU, off, now);
	bool delay = gprof_pending_op_is_long(g, GPROF_PENDING_DELAY, woken, now);

	if (!(delay || off_cpu) || !next->pid || !gprof_trace_has(g->trace, next))
		return;
	off = take(l, GPROF_PENDING_OFF_CPU);
	woken = take(l, GPROF_PENDING_DELAY);
	if (delay)
		gprof_trigger_lasted(g, GPROF_TRIGGER_DELAY, next,
				     gprof_waits_since_it_left(off) ? off : woken, now,
				     GPROF_TRIGGER_ANY);
	if (off_cpu)
		gprof_trigger_lasted(g, GPROF_TRIGGER_OFF_CPU, next, off, now, GPROF_TRIGGER_ANY);
}

/**
 * gprof_pending_op_switch() - a switch for which gprof_pending_op_switch_quick() is not enough
 * @g: triggers that want it
 * @c: this CPU's
 * @prev: gives the CPU to
 * @next: comes
 * @why: GPROF_TRACE_PREV_*; where it is DEAD gprof_pending_op_dies() was called
 *
 * Context: Under the lock of the run queue.
 */
void gprof_pending_op_switch(struct gprof_triggers *g, struct gprof_trace_cpu *c,
			     struct task_struct *prev, struct task_struct *next, u32 why)
{
	u64 now = gprof_since(gprof_clock_ns());
	struct gprof_pending_op *l = find(g, prev);

	/* Its first wait. */
	if (!l && why != GPROF_TRACE_PREV_DEAD && gprof_trace_has(g->trace, prev))
		l = claim(g, prev);
	if (l) {
		WRITE_ONCE(l->since[GPROF_PENDING_OFF_CPU], now | why);
		c->places[(u8)prev->pid] = l;
	}
	l = find(g, next);
	if (!l)
		return;
	c->places[(u8)next->pid] = l;
	report_long_waits(g, l, next, now);
	WRITE_ONCE(l->since[GPROF_PENDING_DELAY], 0);
}

/**
 * gprof_pending_op_dies() - a task that has ended leaves its CPU, and its place
 * @g: triggers
 * @task: it; has exit_state
 *
 * Perhaps not for good: it may be reaped, and sleep still. But then its process may leave the
 * target, and be forgotten (tracked.h), so that nobody is told of its last switch.
 *
 * Context: Under the lock of the run queue.
 */
void gprof_pending_op_dies(struct gprof_triggers *g, struct task_struct *task)
{
	struct gprof_pending_op *l = find(g, task);

	if (l)
		give_up(l);
}

/* ---- wake-ups ---- */

/* Where it was not woken, as when the CPU that did so was on its way out, it says nothing. */
static noinline void unblocked(struct gprof_triggers *g, struct gprof_pending_op *l,
			       struct task_struct *task, u64 now)
{
	u64 off = READ_ONCE(l->since[GPROF_PENDING_OFF_CPU]), was;

	do {
		if (!gprof_blocked_since_it_left(off))
			return;
		was = off;
		off = cmpxchg(&l->since[GPROF_PENDING_OFF_CPU], was,
			      (was & ~GPROF_SINCE_WHY) | GPROF_TRACE_PREV_SLEEPS);
	} while (off != was);
	if (gprof_pending_op_has_other(g, task))
		gprof_trigger_lasted(g, GPROF_TRIGGER_BLOCKED, task, off, now, GPROF_TRIGGER_ANY);
}

static noinline struct gprof_pending_op *find_or_claim(struct gprof_triggers *g,
						       struct task_struct *task)
{
	struct gprof_pending_op *l = find(g, task);

	return !l && gprof_pending_op_has_other(g, task) ? claim(g, task) : l;
}

/*
 * As the trace has told of it, here and just now: the clock is most of the cost of a wake-up.
 * Not where the task has left later, for which its waker had to wait.
 */
static u64 woken_at(const struct gprof_trace_cpu *c, const struct gprof_pending_op *l,
		    const struct task_struct *task)
{
	u64 off = READ_ONCE(l->since[GPROF_PENDING_OFF_CPU]), at = gprof_since(c->waking_at);

	/* Where it is not known when it left, the told one may be another that had its address. */
	if (likely(c->waking == task) && likely(off) && likely(gprof_since_duration(off, at) > 0))
		return at;
	return gprof_since(gprof_clock_ns());
}

/* Under the lock of its run queue. A task amid falling asleep runs still, and goes on. */
static __always_inline void on_wakeup(struct gprof_triggers *g, struct task_struct *task, bool new)
{
	struct gprof_trace_cpu *c = this_cpu_ptr(g->trace->cpus);
	struct gprof_pending_op *l = c->places[(u8)task->pid];
	u64 now;

	if (gprof_task_on_cpu(task))
		return;
	if (unlikely(!gprof_pending_op_is_of(l, task))) {
		l = find_or_claim(g, task);
		if (!l)
			return;
		c->places[(u8)task->pid] = l;
	}
	now = woken_at(c, l, task);
	if (gprof_blocked_since_it_left(READ_ONCE(l->since[GPROF_PENDING_OFF_CPU])))
		unblocked(g, l, task, now);
	if (new)
		WRITE_ONCE(l->since[GPROF_PENDING_OFF_CPU], now | GPROF_TRACE_PREV_PREEMPTED);
	/* One that was woken already has been waiting since. */
	else if (!gprof_pending_op_waits_since(l, READ_ONCE(l->since[GPROF_PENDING_OFF_CPU])))
		WRITE_ONCE(l->since[GPROF_PENDING_DELAY], now);
}

static notrace void woken(void *data, struct task_struct *task)
{
	on_wakeup(data, task, false);
}

static notrace void woken_new(void *data, struct task_struct *task)
{
	on_wakeup(data, task, true);
}

/* ---- states that the task begins and ends itself ---- */

/**
 * gprof_pending_op_forget() - current is a task outside the target from now on
 * @g: triggers
 *
 * Context: Task, preemption off; current is of the target no longer, and so gets no new
 * place.
 */
void gprof_pending_op_forget(struct gprof_triggers *g)
{
	struct gprof_pending_op *l = g->scans ? find(g, current) : NULL;

	if (l)
		give_up(l);
}

/**
 * gprof_pending_op_begins() - of current
 * @g: triggers
 * @kind: its kind
 * @number: see struct gprof_trigger_event
 *
 * Context: Task, preemption off.
 */
void gprof_pending_op_begins(struct gprof_triggers *g, enum gprof_pending_op_kind kind, s32 number)
{
	struct gprof_pending_op *l;

	/*
	 * A task that gets a place while nobody tells of its last switch leaves it to the next
	 * task in its memory. Pairs with smp_store_release() in gprof_triggers_follow().
	 */
	if (!smp_load_acquire(&g->follows) || !gprof_trace_has(g->trace, current))
		return;
	l = find(g, current) ?: claim(g, current);
	if (!l)
		return;
	if (kind == GPROF_PENDING_SYSCALL)
		WRITE_ONCE(l->number, number);
	/* Pairs with smp_load_acquire() in scan_kind(): the number is this one's. */
	smp_store_release(&l->since[kind], gprof_since(gprof_clock_ns()));
}

/**
 * gprof_pending_op_ends() - of current
 * @g: triggers
 * @kind: its kind; may not have begun
 *
 * Context: Task, preemption off.
 */
void gprof_pending_op_ends(struct gprof_triggers *g, enum gprof_pending_op_kind kind)
{
	struct gprof_pending_op *l = find(g, current);
	u64 since, now;

	if (!l)
		return;
	since = READ_ONCE(l->since[kind]);
	if (!since)
		return;
	now = gprof_since(gprof_clock_ns());
	if (!gprof_pending_op_is_long(g, kind, since, now) || !gprof_trace_has(g->trace, current))
		WRITE_ONCE(l->since[kind], 0);
	else
		ended(g, l, kind, current, now,
		      kind == GPROF_PENDING_SYSCALL ? l->number : GPROF_TRIGGER_ANY);
}

/* ---- life ---- */

/* Four for each task that there is: others come, and a hash is not even. */
static unsigned int bits_for(const struct gprof_target *t)
{
	return clamp_t(unsigned int, order_base_2(4ULL * gprof_target_size(t)), BITS_MIN, BITS_MAX);
}

/**
 * gprof_pending_op_init() - be ready to note states that last
 * @g: triggers
 *
 * Context: Task.
 * Return: 0 or a negative errno.
 */
int gprof_pending_op_init(struct gprof_triggers *g)
{
	const struct gprof_target *target = g->trace->whose.target;
	size_t nr;
	u64 bytes;
	int err;

	BUILD_BUG_ON(sizeof(struct gprof_pending_op) != 64);
	if (g->scans)
		return 0;
	g->bits = bits_for(target);
	g->shift = 64 - g->bits;
	nr = 1UL << g->bits;
	bytes = gprof_memory_of(nr * sizeof(*g->pending_ops));
	err = gprof_charge_more(g->charge, bytes);
	if (err)
		return err;
	g->pending_ops = kvcalloc(nr, sizeof(*g->pending_ops), GFP_KERNEL_ACCOUNT);
	err = !g->pending_ops ?
		      -ENOMEM :
		      gprof_work_init(&g->scan, gprof_pending_op_scan, target->privileged);
	if (err) {
		gprof_pending_op_destroy(g);
		gprof_charge_less(g->charge, bytes);
		return err;
	}
	g->scans = true;
	return 0;
}

/**
 * gprof_pending_op_destroy() - free it
 * @g: triggers, not started
 *
 * Context: Task.
 */
void gprof_pending_op_destroy(struct gprof_triggers *g)
{
	if (g->scans)
		gprof_work_destroy(&g->scan);
	kvfree(g->pending_ops);
	g->pending_ops = NULL;
}

static s64 least_of(const struct gprof_triggers *g, enum gprof_pending_op_kind kind)
{
	s64 least = S64_MAX;
	unsigned int i;

	for (i = 0; i < g->nr; i++) {
		if (g->rules[i].what == kind + 1)
			least = min_t(s64, least, gprof_since(g->rules[i].threshold_ns));
	}
	return least;
}

/**
 * gprof_pending_op_clear() - nothing lasts
 * @g: triggers, of which no tracepoint is joined
 *
 * Context: Task.
 */
void gprof_pending_op_clear(struct gprof_triggers *g)
{
	unsigned int kind, i;
	int cpu;

	for (kind = 0; kind < GPROF_PENDING_NR; kind++)
		g->least[kind] = least_of(g, kind);
	g->soonest = min(g->least[GPROF_PENDING_OFF_CPU], g->least[GPROF_PENDING_DELAY]);
	if (!g->scans)
		return;
	memset(g->pending_ops, 0, sizeof(*g->pending_ops) << g->bits);
	for_each_possible_cpu(cpu) {
		struct gprof_trace_cpu *c = per_cpu_ptr(g->trace->cpus, cpu);

		c->soonest = g->soonest;
		for (i = 0; i < GPROF_TRACE_PLACES; i++)
			c->places[i] = &nowhere;
	}
}

/**
 * gprof_pending_op_set_subs() - which of the scheduler's tracepoints are of use
 * @g: triggers
 *
 * Context: Task.
 */
void gprof_pending_op_set_subs(struct gprof_triggers *g)
{
	bool delay = gprof_triggers_want(g, GPROF_TRIGGER_DELAY);
	bool blocked = gprof_triggers_want(g, GPROF_TRIGGER_BLOCKED);

	g->subs[GPROF_TRIGGER_SUB_WAKEUP].tp = GPROF_TP_WAKEUP;
	g->subs[GPROF_TRIGGER_SUB_WAKEUP].on_task = woken;
	g->subs[GPROF_TRIGGER_SUB_WAKEUP_NEW].tp = GPROF_TP_WAKEUP_NEW;
	g->subs[GPROF_TRIGGER_SUB_WAKEUP_NEW].on_task = woken_new;
	if (delay || blocked)
		g->joined |= 1U << GPROF_TRIGGER_SUB_WAKEUP;
	if (delay || blocked || gprof_triggers_want(g, GPROF_TRIGGER_OFF_CPU))
		g->joined |= 1U << GPROF_TRIGGER_SUB_WAKEUP_NEW;
}
