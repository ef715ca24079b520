/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * suites: the module's KUnit suites, each a file.
 */
#ifndef GPROF_KUNIT_SUITES_H
#define GPROF_KUNIT_SUITES_H

#include <kunit/test.h>

extern struct kunit_suite gprof_ring_suite;
extern struct kunit_suite gprof_clock_suite;

#endif /* GPROF_KUNIT_SUITES_H */
