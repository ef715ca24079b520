/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * clock: CLOCK_MONOTONIC at half the price, for events at each context switch.
 *
 * ktime_get_mono_fast_ns() says the same, to the nanosecond, and is for all that is not as
 * often: two calls, one of them indirect, and a choice between two copies are 40 to 60
 * instructions, a third of those of a trace's event. The kernel tells its subscribers the
 * parameters of its clock at each update (pvclock_gtod_register_notifier(), as KVM
 * does); with that, and the counter where programs may read it too, the rest is inline.
 *
 * Where the kernel keeps another clock, or its last update is long ago, and while an update
 * is going on, it is asked itself.
 */
#ifndef GPROF_CLOCK_H
#define GPROF_CLOCK_H

#include "arch/arch.h"

#include <linux/cache.h>
#include <linux/compiler.h>
#include <linux/timekeeping.h>
#include <linux/types.h>
#include <asm/barrier.h>

/**
 * struct gprof_mono_clock - numbers that the kernel's time is reckoned with, as of its last update
 * @ended: number of the update that has written this
 * @begun: number of the last that has begun to
 * @shift: nanoseconds have so many bits of fraction
 * @last: the counter then
 * @span: for so many cycles from then on; 0: the kernel is to be asked
 * @mult: nanoseconds per cycle, shifted
 * @nsec: nanoseconds beyond @base, shifted
 * @base: CLOCK_MONOTONIC in ns, but for @nsec
 */
struct gprof_mono_clock {
	u32 ended;
	u32 begun;
	u64 shift;
	u64 last;
	u64 span;
	u64 mult;
	u64 nsec;
	u64 base;
} ____cacheline_aligned;

extern struct gprof_mono_clock gprof_mono_clock;

/**
 * gprof_clock_quick() - now, unless the kernel has to be asked
 * @now: becomes CLOCK_MONOTONIC in ns
 *
 * Context: Any.
 * Return: whether it is known.
 */
static inline bool gprof_clock_quick(u64 *now)
{
	const struct gprof_mono_clock *m = &gprof_mono_clock;
	u32 number = smp_load_acquire(&m->ended);	/* pairs with follow()'s release */
	u64 cycles = gprof_counter() - READ_ONCE(m->last);

	if (unlikely(cycles >= READ_ONCE(m->span)))
		return false;
	*now = READ_ONCE(m->base) +
	       ((cycles * READ_ONCE(m->mult) + READ_ONCE(m->nsec)) >> READ_ONCE(m->shift));
	smp_rmb();	/* pairs with smp_wmb() in follow(): of one update all of it, or none */
	return likely(READ_ONCE(m->begun) == number);
}

/**
 * gprof_clock_ns() - now
 *
 * Context: Any.
 * Return: CLOCK_MONOTONIC in ns.
 */
static inline u64 gprof_clock_ns(void)
{
	u64 now;

	return likely(gprof_clock_quick(&now)) ? now : ktime_get_mono_fast_ns();
}

int gprof_clock_init(void);
void gprof_clock_exit(void);

#endif /* GPROF_CLOCK_H */
