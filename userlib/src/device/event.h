/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * event.h: names of events to the kernel's numbers.
 */
#ifndef GPROF_EVENT_H
#define GPROF_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "pmu.h"

/**
 * struct gprof_event - an event by its numbers
 * @pmu: type and config for the kernel
 * @period: preset events per sample (ns for the timer)
 * @timer: the period is time
 * @kernel_only: user mode has none
 */
struct gprof_event {
	struct gprof_pmu_event pmu;
	uint64_t period;
	bool timer;
	bool kernel_only;
};

/**
 * struct gprof_event_preset - an event that has a name of its own
 * @name: name
 * @type: as perf_event_attr.type
 * @config: as perf_event_attr.config
 * @period: events per sample unless told otherwise
 * @kernel_only: user mode has none
 */
struct gprof_event_preset {
	const char *name;
	uint32_t type;
	uint64_t config;
	uint64_t period;
	bool kernel_only;
};

/** gprof_event_presets() - all presets, the timer first; returns their number */
size_t gprof_event_presets(const struct gprof_event_preset **presets);

/**
 * gprof_event_parse() - find an event by name
 * @sysfs: GPROF_PMU_SYSFS, or a test's imitation of it
 * @name: as in struct gprof_cpu_event
 * @ev: result
 * @e: sentence on failure, which lists the events that exist
 *
 * Return: 0, -ENOENT, -EINVAL, or as gprof_pmu_parse().
 */
int gprof_event_parse(const char *sysfs, const char *name, struct gprof_event *ev,
		      struct gprof_error *e);

/** gprof_event_same() - do two names mean one event? */
bool gprof_event_same(const struct gprof_event *a, const struct gprof_event *b);

#endif /* GPROF_EVENT_H */
