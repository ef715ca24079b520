/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * High-resolution timers.
 *
 * hrtimer_setup(): 6.13; before, hrtimer_init(), and the caller sets the function.
 */
#ifndef GPROF_COMPAT_HRTIMER_H
#define GPROF_COMPAT_HRTIMER_H

#include <linux/hrtimer.h>

#ifndef GPROF_HAVE_HRTIMER_SETUP
static inline void hrtimer_setup(struct hrtimer *timer,
				 enum hrtimer_restart (*function)(struct hrtimer *),
				 clockid_t clock_id, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock_id, mode);
	timer->function = function;
}
#endif

#endif /* GPROF_COMPAT_HRTIMER_H */
