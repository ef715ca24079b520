// SPDX-License-Identifier: GPL-2.0-only
/*
 * clock: follows the kernel's updates of its clock.
 *
 * Updates come one after another, under the timekeeper's lock; an NMI may come amid one, on
 * the same CPU, and does not wait for it (gprof_clock_quick()). The reckoning is that of
 * kernel/time/timekeeping.c, timekeeping_delta_to_ns().
 */
#include "clock.h"

#include <linux/clocksource.h>
#include <linux/math64.h>
#include <linux/notifier.h>
#include <linux/pvclock_gtod.h>
#include <linux/time64.h>
#include <linux/timekeeper_internal.h>

/*
 * Updates come at each tick, and before the context that ends a pause of ticks. The kernel's clock
 * stands still while the machine is suspended, which is not told here: nothing happens then that is
 * asked for its time, one CPU alone has its interrupts off.
 */
#define SPAN_NS		(NSEC_PER_SEC / 8)

struct gprof_mono_clock gprof_mono_clock;

/* The last answer of the architecture, which is not to be asked at each tick. */
static struct {
	const struct clocksource *clock;
	enum vdso_clock_mode mode;
	bool ours;
} asked;

static bool is_ours(const struct clocksource *clock)
{
	enum vdso_clock_mode mode = clock->vdso_clock_mode;

	if (clock != asked.clock || mode != asked.mode) {
		asked.ours = gprof_counter_is(mode);
		asked.clock = clock;
		asked.mode = mode;
	}
	return asked.ours;
}

static int follow(struct notifier_block *nb, unsigned long was_set, void *timekeeper)
{
	const struct tk_read_base *r = &((const struct timekeeper *)timekeeper)->tkr_mono;
	bool ours = is_ours(r->clock) && r->mult;
	struct gprof_mono_clock *m = &gprof_mono_clock;
	u32 number = m->begun + 1;

	WRITE_ONCE(m->begun, number);
	smp_wmb();	/* pairs with smp_rmb() in gprof_clock_quick() */
	WRITE_ONCE(m->span, ours ? div_u64((u64)SPAN_NS << r->shift, r->mult) : 0);
	WRITE_ONCE(m->shift, r->shift);
	WRITE_ONCE(m->last, r->cycle_last);
	WRITE_ONCE(m->mult, r->mult);
	WRITE_ONCE(m->nsec, r->xtime_nsec);
	WRITE_ONCE(m->base, ktime_to_ns(r->base));
	smp_store_release(&m->ended, number);	/* pairs with gprof_clock_quick()'s acquire */
	return NOTIFY_OK;
}

static struct notifier_block follower = { .notifier_call = follow };

/**
 * gprof_clock_init() - follow the kernel's clock from now on
 *
 * Context: Task.
 * Return: 0 or a negative errno.
 */
int gprof_clock_init(void)
{
	return pvclock_gtod_register_notifier(&follower);
}

/**
 * gprof_clock_exit() - follow it no more
 *
 * Context: Task; nobody reads it any more.
 */
void gprof_clock_exit(void)
{
	pvclock_gtod_unregister_notifier(&follower);
}
