// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * pmu_cpus.c: on which CPUs an event is counted, where the host has CPUs of several kinds.
 */
#include "pmu_cpus.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pmu.h"
#include "target.h"

/**
 * struct kinds - PMUs that are CPUs' own
 * @nr: how many
 * @text: their names and CPUs, for people
 * @first: the CPUs of the first
 * @its: the CPUs of the one whose event it is, or ""
 */
struct kinds {
	size_t nr;
	char text[256];
	char first[128];
	char its[128];
};

/* The first line, without its end; false: there is none, or it is too long. */
static bool read_line(const char *sysfs, const char *pmu, const char *file, char line[128])
{
	char path[512];
	FILE *f;
	bool ok;

	if (snprintf(path, sizeof(path), "%s/%s/%s", sysfs, pmu, file) >= (int)sizeof(path))
		return false;
	f = fopen(path, "re");
	ok = f && fgets(line, 128, f) && strchr(line, '\n');
	if (f)
		fclose(f);
	if (ok)
		*strchr(line, '\n') = '\0';
	return ok && line[0];
}

static void add_pmu(struct kinds *k, const char *sysfs, const char *pmu, uint32_t type)
{
	size_t used = strlen(k->text);
	char cpus[128], number[128];

	if (!read_line(sysfs, pmu, "cpus", cpus) || !read_line(sysfs, pmu, "type", number))
		return;
	snprintf(k->text + used, sizeof(k->text) - used, "%s%s: CPUs %s", used ? ", " : "", pmu,
		 cpus);
	if (!k->nr++)
		strcpy(k->first, cpus);
	if (strtoul(number, NULL, 10) == type)
		strcpy(k->its, cpus);
}

/* Are all of the recorder's CPUs in a list? */
static int lies_within(const struct gprof_setup *setup, const char *list, bool *within)
{
	const uint64_t *wanted = (const uint64_t *)(uintptr_t)setup->cpus;
	size_t size = 0, i;
	uint64_t *bits;
	int err = gprof_cpu_list(list, &bits, &size);

	*within = true;
	/* perf refuses an event that is not known here. */
	if (err)
		return err == -ENOMEM ? err : 0;
	for (i = 0; i < setup->cpus_size / sizeof(*wanted); i++)
		if (wanted[i] & ~(i < size / sizeof(*bits) ? bits[i] : 0))
			*within = false;
	free(bits);
	return 0;
}

static int refuse(const struct kinds *k, const char *name, struct gprof_error *e)
{
	return gprof_error_set(e, EOPNOTSUPP,
			       "%s: this host has CPUs of several kinds (%s), and a counter counts on "
			       "one kind alone, so that all that is done on the others would be "
			       "missing; record CPUs of one kind (CPUs %s), or by the timer", name,
			       k->text, k->its[0] ? k->its : k->first);
}

int gprof_pmu_cpus_check(const char *sysfs, const struct gprof_setup *setup, uint32_t type,
			 const char *name, struct gprof_error *e)
{
	bool each = type == PERF_TYPE_HARDWARE || type == PERF_TYPE_HW_CACHE;
	bool any = each || type == PERF_TYPE_RAW;
	struct kinds k = { 0 };
	bool within = false;
	char **names;
	size_t nr, i;
	int err = 0;

	if (type == PERF_TYPE_SOFTWARE || gprof_pmu_list(sysfs, NULL, &names, &nr))
		return 0;
	for (i = 0; i < nr; i++)
		add_pmu(&k, sysfs, names[i], type);
	gprof_pmu_list_free(names, nr);
	/* Others than CPUs' own are of the host as a whole. */
	if (k.nr < 2 || (!any && !k.its[0]))
		return 0;
	switch (setup->target) {
	case GPROF_TARGET_THREAD:
	case GPROF_TARGET_PROCESS:
		return refuse(&k, name, e);
	case GPROF_TARGET_CPUS:
		/* A raw code is for the PMU whose CPUs are named. */
		if (!any)
			err = lies_within(setup, k.its, &within);
		if (err)
			return gprof_error_set(e, -err, "%s: no memory", name);
		return any || within ? 0 : refuse(&k, name, e);
	default:
		/* An event of all PMUs has each CPU's own PMU's counter. */
		return each ? 0 : refuse(&k, name, e);
	}
}
