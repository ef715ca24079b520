// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * shim_loaded.c: libgprof-heap.so among the mappings of a process.
 */
#include "shim_loaded.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/proc_maps.h"

#define SHIM		"libgprof-heap.so"
#define KERNEL_SAYS	"kernel-heap and kernel-allocs are the kernel's allocations for it"

static int is_shim(void *ctx, const struct gprof_proc_map *m)
{
	const char *slash = strrchr(m->path, '/');

	(void)ctx;
	return slash && !strncmp(slash + 1, SHIM, strlen(SHIM));
}

/* 1: it has, 0: it has not; -errno. */
static int has_shim(const char *pid)
{
	char path[32];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%.10s/maps", pid);
	f = fopen(path, "re");
	return f ? gprof_proc_maps_each(f, is_shim, NULL) : -errno;
}

static bool any_has_shim(void)
{
	DIR *proc = opendir("/proc");
	struct dirent *d;
	bool any = false;

	while (proc && !any && (d = readdir(proc)))
		any = d->d_name[0] >= '1' && d->d_name[0] <= '9' && has_shim(d->d_name) > 0;
	if (proc)
		closedir(proc);
	return any;
}

static int check_id(int id, struct gprof_error *e)
{
	char pid[16];
	int has;

	snprintf(pid, sizeof(pid), "%d", id);
	has = has_shim(pid);
	if (has > 0)
		return 0;
	if (has == -ENOENT || has == -ESRCH)
		return gprof_error_set(e, ESRCH, "there is no process %d", id);
	if (has < 0)
		return gprof_error_set(e, EACCES, "whether process %d has loaded " SHIM ", which "
				       "reports allocations, cannot be seen (%s); " KERNEL_SAYS, id,
				       gprof_strerror(-has));
	return gprof_error_set(e, EOPNOTSUPP, "process %d has not loaded " SHIM ", which reports "
			       "allocations: start it with the path of that in LD_PRELOAD; or "
			       "record by probes=1, with which each malloc() enters the kernel; " KERNEL_SAYS, id);
}

int gprof_shim_check(const struct gprof_target *target, struct gprof_error *e)
{
	switch (target->type) {
	case GPROF_SELF:
		if (has_shim("self") > 0)
			return 0;
		return gprof_error_set(e, EOPNOTSUPP, "this program has not loaded " SHIM ", which "
				       "reports allocations: start it with the path of that in "
				       "LD_PRELOAD, or link it with that; " KERNEL_SAYS);
	case GPROF_PROCESS:
	case GPROF_THREAD:
		return check_id(target->id, e);
	default:
		if (any_has_shim())
			return 0;
		return gprof_error_set(e, EOPNOTSUPP, "no program here has loaded " SHIM ", which "
				       "reports allocations: start some with the path of that in "
				       "LD_PRELOAD, or ask for one with pid= and probes=1; "
				       "kernel-heap and kernel-allocs are the kernel's "
				       "allocations");
	}
}
