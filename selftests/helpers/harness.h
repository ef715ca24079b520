/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * harness.h: the kernel's kselftest_harness.h, and what all tests here add to it.
 */
#ifndef GPROF_TEST_HARNESS_H
#define GPROF_TEST_HARNESS_H

#include <kselftest_harness.h>

/* Emulated and instrumented kernels are slow; the default of 30 s is for real ones. */
#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT	240

/*
 * Leave out a test for want of a capability. SKIP() alone would turn a check
 * that failed before it into a pass.
 */
#define SKIP_UNLESS(_have, _fmt, ...) do {				\
	if (!(_have) && _metadata->passed)				\
		SKIP(return, _fmt, ##__VA_ARGS__);			\
	else if (!(_have))						\
		return;							\
} while (0)

#endif
