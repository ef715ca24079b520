// SPDX-License-Identifier: GPL-2.0-only
/*
 * clock: KUnit cases of CLOCK_MONOTONIC as it is reckoned here, against the kernel's own.
 */
#include "suites.h"

#include "../clock/clock.c"

#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/sched.h>

/* How often so many readings in a row were known here; no reading was before the kernel's. */
static unsigned int quick_ones(struct kunit *test, unsigned int readings)
{
	unsigned int i, quick = 0;

	for (i = 0; i < readings; i++) {
		u64 before = ktime_get_mono_fast_ns(), now = 0, after;
		bool known = gprof_clock_quick(&now);

		after = ktime_get_mono_fast_ns();
		if (!known)
			continue;
		quick++;
		/* An update that rounds otherwise may lie between. */
		if (now + 1 < before || now > after + 1) {
			KUNIT_FAIL(test, "%llu is not from %llu to %llu", now, before, after);
			break;
		}
	}
	return quick;
}

static int begin(struct kunit *test)
{
	return gprof_clock_init();
}

static void end(struct kunit *test)
{
	gprof_clock_exit();
}

/* For some updates, on every CPU where the case happens to be. */
static void it_is_the_kernels_time(struct kunit *test)
{
	unsigned long until = jiffies + HZ / 2;
	unsigned int quick = 0, readings = 0;

	do {
		quick += quick_ones(test, 1000);
		readings += 1000;
		cond_resched();
	} while (time_before(jiffies, until));
	kunit_info(test, "%u of %u readings were known here", quick, readings);
	if (READ_ONCE(gprof_mono_clock.span))
		KUNIT_EXPECT_GT(test, quick, readings / 2);
	else
		KUNIT_EXPECT_EQ(test, quick, 0U);
}

/* Or not at all: another clock, an old update, one that is being written. */
static void else_the_kernel_is_asked(struct kunit *test)
{
	struct clocksource other = { .vdso_clock_mode = VDSO_CLOCKMODE_NONE }, ours = other;
	static struct timekeeper tk;	/* too large for a stack */
	u64 now;

	gprof_clock_exit();
	/* as if the architecture had been asked */
	asked.clock = &ours;
	asked.mode = ours.vdso_clock_mode;
	asked.ours = true;
	tk.tkr_mono = (struct tk_read_base){
		.clock = &ours, .cycle_last = gprof_counter(), .mult = 1 << 8, .shift = 8,
		.base = 1000, .xtime_nsec = 7 << 8,
	};
	follow(&follower, 0, &tk);
	KUNIT_EXPECT_TRUE(test, gprof_clock_quick(&now));
	KUNIT_EXPECT_GE(test, now, 1007ULL);
	KUNIT_EXPECT_LT(test, now, 1007ULL + SPAN_NS);
	/* it is being written */
	gprof_mono_clock.begun++;
	KUNIT_EXPECT_FALSE(test, gprof_clock_quick(&now));
	/* the counter is behind, as another CPU's may be, or far from there */
	tk.tkr_mono.cycle_last = gprof_counter() + NSEC_PER_SEC;
	follow(&follower, 0, &tk);
	KUNIT_EXPECT_FALSE(test, gprof_clock_quick(&now));
	tk.tkr_mono.cycle_last = gprof_counter() - SPAN_NS;
	follow(&follower, 0, &tk);
	KUNIT_EXPECT_FALSE(test, gprof_clock_quick(&now));
	/* and none is like the one that is read */
	tk.tkr_mono.clock = &other;
	tk.tkr_mono.cycle_last = gprof_counter();
	follow(&follower, 0, &tk);
	KUNIT_EXPECT_FALSE(test, gprof_clock_quick(&now));
	gprof_clock_init();
}

static struct kunit_case clock_cases[] = {
	KUNIT_CASE(it_is_the_kernels_time),
	KUNIT_CASE(else_the_kernel_is_asked),
	{}
};

struct kunit_suite gprof_clock_suite = {
	.name = "gprof_mono_clock",
	.init = begin,
	.exit = end,
	.test_cases = clock_cases,
};
