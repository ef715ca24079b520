// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * service.c: the service of a process, where it does not publish it.
 *
 * Names of units are as in systemd.unit(5); "\\x2d" in them stays, as systemctl takes it so.
 */
#include "service.h"

#include <stdio.h>
#include <string.h>

/* Units of processes. Slices are for processes without one. */
static size_t unit_len(const char *part, size_t len)
{
	static const char *const kinds[] = { ".service", ".scope" };
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		size_t kind = strlen(kinds[i]);

		if (len > kind && !memcmp(part + len - kind, kinds[i], kind))
			return len - kind;
	}
	return 0;
}

void gprof_service_name(const char *cgroup, const char *comm, char name[GPROF_SERVICE_MAX])
{
	const char *at = cgroup ? cgroup : "", *unit = NULL;
	size_t len = 0;

	while (*at) {
		size_t part = strcspn(at, "/"), kept = unit_len(at, part);

		if (kept) {
			unit = at;
			len = kept;
		}
		at += part + (at[part] == '/');
	}
	if (unit)
		snprintf(name, GPROF_SERVICE_MAX, "%.*s", (int)len, unit);
	else if (cgroup && strcmp(cgroup, "/") && *cgroup)
		snprintf(name, GPROF_SERVICE_MAX, "%s", cgroup);
	else
		snprintf(name, GPROF_SERVICE_MAX, "%s", comm && *comm ? comm : "unknown");
}
