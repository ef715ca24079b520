/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cycles: the cheapest clock there is, for durations.
 *
 * The CPU's own counter where the kernel trusts it, since the kernel's clock
 * costs twice as much as all else that happens at a context switch; the kernel's
 * clock where it does not. Only differences mean something.
 */
#ifndef GPROF_CYCLES_H
#define GPROF_CYCLES_H

#include <linux/compiler.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/timex.h>
#include <linux/types.h>

/**
 * struct gprof_clock - which clock, and how fast it runs
 * @cheap: the CPU's counter, else CLOCK_MONOTONIC
 * @mult: nanoseconds per cycle, 32 bits of fraction
 * @hz: cycles per second
 *
 * Fixed while the module is loaded.
 */
struct gprof_clock {
	bool cheap;
	u64 mult;
	u64 hz;
};

extern struct gprof_clock gprof_clock;

/**
 * gprof_cycles_of() - now, where the caller knows the clock
 * @cheap: as gprof_clock.cheap is
 *
 * Context: Any.
 */
static inline u64 gprof_cycles_of(bool cheap)
{
	return cheap ? get_cycles() : ktime_get_mono_fast_ns();
}

/**
 * gprof_cycles() - now
 *
 * Context: Any.
 */
static inline u64 gprof_cycles(void)
{
	return gprof_cycles_of(gprof_clock.cheap);
}

/**
 * gprof_cycles_ns() - a duration in nanoseconds
 * @cycles: difference of two gprof_cycles()
 */
static inline u64 gprof_cycles_ns(u64 cycles)
{
#ifdef CONFIG_X86_64
	u64 high;

	/* For the same in C the compiler makes a stack frame. */
	asm("mulq %2\n\tshrdq $32, %1, %0" : "+a" (cycles), "=&d" (high)
	    : "rm" (gprof_clock.mult) : "cc");
	return cycles;
#else
	return mul_u64_u64_shr(cycles, gprof_clock.mult, 32);
#endif
}

void gprof_cycles_init(void);

#endif /* GPROF_CYCLES_H */
