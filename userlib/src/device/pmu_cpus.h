/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * pmu_cpus.h: on which CPUs an event is counted, where the host has CPUs of several kinds.
 *
 *	devices/PMU/cpus	list of the CPUs whose own PMU it is; others have no such file
 *
 * Each kind of CPU has a PMU. A counter of a task is one PMU's, and stands still on all other
 * CPUs; perf opens one on each.
 */
#ifndef GPROF_PMU_CPUS_H
#define GPROF_PMU_CPUS_H

#include <linux/gprof.h>
#include <stdint.h>

#include "base/error.h"

/**
 * gprof_pmu_cpus_check() - is an event counted wherever the target is?
 * @sysfs: GPROF_PMU_SYSFS, or a test's imitation of it
 * @setup: target and CPUs of a recorder
 * @type: of the event, as perf_event_attr.type
 * @name: the event
 * @e: sentence on failure
 *
 * Return: 0, -EOPNOTSUPP or -ENOMEM.
 */
int gprof_pmu_cpus_check(const char *sysfs, const struct gprof_setup *setup, uint32_t type,
			 const char *name, struct gprof_error *e);

#endif /* GPROF_PMU_CPUS_H */
