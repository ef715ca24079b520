// SPDX-License-Identifier: GPL-2.0-only
/*
 * cycles: is the CPU's counter fit for use, and how fast does it run?
 *
 * On amd64 the kernel tells when it has found the time stamp counter wanting. On
 * arm64 the generic timer is the kernel's clock. Whoever reads durations
 * compares the counter with CLOCK_MONOTONIC as well, for a virtual machine may
 * move to another host.
 */
#include "cycles.h"

#include <linux/init.h>
#include <linux/math64.h>
#include <linux/time64.h>
#ifdef CONFIG_ARM64
#include <asm/arch_timer.h>
#else
#include <asm/tsc.h>
#endif

struct gprof_clock gprof_clock __read_mostly;

static u64 counter_hz(void)
{
#ifdef CONFIG_ARM64
	return arch_timer_get_cntfrq();
#else
	return check_tsc_unstable() ? 0 : tsc_khz * 1000ULL;
#endif
}

/**
 * gprof_cycles_init() - choose the clock, for as long as the module is loaded
 *
 * Context: Task.
 */
void __init gprof_cycles_init(void)
{
	u64 hz = counter_hz();

	gprof_clock.cheap = hz;
	gprof_clock.hz = hz ?: NSEC_PER_SEC;
	gprof_clock.mult = div64_u64((u64)NSEC_PER_SEC << 32, gprof_clock.hz);
}
