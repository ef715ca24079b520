/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * pmu.h: the kernel's PMUs and their events, as /sys/bus/event_source tells.
 *
 *	devices/PMU/type		number of the PMU
 *	devices/PMU/events/EVENT	terms, such as "event=0x3c,umask=0x01"
 *	devices/PMU/format/TERM		which bits, such as "config1:0-7,32-35"
 */
#ifndef GPROF_PMU_H
#define GPROF_PMU_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define GPROF_PMU_SYSFS	"/sys/bus/event_source/devices"

/**
 * struct gprof_pmu_event - an event by perf's numbers
 * @type: as perf_event_attr.type
 * @config: as perf_event_attr.config, config1, config2
 */
struct gprof_pmu_event {
	uint32_t type;
	uint64_t config[3];
};

/**
 * gprof_pmu_parse() - numbers of "PMU/EVENT/" or "PMU/term=value,.../"
 * @sysfs: GPROF_PMU_SYSFS, or a test's imitation of it
 * @name: the event; terms after an event's name change its terms
 * @ev: result
 * @e: sentence on failure
 *
 * Return: 0, -ENOENT (no such PMU, event or term), -EINVAL (syntax, a value
 * that does not fit), -EIO (sysfs says something that is not understood).
 */
int gprof_pmu_parse(const char *sysfs, const char *name, struct gprof_pmu_event *ev,
		    struct gprof_error *e);

/**
 * gprof_pmu_find() - numbers of an event that some PMU knows by name
 * @sysfs: as above
 * @event: name of the event alone
 * @ev: result
 * @e: sentence on failure
 *
 * Return: 0, -ENOENT, or as gprof_pmu_parse().
 */
int gprof_pmu_find(const char *sysfs, const char *event, struct gprof_pmu_event *ev,
		   struct gprof_error *e);

/** gprof_pmu_list() - sorted names of PMUs, or of the events of one, for gprof_pmu_list_free() */
int gprof_pmu_list(const char *sysfs, const char *pmu, char ***names, size_t *nr);
void gprof_pmu_list_free(char **names, size_t nr);

#endif /* GPROF_PMU_H */
