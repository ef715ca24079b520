// SPDX-License-Identifier: GPL-2.0-only
/*
 * sched_probe: counts at switches, wake-ups and forks.
 *
 * Each started recorder joins the tracepoints, with its statistics as their data: no
 * probe is attached while nobody asks.
 *
 * A task becomes runnable when it is put on a run queue (sched_wakeup,
 * sched_wakeup_new), or when it is switched out and stays there. Both happen
 * under the lock of that queue, as does the switch that ends the wait, so that
 * the three never overlap for one task; but the wake-up may run on another CPU
 * than the switch, wherefore each CPU only adds to counters of its own.
 *
 * The way of a switch is counted in instructions: rare parts stand in
 * functions of their own.
 */
#include "clock/cycles.h"
#include "compat/sched.h"
#include "probe/tp_mux.h"
#include "sched.h"
#include "target/target.h"

#include <linux/gprof.h>
#include <linux/kernel.h>
#include <linux/percpu.h>

#define SAMPLED		1UL	/* in struct gprof_sched_bucket.task */

/* The seed's flag that is set hz times a second, and consumed by the first CPU that comes. */
static noinline unsigned long claim_sample(struct gprof_sched *s, u64 now)
{
	u64 due = READ_ONCE(s->next_sample);
	u64 period = READ_ONCE(s->sample_period);
	u64 next;

	if (now < due || !period)
		return 0;
	next = due + period * (div64_u64(now - due, period) + 1);
	return cmpxchg64(&s->next_sample, due, next) == due ? SAMPLED : 0;
}

/* Counters of two CPUs may differ a little, and one jump back after a suspend. */
static inline u64 cycles_since(u64 then, u64 now)
{
	u64 cycles = now - then;

	if (unlikely((s64)cycles < 0)) {
		barrier();	/* A branch that is not taken is cheaper than a cmov. */
		cycles = 0;
	}
	return cycles;
}

static noinline void store_sample(struct gprof_sched *s, u64 ns)
{
	struct gprof_sched_samples *ring = &s->samples;

	raw_spin_lock(&ring->lock);
	ring->ns[ring->count++ % GPROF_SCHED_SAMPLES] = ns;
	raw_spin_unlock(&ring->lock);
}

static inline struct gprof_sched_bucket *bucket_of(struct gprof_sched *s,
						   const struct task_struct *task)
{
	return &s->waits[task->pid & s->wait_mask];
}

static inline bool is_entry_of(unsigned long entry, const struct task_struct *task)
{
	return (entry ^ (unsigned long)task) <= SAMPLED;
}

static inline bool claim(struct gprof_sched_bucket *b, int way, unsigned long entry)
{
	long empty = 0;

	return atomic_long_try_cmpxchg(&b->task[way], &empty, entry);
}

/* The next owner of the way overwrites the values that were read before. */
static inline void release(struct gprof_sched_bucket *b, int way)
{
	atomic_long_set_release(&b->task[way], 0);
}

static inline bool has_stall(const struct gprof_sched *s)
{
	return s->flags & GPROF_SCHED_F_STALL;
}

static inline void count_wait(struct gprof_sched *s, u64 now, bool stall)
{
	struct gprof_sched_counters *c = this_cpu_ptr(s->counters);

	gprof_count(&c->sched, 1);
	if (stall && atomic_inc_and_test(&s->waiting))
		gprof_count(&c->stall, -now);
}

/* A sample is due, a way is taken, or the task waits already: woken again. */
static noinline void begin_other_wait(struct gprof_sched *s, struct task_struct *task, u64 now)
{
	struct gprof_sched_bucket *b = bucket_of(s, task);
	unsigned long entry = (unsigned long)task;
	int way;

	for (way = 0; way < GPROF_SCHED_WAYS; way++) {
		if (is_entry_of(atomic_long_read(&b->task[way]), task))
			return;
	}
	entry |= claim_sample(s, now);
	for (way = 0; way < GPROF_SCHED_WAYS; way++) {
		if (!claim(b, way, entry))
			continue;
		WRITE_ONCE(b->since[way], now);
		count_wait(s, now, has_stall(s));
		return;
	}
	/* No room: the switch counts it as missed. */
}

/* Without interrupts, under the lock of the task's run queue. */
static inline void begin_wait(struct gprof_sched *s, struct task_struct *task, u64 now, bool stall)
{
	struct gprof_sched_bucket *b = bucket_of(s, task);

	if (unlikely(now >= READ_ONCE(s->next_sample)) || unlikely(atomic_long_read(&b->task[1])) ||
	    unlikely(!claim(b, 0, (unsigned long)task))) {
		begin_other_wait(s, task, now);
		return;
	}
	WRITE_ONCE(b->since[0], now);
	count_wait(s, now, stall);
}

static inline void end_wait(struct gprof_sched *s, struct gprof_sched_counters *c,
			    struct gprof_sched_bucket *b, int way, u64 now, bool stall)
{
	u64 delay = cycles_since(READ_ONCE(b->since[way]), now);

	release(b, way);
	gprof_histogram_add(&c->delay, gprof_cycles_ns(delay));
	if (stall && atomic_add_negative(-1, &s->waiting))
		gprof_count(&c->stall, now);
}

static void end_other_wait(struct gprof_sched *s, struct task_struct *next, u64 now)
{
	struct gprof_sched_counters *c = this_cpu_ptr(s->counters);
	struct gprof_sched_bucket *b = bucket_of(s, next);
	int way;

	for (way = 0; way < GPROF_SCHED_WAYS; way++) {
		unsigned long entry = atomic_long_read(&b->task[way]);
		u64 since = READ_ONCE(b->since[way]);	/* perhaps of another task */

		if (!is_entry_of(entry, next))
			continue;
		end_wait(s, c, b, way, now, has_stall(s));
		/* After it was counted: there are never more samples than delays. */
		if (entry & SAMPLED)
			store_sample(s, now > since ? gprof_cycles_ns(now - since) : 0);
		return;
	}
	if (gprof_sched_matches(s, next))
		gprof_count(&c->missed, 1);
}

static bool counts_all(const struct gprof_sched *s)
{
	return s->whose.target->type == GPROF_TARGET_SYSTEM;
}

/*
 * Is the time since the last switch @prev's? Not where it ran before it belonged,
 * or its process came in while it ran: then nobody was told when it was switched in.
 */
static inline bool has_run(const struct gprof_sched *s, const struct gprof_sched_counters *c,
			   struct task_struct *prev, bool all)
{
	return all || (c->curr == prev && gprof_sched_matches(s, prev));
}

/*
 * A switch that is not the usual one from a task that sleeps to one that waited. No
 * clone of it, for that would want its arguments in other registers than those
 * in which they come.
 */
static noinline __noclone void other_switch(struct gprof_sched *s, bool preempt,
					    struct task_struct *prev, struct task_struct *next)
{
	struct gprof_sched_counters *c = this_cpu_ptr(s->counters);
	bool member = prev->pid && gprof_sched_matches(s, prev);
	u64 now = gprof_cycles();

	if (member && gprof_task_queued(prev))
		begin_wait(s, prev, now, has_stall(s));
	if (next->pid)
		end_other_wait(s, next, now);
	else
		gprof_count(&c->to_idle, 1);
	smp_wmb();	/* Pairs with the first smp_rmb() of sum_all(). */
	if (!prev->pid)
		gprof_count(&c->left_idle, gprof_sched_matches(s, next));
	else if (member && has_run(s, c, prev, counts_all(s)))
		gprof_histogram_add(&c->on_cpu, gprof_cycles_ns(cycles_since(c->last, now)));
	WRITE_ONCE(c->busy, next->pid);
	c->last = now;
	/* Nobody tells when a task outside the target to a target of tasks is switched out. */
	if (s->whose.tgids && !gprof_sched_matches(s, next))
		next = NULL;
	WRITE_ONCE(c->curr, next);
}

static inline void on_switch(struct gprof_sched *s, bool preempt, struct task_struct *prev,
			     struct task_struct *next, bool all, bool cheap, bool stall)
{
	struct gprof_sched_bucket *b = bucket_of(s, next);
	struct gprof_sched_counters *c;
	u64 now;

	/*
	 * The idle task is always queued, and never waits. Nobody else enters
	 * @next or takes it out; changes of the way by others do not matter.
	 */
	if (unlikely(gprof_task_queued(prev)) ||
	    unlikely(atomic_long_read(&b->task[0]) != (long)next)) {
		/* With the arguments where they are. */
		other_switch(s, preempt, prev, next);
		return;
	}
	c = this_cpu_ptr(s->counters);
	now = gprof_cycles_of(cheap);
	end_wait(s, c, b, 0, now, stall);
	/* After it: a reading never has more that went than came. */
	if (has_run(s, c, prev, all))
		gprof_histogram_add(&c->on_cpu, gprof_cycles_ns(cycles_since(c->last, now)));
	c->last = now;
	if (!all)
		WRITE_ONCE(c->curr, next);
}

static inline void on_wakeup(struct gprof_sched *s, struct task_struct *task, bool all, bool cheap,
			     bool stall)
{
	/* A task that was about to sleep and still runs does not wait. */
	if (unlikely(task->on_cpu))
		return;
	if (all || gprof_sched_matches(s, task))
		begin_wait(s, task, gprof_cycles_of(cheap), stall);
}

/*
 * One for each combination, since each test would cost every switch something, as
 * would being open to ftrace.
 */
#define SWITCH_PROBE(_name, _all, _cheap, _stall)				\
static notrace void switch_##_name(void *data, bool preempt,			\
				   struct task_struct *prev,			\
				   struct task_struct *next, unsigned int state) \
{										\
	on_switch(data, preempt, prev, next, _all, _cheap, _stall);		\
}

#define WAKEUP_PROBE(_name, _all, _cheap, _stall)				\
static notrace void wakeup_##_name(void *data, struct task_struct *task)	\
{										\
	on_wakeup(data, task, _all, _cheap, _stall);				\
}

SWITCH_PROBE(some_slow, false, false, false)
SWITCH_PROBE(some_slow_stall, false, false, true)
SWITCH_PROBE(some, false, true, false)
SWITCH_PROBE(some_stall, false, true, true)
SWITCH_PROBE(all_slow, true, false, false)
SWITCH_PROBE(all_slow_stall, true, false, true)
SWITCH_PROBE(all, true, true, false)
SWITCH_PROBE(all_stall, true, true, true)
WAKEUP_PROBE(some_slow, false, false, false)
WAKEUP_PROBE(some_slow_stall, false, false, true)
WAKEUP_PROBE(some, false, true, false)
WAKEUP_PROBE(some_stall, false, true, true)
WAKEUP_PROBE(all_slow, true, false, false)
WAKEUP_PROBE(all_slow_stall, true, false, true)
WAKEUP_PROBE(all, true, true, false)
WAKEUP_PROBE(all_stall, true, true, true)

/* In the parent, before the child runs. */
static void newtask(void *data, struct task_struct *task)
{
	struct gprof_sched *s = data;

	if (gprof_sched_inherits(s, task))
		this_cpu_inc(s->counters->created);
}

struct probes {
	void (*on_switch)(void *data, bool preempt, struct task_struct *prev,
			  struct task_struct *next, unsigned int state);
	void (*on_wakeup)(void *data, struct task_struct *task);
};

#define PAIR(_name)	{ switch_##_name, wakeup_##_name }

static const struct probes *probes_for(const struct gprof_sched *s)
{
	static const struct probes probes[2][2][2] = {	/* all, cheap, stall */
		{ { PAIR(some_slow), PAIR(some_slow_stall) }, { PAIR(some), PAIR(some_stall) } },
		{ { PAIR(all_slow), PAIR(all_slow_stall) }, { PAIR(all), PAIR(all_stall) } },
	};
	return &probes[counts_all(s)][gprof_clock.cheap][has_stall(s)];
}

static int join(struct gprof_sched *s)
{
	const struct probes *p = probes_for(s);
	unsigned int i;

	/* Switches first, so that no wait is begun whose end is not seen. */
	s->subs[0].tp = GPROF_TP_SWITCH;
	s->subs[0].on_switch = p->on_switch;
	s->subs[1].tp = GPROF_TP_WAKEUP;
	s->subs[1].on_task = p->on_wakeup;
	s->subs[2].tp = GPROF_TP_WAKEUP_NEW;
	s->subs[2].on_task = p->on_wakeup;
	s->subs[3].tp = GPROF_TP_NEWTASK;
	s->subs[3].on_task = newtask;
	for (i = 0; i < ARRAY_SIZE(s->subs); i++) {
		s->subs[i].data = s;
		s->subs[i].tracked_only = s->whose.tgids;
	}
	return gprof_tp_subscribe_all(s->subs, ARRAY_SIZE(s->subs));
}

/* The task that ran before the first switch is unknown, but the one that runs now is not. */
static void init_cpu(void *data)
{
	struct gprof_sched *s = data;
	struct gprof_sched_counters *c = this_cpu_ptr(s->counters);

	if (!c->curr) {
		WRITE_ONCE(c->curr, current);
		WRITE_ONCE(c->busy, current->pid);
	}
	if (!c->last)
		c->last = gprof_cycles();
}

/**
 * gprof_sched_attach() - begin to count
 * @s: statistics, all zero
 *
 * Context: Task.
 * Return: 0 or a negative errno; nothing is counted then.
 */
int gprof_sched_attach(struct gprof_sched *s)
{
	int err = join(s);

	if (err)
		return err;
	err = gprof_sched_attach_calls(s);
	if (err) {
		gprof_tp_unsubscribe_all(s->subs, ARRAY_SIZE(s->subs));
		return err;
	}
	/* Of tasks it is not known before they are of the task set (note_current()). */
	if (!s->whose.tgids)
		on_each_cpu(init_cpu, s, 1);
	return 0;
}

/**
 * gprof_sched_detach() - end it; no counter moves when it returns
 * @s: statistics
 *
 * Context: Task.
 */
void gprof_sched_detach(struct gprof_sched *s)
{
	gprof_sched_detach_calls(s);
	gprof_tp_unsubscribe_all(s->subs, ARRAY_SIZE(s->subs));
}

/**
 * gprof_sched_set_rate() - sample that many delays in a second from now on
 * @s: statistics
 * @hz: rate, 0: none
 *
 * Context: Task.
 */
void gprof_sched_set_rate(struct gprof_sched *s, u32 hz)
{
	u64 period = hz ? div_u64(gprof_clock.hz, hz) : 0;

	WRITE_ONCE(s->hz, hz);
	WRITE_ONCE(s->sample_period, max_t(u64, period, 1));
	WRITE_ONCE(s->next_sample, hz ? gprof_cycles() + period : U64_MAX);
}
