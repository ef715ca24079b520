// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * target.c: a target, from the caller's words to the kernel's.
 */
#include "target.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/gprof.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CPU_MAX	65536	/* numbers beyond this are typing errors */

int gprof_cpu_list(const char *list, uint64_t **bits, size_t *size)
{
	const char *p = list;
	uint64_t *map;
	size_t top = 0;

	*bits = NULL;
	map = calloc(CPU_MAX / 64, sizeof(*map));
	if (!map)
		return -ENOMEM;
	for (;;) {
		unsigned long lo, hi;
		char *end;

		if (!isdigit((unsigned char)*p))
			goto bad;
		lo = hi = strtoul(p, &end, 10);
		if (*end == '-') {
			p = end + 1;
			if (!isdigit((unsigned char)*p))
				goto bad;
			hi = strtoul(p, &end, 10);
		}
		if (lo > hi || hi >= CPU_MAX)
			goto bad;
		if (hi > top)
			top = hi;
		for (; lo <= hi; lo++)
			map[lo / 64] |= 1ULL << lo % 64;
		p = end;
		if (!*p)
			break;
		if (*p++ != ',')
			goto bad;
	}
	*bits = map;
	*size = (top / 64 + 1) * sizeof(*map);
	return 0;

bad:
	free(map);
	return -EINVAL;
}

static int aim_cgroup(struct gprof_kernel_target *a, const char *path, struct gprof_error *e)
{
	if (!path || !path[0])
		return gprof_error_set(e, EINVAL,
				       "a cgroup target needs the path of its directory");
	a->cgroup = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (a->cgroup < 0 && errno == ENOENT && access("/proc/self/cgroup", F_OK))
		return gprof_error_set(e, EOPNOTSUPP,
				       "%.256s: this kernel has no cgroups; use one that was built "
				       "with CONFIG_CGROUPS, or name a process", path);
	if (a->cgroup < 0)
		return gprof_error_set(e, errno,
				       "%.256s: cannot be opened as a cgroup (%s); give a "
				       "directory below /sys/fs/cgroup", path, gprof_strerror(errno));
	a->target = GPROF_TARGET_CGROUP;
	a->id = a->cgroup;
	snprintf(a->text, sizeof(a->text), "cgroup %s", path);
	return 0;
}

static int aim_cpus(struct gprof_kernel_target *a, const char *list, struct gprof_error *e)
{
	int err = list ? gprof_cpu_list(list, &a->cpus, &a->cpus_size) : -EINVAL;

	if (err)
		return gprof_error_set(e, -err, "\"%.80s\" is no list of CPUs such as 0-3,6",
				       list ? list : "");
	a->target = GPROF_TARGET_CPUS;
	snprintf(a->text, sizeof(a->text), "CPUs %s", list);
	return 0;
}

int gprof_kernel_target_init(struct gprof_kernel_target *a, const struct gprof_target *t,
			     struct gprof_error *e)
{
	memset(a, 0, sizeof(*a));
	a->cgroup = -1;
	switch (t->type) {
	case GPROF_SELF:
		a->target = GPROF_TARGET_PROCESS;
		a->id = getpid();
		snprintf(a->text, sizeof(a->text), "process %d (itself)", a->id);
		return 0;
	case GPROF_THREAD:
	case GPROF_PROCESS:
		if (t->id <= 0)
			return gprof_error_set(e, EINVAL, "%d is no %s id", t->id,
					       t->type == GPROF_THREAD ? "thread" : "process");
		a->target = t->type == GPROF_THREAD ? GPROF_TARGET_THREAD : GPROF_TARGET_PROCESS;
		a->id = t->id;
		snprintf(a->text, sizeof(a->text), "%s %d",
			 t->type == GPROF_THREAD ? "thread" : "process", t->id);
		return 0;
	case GPROF_CGROUP:
		return aim_cgroup(a, t->name, e);
	case GPROF_CPUS:
		return aim_cpus(a, t->name, e);
	case GPROF_SYSTEM:
		a->target = GPROF_TARGET_SYSTEM;
		snprintf(a->text, sizeof(a->text), "the whole system");
		return 0;
	}
	return gprof_error_set(e, EINVAL, "%d is no type of target", (int)t->type);
}

void gprof_kernel_target_free(struct gprof_kernel_target *a)
{
	free(a->cpus);
	a->cpus = NULL;
	if (a->cgroup >= 0)
		close(a->cgroup);
	a->cgroup = -1;
}
