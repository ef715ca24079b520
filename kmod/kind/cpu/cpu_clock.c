// SPDX-License-Identifier: GPL-2.0-only
/*
 * cpu_clock: one interrupt per CPU for all timers that run there.
 *
 * perf's cpu-clock would do, but it costs as much as all the rest of a sample.
 *
 * Place of a sample. The time that a slot covers is cut into periods, each of
 * which has one sample at a random place. Were all places the same, a program
 * whose rhythm goes with the period (and the scheduler's own does, with round
 * numbers) would be seen at one point of it only. So the sum of the samples
 * follows the time to within a period, and every instant is sampled with the
 * same probability, however short the task.
 *
 * Slots with the same period that run together share their places, so that any
 * number of recorders at one rate cost one interrupt. One that joins amid a
 * period has two that it covers in part, so that its sum follows to within two.
 *
 * A user that asks for more than the machine can do gets a third of its time as the sampler sees
 * it: once samples have taken long, twice as much time passes without any, since the sampler does
 * not see the way out of the interrupt. Slots may come to be due meanwhile, and halt, and run
 * again; the samples that were left out are in the weight of the next one.
 *
 * The interrupt is lazy: it is set earlier when a slot needs it, but not put
 * off when a slot halts. It then finds nothing due, at most once for each sample.
 *
 * Nobody's time passes while a CPU sleeps. An interrupt that finds the idle task, which no slot
 * counts, is not set again before the CPU wakes; and where it did find it, the next sleeps begin
 * by calling it off. As that sets the CPU's timer twice for each sleep, it ends when several
 * sleeps in a row were too short to meet it. Samples that were due meanwhile would have been
 * left out, one by one.
 *
 * All here runs on the CPU in question with interrupts off, so there is no
 * lock. Setting the timer is allowed under the scheduler's locks: the timer is
 * pinned and runs in hard interrupts (on PREEMPT_RT too), so that nobody is
 * woken. perf does the same from the same place.
 */
#include "cpu_clock.h"
#include "compat/hrtimer.h"
#include "sample/sampler.h"
#include "target/target.h"

#include <asm/irq_regs.h>
#include <linux/irqflags.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/ptrace.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/timekeeping.h>

#define MODE		HRTIMER_MODE_ABS_PINNED_HARD
#define SHORT_NS	(50 * NSEC_PER_USEC)	/* twice the time of a sample on a slow machine */
#define CALLS_OFF	8			/* sleeps that are too short, in a row */
#define LONG_NS		(10 * NSEC_PER_MSEC)	/* more than any samples take */

DEFINE_PER_CPU(struct gprof_cpu_clock, gprof_cpu_clock);

/*
 * A linear congruence; its upper bits are good enough for a place. The product has up to 96
 * bits: by halves, for the compiler aligns the stack for a 128-bit one.
 */
static inline u64 random_place(struct gprof_slot *slot, u64 period)
{
	u64 random = slot->random * 6364136223846793005ULL + 1442695040888963407ULL;

	slot->random = random;
	random >>= 32;
	return ((u64)(u32)period * random >> 32) + (period >> 32) * random;
}

/* Late: periods have passed without their sample. */
static noinline u64 catch_up(struct gprof_slot *slot, u64 now, u64 period)
{
	u64 begin = slot->due - slot->place, periods = div64_u64(now - begin, period);

	begin += (periods - 1) * period;
	for (;;) {
		begin += period;
		slot->place = random_place(slot, period);
		slot->due = begin + slot->place;
		if ((s64)(slot->due - now) > 0)
			return periods;
		periods++;
	}
}

/* Goes on to the next sample; returns how many periods this one stands for. */
static inline u64 advance(struct gprof_slot *slot, u64 now, u64 period)
{
	u64 end = slot->due - slot->place + period, place;

	if (unlikely((s64)(now - end) >= 0))
		return catch_up(slot, now, period);
	place = random_place(slot, period);
	slot->place = place;
	slot->due = end + place;
	return 1;
}

static bool clock_belongs(const struct gprof_clock_spec *spec, struct pt_regs *regs)
{
	if (spec->user_only && !user_mode(regs))
		return false;
	if (!spec->with_idle && is_idle_task(current))
		return false;
	return gprof_target_has_current(spec->target);
}

static inline void expire(struct gprof_slot *slot, struct gprof_capture *c)
{
	const struct gprof_clock_spec *spec = slot->spec;
	u64 weight = advance(slot, c->time, spec->period) * spec->period;

	if (unlikely(spec->selective) && !clock_belongs(spec, c->regs))
		return;
	gprof_emit(c, spec->sampler, weight);
}

/**
 * gprof_slot_expire() - take the sample that is due
 * @slot: slot that runs
 * @c: capture of the current task at a time not before @slot->due
 *
 * All that are due at one time share it: the stack is walked once.
 *
 * Context: Interrupts off, on the slot's CPU.
 */
void gprof_slot_expire(struct gprof_slot *slot, struct gprof_capture *c)
{
	expire(slot, c);
}

/**
 * gprof_cpu_clock_rest() - samples have taken long: let the tasks run for a while
 * @c: this CPU's clock
 * @began: when they began
 *
 * Context: Interrupts off.
 */
void gprof_cpu_clock_rest(struct gprof_cpu_clock *c, u64 began)
{
	u64 now = ktime_get_mono_fast_ns();
	s64 took = now - began;

	/*
	 * A virtual machine's CPU may have been taken away meanwhile: that was not our work. A
	 * target that lives for less than a rest without bound would have no sample at all.
	 */
	took = clamp_t(s64, took, 0, LONG_NS);
	/* Twice, for neither the way out of it is seen here, nor caches that it cools. */
	c->rest = max(c->rest, now) + 2 * took;
}

/* Takes the due samples and returns their number; @next becomes the next time, if earlier. */
static inline unsigned int serve(struct list_head *slots, struct gprof_capture *c, u64 *next)
{
	u64 now = c->time;
	struct gprof_slot *slot;
	unsigned int served = 0;

	list_for_each_entry(slot, slots, node) {
		if ((s64)(now - slot->due) >= 0) {
			expire(slot, c);
			served++;
		}
		*next = min(*next, slot->due);
	}
	return served;
}

static inline unsigned int serve_all(struct gprof_cpu_clock *c, u64 now, struct pt_regs *regs,
				     u64 *next)
{
	struct gprof_capture capture __uninitialized;
	unsigned int served;

	gprof_capture(&capture, regs, now);
	served = serve(&c->always, &capture, next);
	served += serve(&c->task, &capture, next);
	gprof_captured(&capture);
	return served;
}

/* Is it nobody's time that passes? */
static bool nobody_counts(const struct gprof_cpu_clock *c)
{
	const struct gprof_slot *slot;

	list_for_each_entry(slot, &c->always, node) {
		if (slot->spec->with_idle)
			return false;
	}
	return list_empty(&c->task);
}

/**
 * gprof_cpu_clock_sleeps() - this CPU is about to sleep
 * @c: its clock
 *
 * Context: Interrupts off, in the idle task.
 */
void gprof_cpu_clock_sleeps(struct gprof_cpu_clock *c)
{
	c->sleeps = true;
	if (!c->calls_off || c->expires == U64_MAX || !nobody_counts(c))
		return;
	/* Its handler runs on this CPU alone, so not now. */
	hrtimer_try_to_cancel(&c->timer);
	c->called_off = c->expires;
	c->expires = U64_MAX;
}

/**
 * gprof_cpu_clock_wakes() - it does not sleep any more
 * @c: its clock
 *
 * Context: Interrupts off, in the idle task.
 */
void gprof_cpu_clock_wakes(struct gprof_cpu_clock *c)
{
	struct gprof_slot *slot;
	u64 now, next = U64_MAX;

	c->sleeps = false;
	if (likely(c->expires != U64_MAX) || list_empty(&c->always))
		return;
	now = ktime_get_mono_fast_ns();
	if (c->called_off) {
		c->calls_off = (s64)(now - c->called_off) >= 0 ? CALLS_OFF : c->calls_off - 1;
		c->called_off = 0;
	}
	list_for_each_entry(slot, &c->always, node) {
		/* A sample that was due was the idle task's. */
		if ((s64)(now - slot->due) >= 0)
			advance(slot, now, slot->spec->period);
		next = min(next, slot->due);
	}
	c->expires = max(next, c->rest);
	hrtimer_start(&c->timer, ns_to_ktime(c->expires), MODE);
}

static enum hrtimer_restart interrupt(struct hrtimer *timer)
{
	struct gprof_cpu_clock *c = container_of(timer, struct gprof_cpu_clock, timer);
	struct pt_regs *regs = get_irq_regs();
	u64 now, next = U64_MAX;
	unsigned int served;

	/* The fast clock may be a little behind the one that timers go by. */
	now = max(ktime_get_mono_fast_ns(), c->expires);
	if (unlikely(!regs)) {
		/* Not from an interrupt: no sample here, the next one stands for it. */
		next = now + NSEC_PER_MSEC;
	} else if (unlikely((s64)(now - c->rest) < 0)) {
		next = c->rest;
	} else {
		served = serve_all(c, now, regs, &next);
		if (next - now < SHORT_NS * served) {
			/* The way in is ours too, but not for how long others put it off. */
			gprof_cpu_clock_rest(c, max(c->expires, now - SHORT_NS));
			next = max(next, c->rest);
		}
	}
	if (unlikely(is_idle_task(current)) && nobody_counts(c)) {
		c->calls_off = CALLS_OFF;
		if (c->sleeps)
			next = U64_MAX;
	}
	c->expires = next;
	if (next == U64_MAX)
		return HRTIMER_NORESTART;
	hrtimer_set_expires(timer, ns_to_ktime(next));
	return HRTIMER_RESTART;
}

/* The schedule of a slot here with the same period that runs, or one of its own. */
static void slot_begin(struct gprof_slot *slot, const struct gprof_clock_spec *spec,
		       const struct list_head *list, u64 now)
{
	const struct gprof_slot *other;

	slot->spec = spec;
	list_for_each_entry(other, list, node) {
		if (other->spec->period != spec->period)
			continue;
		slot->due = other->due;
		slot->place = other->place;
		slot->random = other->random;
		/* A sample that is overdue stands for time before this slot's. */
		if (unlikely((s64)(now - slot->due) >= 0))
			advance(slot, now, spec->period);
		slot->due -= now;
		return;
	}
	slot->random = now ^ (u64)(unsigned long)slot;
	random_place(slot, spec->period);
	slot->place = random_place(slot, spec->period);
	slot->due = slot->place;
}

/**
 * gprof_slot_run() - let a slot run on this CPU
 * @slot: slot of this CPU; nothing happens when it runs already
 * @list: @always or @task of this CPU's clock
 * @spec: its clock; outlives it
 * @now: ktime_get_mono_fast_ns()
 *
 * Context: Interrupts off; the scheduler's locks may be held.
 */
void gprof_slot_run(struct gprof_slot *slot, struct list_head *list,
		    const struct gprof_clock_spec *spec, u64 now)
{
	struct gprof_cpu_clock *c = this_cpu_ptr(&gprof_cpu_clock);

	/* A reader of the members may see one that is just being replaced. */
	if (unlikely(!c->online || !list_empty(&slot->node)))
		return;
	if (unlikely(!slot->spec))
		slot_begin(slot, spec, list, now);
	list_add_tail(&slot->node, list);
	slot->due += now;
	/* Pairs with READ_ONCE() in gprof_slot_time(). */
	WRITE_ONCE(slot->time, (now - slot->time) | GPROF_SLOT_RUNS);
	if (slot->due < c->expires && c->rest < c->expires) {
		c->expires = max(slot->due, c->rest);
		hrtimer_start(&c->timer, ns_to_ktime(c->expires), MODE);
	}
}

/**
 * gprof_slot_halt() - let a slot stand
 * @slot: slot of this CPU that runs
 * @now: ktime_get_mono_fast_ns()
 *
 * The time left until the next sample is kept. One that is due already comes as soon
 * as it runs again, and stands for all that it is late by.
 *
 * Context: Interrupts off; the scheduler's locks may be held.
 */
void gprof_slot_halt(struct gprof_slot *slot, u64 now)
{
	list_del_init(&slot->node);
	slot->due -= now;
	/* Pairs with READ_ONCE() in gprof_slot_time(), smp_load_acquire() in gprof_slot_runs(). */
	smp_store_release(&slot->time, now - (slot->time & ~GPROF_SLOT_RUNS));
}

/**
 * gprof_slots_halt() - let all of a list stand
 * @slots: of this CPU
 * @now: ktime_get_mono_fast_ns()
 *
 * Context: As gprof_slot_halt().
 */
void gprof_slots_halt(struct list_head *slots, u64 now)
{
	struct gprof_slot *slot, *next;

	list_for_each_entry_safe(slot, next, slots, node)
		gprof_slot_halt(slot, now);
}

/**
 * gprof_slot_runs() - does it run?
 * @slot: slot of any CPU
 *
 * Context: Any.
 * Return: false: its CPU is done with it, unless it lets it run again.
 */
bool gprof_slot_runs(const struct gprof_slot *slot)
{
	/* Pairs with smp_store_release() in gprof_slot_halt(). */
	return smp_load_acquire(&slot->time) & GPROF_SLOT_RUNS;
}

/**
 * gprof_slot_time() - for how long has it run?
 * @slot: slot of any CPU
 *
 * Context: Any.
 * Return: ns.
 */
u64 gprof_slot_time(const struct gprof_slot *slot)
{
	/* Pairs with WRITE_ONCE() in gprof_slot_run() and _halt(). */
	u64 time = READ_ONCE(slot->time), now;

	if (!(time & GPROF_SLOT_RUNS))
		return time;
	now = ktime_get_mono_fast_ns();
	time &= ~GPROF_SLOT_RUNS;
	/* Clocks of two CPUs may differ by a little. */
	return now > time ? now - time : 0;
}

/**
 * gprof_cpu_clock_init() - prepare the clock of a CPU; no slot can run yet
 * @cpu: CPU
 *
 * Context: Task, in init.
 */
void gprof_cpu_clock_init(unsigned int cpu)
{
	struct gprof_cpu_clock *c = per_cpu_ptr(&gprof_cpu_clock, cpu);

	hrtimer_setup(&c->timer, interrupt, CLOCK_MONOTONIC, MODE);
	c->expires = U64_MAX;
	INIT_LIST_HEAD(&c->always);
	INIT_LIST_HEAD(&c->task);
}

/**
 * gprof_cpu_clock_online() - from now on slots may run on this CPU
 *
 * Context: Task on the CPU, under the hotplug lock.
 */
void gprof_cpu_clock_online(void)
{
	this_cpu_write(gprof_cpu_clock.online, true);
}

/**
 * gprof_cpu_clock_offline() - halt all slots on this CPU, which goes
 *
 * The timer must not be left behind: the kernel would move it to another CPU.
 *
 * Context: Task on the CPU, under the hotplug lock.
 */
void gprof_cpu_clock_offline(void)
{
	struct gprof_cpu_clock *c = this_cpu_ptr(&gprof_cpu_clock);
	u64 now;

	local_irq_disable();
	now = ktime_get_mono_fast_ns();
	gprof_slots_halt(&c->always, now);
	gprof_slots_halt(&c->task, now);
	c->online = false;
	c->called_off = 0;
	local_irq_enable();
	hrtimer_cancel(&c->timer);
	c->expires = U64_MAX;
}
