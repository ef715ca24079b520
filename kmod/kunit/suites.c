// SPDX-License-Identifier: GPL-2.0-only
/*
 * suites: the tests that run when the module of tests is loaded.
 */
#include "suites.h"

#include <linux/module.h>

kunit_test_suites(&gprof_ring_suite, &gprof_clock_suite);

MODULE_DESCRIPTION("KUnit tests of gprof");
MODULE_LICENSE("GPL");
