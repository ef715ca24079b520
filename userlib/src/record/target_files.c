// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * target_files.c: the files of code that a target has mapped before it is recorded.
 */
#include "target_files.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/proc_maps.h"

#define DEPTH_MAX	16	/* of cgroups in cgroups */

/**
 * struct process_files - the files of one process
 * @o: takes them
 * @process: it
 */
struct process_files {
	struct gprof_objects *o;
	struct gprof_process process;
};

static int on_map(void *ctx, const struct gprof_proc_map *m)
{
	static const char deleted[] = " (deleted)";
	const struct process_files *p = ctx;
	struct gprof_mapped_at at = { .process = p->process, .start = m->start, .end = m->end };
	/* The device of /proc/PID/maps is not stat()'s on overlayfs; the kernel compares inodes. */
	struct gprof_file_id id = {
		.any = true,
		.inode = m->inode,
		.dev_major = m->dev_major,
		.dev_minor = m->dev_minor,
	};
	size_t len = strlen(m->path);
	struct gprof_object *obj;
	char path[4096];

	if (!m->code || !m->inode || len >= sizeof(path))
		return 0;
	memcpy(path, m->path, len + 1);
	if (len > strlen(deleted) && !strcmp(path + len - strlen(deleted), deleted))
		path[len - strlen(deleted)] = '\0';
	id.path = path;
	obj = gprof_objects_get(p->o, &id, &at);
	if (!obj)
		return -ENOMEM;
	obj->mappings++;
	obj->code = m->end - m->start;
	return 0;
}

static int add_process(struct gprof_objects *o, uint32_t pid)
{
	struct process_files p = { .o = o, .process.pid = pid };
	long hz = sysconf(_SC_CLK_TCK);
	uint64_t ticks;
	char path[32];
	FILE *f;

	if (hz <= 0 || !gprof_process_start(pid, &ticks))
		return 0;
	p.process.start_ns = ticks * (1000000000ULL / (uint64_t)hz);
	snprintf(path, sizeof(path), "/proc/%u/maps", pid);
	f = fopen(path, "re");
	return f ? gprof_proc_maps_each(f, on_map, &p) : 0;
}

static int add_all(struct gprof_objects *o)
{
	DIR *proc = opendir("/proc");
	struct dirent *d;
	int err = 0;

	while (proc && !err && (d = readdir(proc)))
		if (d->d_name[0] >= '1' && d->d_name[0] <= '9')
			err = add_process(o, (uint32_t)strtoul(d->d_name, NULL, 10));
	if (proc)
		closedir(proc);
	return err;
}

static int add_procs(struct gprof_objects *o, const char *cgroup)
{
	char path[4096];
	unsigned int pid;
	int err = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/cgroup.procs", cgroup);
	f = fopen(path, "re");
	while (f && !err && fscanf(f, "%u", &pid) == 1)
		/* 0 is one of another namespace. */
		err = pid ? add_process(o, pid) : 0;
	if (f)
		fclose(f);
	return err;
}

static int add_cgroup(struct gprof_objects *o, const char *cgroup, unsigned int depth)
{
	int err = add_procs(o, cgroup);
	DIR *dir = depth < DEPTH_MAX && !err ? opendir(cgroup) : NULL;
	struct dirent *d;
	char path[4096];

	while (dir && !err && (d = readdir(dir))) {
		if (d->d_type != DT_DIR || d->d_name[0] == '.' ||
		    snprintf(path, sizeof(path), "%s/%s", cgroup, d->d_name) >= (int)sizeof(path))
			continue;
		err = add_cgroup(o, path, depth + 1);
	}
	if (dir)
		closedir(dir);
	return err;
}

/* Of those that are used alike the smallest first: a compiler may take as long as all others. */
static int by_use(const void *a, const void *b)
{
	const struct gprof_object *x = *(struct gprof_object *const *)a;
	const struct gprof_object *y = *(struct gprof_object *const *)b;

	if (x->mappings != y->mappings)
		return x->mappings < y->mappings ? 1 : -1;
	return x->code > y->code ? 1 : x->code < y->code ? -1 : 0;
}

int gprof_target_files(const struct gprof_target *target, struct gprof_objects *o)
{
	int err = 0;

	switch (target->type) {
	case GPROF_SELF:
		err = add_process(o, (uint32_t)getpid());
		break;
	case GPROF_THREAD:
	case GPROF_PROCESS:
		err = add_process(o, (uint32_t)target->id);
		break;
	case GPROF_CGROUP:
		err = add_cgroup(o, target->name, 0);
		break;
	case GPROF_CPUS:
	case GPROF_SYSTEM:
		err = add_all(o);
	}
	if (o->nr)
		qsort(o->v, o->nr, sizeof(o->v[0]), by_use);
	return err;
}
