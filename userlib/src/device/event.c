// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * event.c: names of events to the kernel's numbers.
 */
#include "event.h"

#include <ctype.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

/*
 * Preset periods aim at some 1000 samples per second of busy CPU at 2.4 GHz,
 * where sampling costs as little as at 100 (golang/go 36821, section 6.2), and
 * stay below some 10000 for code that does nothing but cause the event:
 * one instruction a cycle, every fifth a branch, one branch in 30 mispredicted,
 * one cycle in 20 a reference of the last-level cache, one in 100 a miss.
 *
 * Software events have perf's names, and are rare enough to be sampled each time.
 */
static const struct gprof_event_preset presets[] = {
	{ "timer", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 10000000, false },
	{ "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 2400000, false },
	{ "instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, 2400000, false },
	{ "cacheReferences", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES, 100000, false },
	{ "cacheMisses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, 20000, false },
	{ "branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 500000, false },
	{ "branchMisses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, 20000, false },
	{ "page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 1, false },
	{ "minor-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN, 1, false },
	{ "major-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ, 1, false },
	{ "context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, 1, true },
	{ "cpu-migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS, 1, true },
	{ "alignment-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_ALIGNMENT_FAULTS, 1, false },
	{ "emulation-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_EMULATION_FAULTS, 1, false },
};

#define PERIOD_OTHER	1000000		/* of an event that nothing is known of */
#define NR_PRESETS	(sizeof(presets) / sizeof(presets[0]))

size_t gprof_event_presets(const struct gprof_event_preset **p)
{
	*p = presets;
	return NR_PRESETS;
}

/* "r" and hexadecimal digits. */
static int parse_raw(const char *name, uint64_t *config)
{
	const char *p;
	char *end;

	if (name[0] != 'r' || !name[1])
		return -ENOENT;
	for (p = name + 1; *p; p++)
		if (!isxdigit((unsigned char)*p))
			return -ENOENT;
	errno = 0;
	*config = strtoull(name + 1, &end, 16);
	return errno || *end ? -EINVAL : 0;
}

int gprof_event_parse(const char *sysfs, const char *name, struct gprof_event *ev,
		      struct gprof_error *e)
{
	size_t i;
	int err;

	memset(ev, 0, sizeof(*ev));
	ev->period = PERIOD_OTHER;
	for (i = 0; i < NR_PRESETS; i++) {
		if (strcmp(name, presets[i].name))
			continue;
		ev->pmu.type = presets[i].type;
		ev->pmu.config[0] = presets[i].config;
		ev->period = presets[i].period;
		ev->timer = i == 0;
		ev->kernel_only = presets[i].kernel_only;
		return 0;
	}
	if (strchr(name, '/')) {
		err = gprof_pmu_parse(sysfs, name, &ev->pmu, e);
	} else {
		err = parse_raw(name, &ev->pmu.config[0]);
		if (!err) {
			ev->pmu.type = PERF_TYPE_RAW;
			return 0;
		}
		if (err == -EINVAL)
			return gprof_error_set(e, EINVAL,
					       "%.64s: a raw event has at most 16 hexadecimal "
					       "digits", name);
		err = gprof_pmu_find(sysfs, name, &ev->pmu, e);
		if (err == -ENOENT && strchr(name, ':'))
			return gprof_error_set(e, ENOENT,
					       "%.128s: no event of a CPU; what has a colon is a "
					       "tracepoint, which gprofctl profile -e records", name);
		if (err == -ENOENT)
			return gprof_error_set(e, ENOENT,
					       "%.64s: no such event; there are those that gprofctl "
					       "info lists, and rHEX, a raw event number", name);
	}
	return err;
}

bool gprof_event_same(const struct gprof_event *a, const struct gprof_event *b)
{
	return a->pmu.type == b->pmu.type && !memcmp(a->pmu.config, b->pmu.config,
						     sizeof(a->pmu.config));
}
