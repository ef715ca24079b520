// SPDX-License-Identifier: GPL-2.0-only
/*
 * cycles: is the CPU's counter fit for use, and how fast does it run?
 *
 * On amd64 the kernel tells when it has found the time stamp counter wanting. On
 * arm64 and riscv64 the counter is the kernel's clock. A reader of durations
 * compares the counter with CLOCK_MONOTONIC as well, for a virtual machine may
 * move to another host.
 */
#include "cycles.h"

#include "arch/arch.h"

#include <linux/init.h>
#include <linux/math64.h>
#include <linux/time64.h>

struct gprof_clock gprof_clock __read_mostly;

/**
 * gprof_cycles_init() - choose the clock, for as long as the module is loaded
 *
 * Context: Task.
 */
void __init gprof_cycles_init(void)
{
	u64 hz = gprof_counter_hz();

	gprof_clock.cheap = hz;
	gprof_clock.hz = hz ?: NSEC_PER_SEC;
	gprof_clock.mult = div64_u64((u64)NSEC_PER_SEC << 32, gprof_clock.hz);
}
