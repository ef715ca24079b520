// SPDX-License-Identifier: GPL-2.0-only
/*
 * sched_read: add up the counts of the CPUs.
 *
 * Nothing stops meanwhile. The promises of a reading follow from the order in
 * which it looks: a part before that of which it is one. The end of a wait
 * came after its begin, and so is seen with it (amd64 and arm64 both make a
 * store visible to all others at once); and a switch is counted for the next task
 * before it is for the previous one.
 */
#include "clock/cycles.h"
#include "sched.h"
#include "target/target.h"

#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/gprof.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/timekeeping.h>

#define STALL_TRIES	100
#define FAULT_TRIES	10

static void add_buckets(struct gprof_histogram *to, const struct gprof_histogram *from)
{
	unsigned int i;

	for (i = 0; i < GPROF_HISTOGRAM_BUCKETS; i++)
		to->buckets[i] += READ_ONCE(from->buckets[i]);
}

static void merge_max(struct gprof_histogram *to, const struct gprof_histogram *from)
{
	to->max = max_t(u64, to->max, READ_ONCE(from->max));
}

/*
 * The sum is the time stalled, less the time at which the current stall began
 * if there is one; which can be told by the sign, since that is longer ago than
 * all stalls together. CPUs are not read at one instant: a sum in which a stall
 * begins twice or ends twice is as far off as the age of the machine, and
 * read again.
 *
 * The time of the reading is the time of this sum, the only one that grows by
 * itself: a reader that is away between the two finds more stall than time.
 */
static u64 sum_stall(struct gprof_sched *s, u64 *time_ns)
{
	unsigned int tries;
	u64 now = 0, sum = 0;
	int cpu;

	for (tries = 0; tries < STALL_TRIES; tries++) {
		sum = 0;
		preempt_disable();
		for_each_possible_cpu(cpu)
			sum += READ_ONCE(per_cpu_ptr(s->counters, cpu)->stall);
		now = gprof_cycles();
		*time_ns = ktime_get_mono_fast_ns();
		preempt_enable();
		if ((s64)sum < 0)
			sum += now;
		if (sum <= now - s->started_cycles + gprof_clock.hz)
			return gprof_cycles_ns(sum);
		cpu_relax();
	}
	return 0;	/* The caller does not go backwards. */
}

static void sum_all(struct gprof_sched *s, struct gprof_sched_totals *t)
{
	struct gprof_sched_counters *c;
	int cpu;

	memset(t, 0, sizeof(*t));
	for_each_possible_cpu(cpu) {
		c = per_cpu_ptr(s->counters, cpu);
		add_buckets(&t->on_cpu, &c->on_cpu);
		t->left_idle += READ_ONCE(c->left_idle);
	}
	smp_rmb();	/* Pairs with gprof_histogram_add() and smp_wmb() in other_switch(). */
	for_each_possible_cpu(cpu) {
		c = per_cpu_ptr(s->counters, cpu);
		add_buckets(&t->delay, &c->delay);
		t->missed += READ_ONCE(c->missed);
	}
	smp_rmb();	/* Pairs with the last smp_wmb() in gprof_histogram_add(). */
	for_each_possible_cpu(cpu) {
		c = per_cpu_ptr(s->counters, cpu);
		merge_max(&t->delay, &c->delay);
		merge_max(&t->on_cpu, &c->on_cpu);
	}
	smp_rmb();	/* Pairs with the first smp_wmb() in gprof_histogram_add(). */
	for_each_possible_cpu(cpu) {
		c = per_cpu_ptr(s->counters, cpu);
		t->delay.sum += READ_ONCE(c->delay.sum);
		t->on_cpu.sum += READ_ONCE(c->on_cpu.sum);
		t->sched += READ_ONCE(c->sched);
		t->to_idle += READ_ONCE(c->to_idle);
		t->created += READ_ONCE(c->created);
		t->calls += READ_ONCE(c->calls);
		t->faults += READ_ONCE(c->faults);
	}
	t->sched += t->missed;
	t->faults_missed = gprof_sched_faults_missed(s);
	t->time_ns = ktime_get_mono_fast_ns();
	if (s->flags & GPROF_SCHED_F_STALL)
		t->stall = sum_stall(s, &t->time_ns);
}

static void forget_samples(struct gprof_sched *s)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&s->samples.lock, flags);
	s->samples.count = 0;
	memset(s->samples.ns, 0, sizeof(s->samples.ns));
	raw_spin_unlock_irqrestore(&s->samples.lock, flags);
}

struct base {
	struct gprof_sched *s;
	struct gprof_sched_counters *c;
};

/* On the CPU that writes them, without interrupts: nothing is added meanwhile. */
static void begin_switches(void *data)
{
	struct base *b = data;
	struct gprof_sched_totals *t = &b->s->base;

	t->missed += b->c->missed;
	t->to_idle += b->c->to_idle;
	t->left_idle += b->c->left_idle;
	add_buckets(&t->delay, &b->c->delay);
	add_buckets(&t->on_cpu, &b->c->on_cpu);
	t->delay.sum += b->c->delay.sum;
	t->on_cpu.sum += b->c->on_cpu.sum;
	/* The largest is the one thing that cannot be subtracted. */
	WRITE_ONCE(b->c->delay.max, 0);
	WRITE_ONCE(b->c->on_cpu.max, 0);
}

/* It adds nothing, and need not be asked for it; its counts from now on are after START. */
static bool has_counted(const struct gprof_sched_counters *c)
{
	return READ_ONCE(c->missed) || READ_ONCE(c->to_idle) || READ_ONCE(c->left_idle) ||
	       gprof_histogram_count(&c->delay) || gprof_histogram_count(&c->on_cpu);
}

/**
 * gprof_sched_begin() - the counts until now are from before START
 * @s: statistics, attached
 *
 * Context: Task, can sleep.
 */
void gprof_sched_begin(struct gprof_sched *s)
{
	struct base b = { .s = s };
	int cpu;

	sum_all(s, &s->base);
	memset(&s->base.delay, 0, sizeof(s->base.delay));
	memset(&s->base.on_cpu, 0, sizeof(s->base.on_cpu));
	s->base.missed = 0;
	s->base.to_idle = 0;
	s->base.left_idle = 0;
	cpus_read_lock();
	for_each_possible_cpu(cpu) {
		b.c = per_cpu_ptr(s->counters, cpu);
		if (!has_counted(b.c))
			continue;
		if (smp_call_function_single(cpu, begin_switches, &b, 1))
			begin_switches(&b);	/* offline */
	}
	cpus_read_unlock();
	/* A task that waited already is taken to have become runnable now. */
	s->base.sched = gprof_histogram_count(&s->base.delay) + s->base.missed;
	forget_samples(s);
}

static void subtract(struct gprof_histogram *h, const struct gprof_histogram *base)
{
	unsigned int i;

	h->sum -= base->sum;
	for (i = 0; i < GPROF_HISTOGRAM_BUCKETS; i++)
		h->buckets[i] -= base->buckets[i];
}

/**
 * gprof_sched_since_start() - the counts since START
 * @s: statistics with their base
 * @t: totals
 *
 * Context: Task.
 */
void gprof_sched_since_start(struct gprof_sched *s, struct gprof_sched_totals *t)
{
	const struct gprof_sched_totals *base = &s->base;

	sum_all(s, t);
	t->sched -= base->sched;
	t->missed -= base->missed;
	t->to_idle -= base->to_idle;
	t->left_idle -= base->left_idle;
	t->created -= base->created;
	t->calls -= base->calls;
	t->faults -= base->faults;
	t->stall = t->stall > base->stall ? t->stall - base->stall : 0;
	subtract(&t->delay, &base->delay);
	subtract(&t->on_cpu, &base->on_cpu);
	/* CPUs were not asked for both at one instant. */
	t->stall = max(t->stall, s->final.stall);
	s->final.stall = t->stall;
}

/**
 * gprof_sched_clock_doubtful() - did the counter leave the kernel's clock? Or did a
 * process not come into the task set, for want of memory?
 * @s: statistics
 *
 * More than 0.1 % and a millisecond, which the slewing of CLOCK_MONOTONIC
 * (0.05 %) never reaches.
 *
 * Context: Task.
 */
bool gprof_sched_clock_doubtful(struct gprof_sched *s)
{
	u64 cycles = gprof_cycles_ns(gprof_cycles() - s->started_cycles);
	u64 ns = ktime_get_mono_fast_ns() - s->started_ns;
	u64 apart = cycles > ns ? cycles - ns : ns - cycles;

	if (READ_ONCE(s->incomplete))
		return true;
	return apart > ns / 1000 + NSEC_PER_MSEC;
}

static bool runs_member(struct gprof_sched *s, const struct gprof_sched_counters *c)
{
	struct task_struct *curr;

	if (!s->whose.tgids && !s->whose.cgroup)
		return READ_ONCE(c->busy);
	/* A task that has been switched out may be freed after a grace period. */
	curr = READ_ONCE(c->curr);
	return curr && curr->pid && gprof_sched_matches_now(s, curr);
}

static u64 count_running(struct gprof_sched *s)
{
	u64 running = 0;
	int cpu;

	rcu_read_lock();
	/*
	 * After STOP nobody takes those away that are switched out, and may be freed.
	 * Pairs with WRITE_ONCE() in stop(), which then waits for a grace period.
	 */
	if (READ_ONCE(s->state) == GPROF_SCHED_COUNTS) {
		for_each_online_cpu(cpu)
			running += runs_member(s, per_cpu_ptr(s->counters, cpu));
	}
	rcu_read_unlock();
	return running;
}

/*
 * Entries of the table, each of them true when it was looked at: the begins minus the
 * ends are too many by all that switched while the sums were taken.
 */
static u64 count_waiting(const struct gprof_sched *s)
{
	const struct gprof_sched_bucket *b;
	u64 waiting = 0;
	int way;

	for (b = s->waits; b <= s->waits + s->wait_mask; b++) {
		for (way = 0; way < GPROF_SCHED_WAYS; way++)
			waiting += !!atomic_long_read(&b->task[way]);
	}
	return waiting;
}

static void read_samples(struct gprof_sched *s, struct gprof_sched_reading *r)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&s->samples.lock, flags);
	r->samples = s->samples.count;
	memcpy(r->sample_ns, s->samples.ns, sizeof(r->sample_ns));
	raw_spin_unlock_irqrestore(&s->samples.lock, flags);
}

static u64 sum_faults_left(struct gprof_sched *s)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(s->counters, cpu)->faults_left);
	return sum;
}

/*
 * Faults that begin while the sums are taken make it too large: the smallest of
 * some, or the first in which none ended meanwhile.
 */
static u64 count_in_fault(struct gprof_sched *s)
{
	u64 entered, left, again, least = U64_MAX;
	unsigned int tries;
	int cpu;

	again = sum_faults_left(s);
	for (tries = 0; tries < FAULT_TRIES; tries++) {
		left = again;
		entered = 0;
		for_each_possible_cpu(cpu)
			entered += READ_ONCE(per_cpu_ptr(s->counters, cpu)->faults_entered);
		again = sum_faults_left(s);
		least = min(least, entered - left);
		if (again == left)
			break;
	}
	return least;
}

/* Totals, which are right in every state; false: there are none. */
static bool read_totals(struct gprof_sched *s, struct gprof_sched_reading *r,
			enum gprof_sched_state *state)
{
	mutex_lock(&s->phase);
	*state = s->state;
	r->started_ns = s->started_ns;
	read_samples(s, r);
	if (*state == GPROF_SCHED_STANDS) {
		r->totals = s->final;
		r->doubtful = s->doubtful;
	} else if (r->started_ns) {
		gprof_sched_since_start(s, &r->totals);
		r->doubtful = gprof_sched_clock_doubtful(s);
	}
	mutex_unlock(&s->phase);
	return r->started_ns;
}

/**
 * gprof_sched_read() - all there is to know
 * @s: statistics
 * @r: reading
 *
 * Context: Task, beside START and STOP. Tasks are counted without any lock: that
 * takes as long as there are tasks.
 * Return: whether there is something: it was started. While it is started anew, the
 * counts of the last STOP.
 */
bool gprof_sched_read(struct gprof_sched *s, struct gprof_sched_reading *r)
{
	enum gprof_sched_state state;

	memset(r, 0, sizeof(*r));
	r->all = s->whose.target->type == GPROF_TARGET_SYSTEM;
	r->flags = s->flags;
	r->hz = s->hz;
	r->online = num_online_cpus();
	if (!read_totals(s, r, &state))
		return false;
	if (state != GPROF_SCHED_COUNTS)
		return true;
	r->running = count_running(s);
	r->in_fault = count_in_fault(s);
	r->waiting = count_waiting(s);
	gprof_sched_population(s, r);
	return true;
}
