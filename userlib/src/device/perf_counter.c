// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * perf_counter.c: perf's own counters of a cgroup, which a module cannot make.
 *
 * The scheduler switches such a counter on with the cgroup's tasks, so that it counts no other
 * events; the module's counters of whole CPUs cannot.
 */
#include "perf_counter.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "target.h"

#define ONLINE	"/sys/devices/system/cpu/online"

static int open_one(struct perf_event_attr *attr, int cgroup, int cpu)
{
	int fd = (int)syscall(SYS_perf_event_open, attr, cgroup, cpu, -1,
			      PERF_FLAG_PID_CGROUP | PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* Counters of a part of the machine refuse to leave anything out. */
static int open_with_less(struct perf_event_attr *attr, int cgroup, int cpu)
{
	int fd = open_one(attr, cgroup, cpu);

	if (fd != -EINVAL || attr->exclude_kernel || !attr->exclude_guest)
		return fd;
	attr->exclude_hv = 0;
	attr->exclude_guest = 0;
	return open_one(attr, cgroup, cpu);
}

static int online_cpus(uint64_t **bits, size_t *size)
{
	char list[4096] = "";
	FILE *f = fopen(ONLINE, "re");
	int err = f ? 0 : -errno;

	if (f && !fgets(list, sizeof(list), f))
		err = -EIO;
	if (f)
		fclose(f);
	list[strcspn(list, "\n")] = '\0';
	return err ? err : gprof_cpu_list(list, bits, size);
}

/* Software events are never missing: then it is the cgroup's controller. */
static int explain(int err, uint32_t type, const char *name, struct gprof_error *e)
{
	if (err == ENOENT && (type == PERF_TYPE_SOFTWARE || type == PERF_TYPE_TRACEPOINT))
		return gprof_error_set(e, EINVAL,
				       "%s: perf has no part in this cgroup yet; it has in those that "
				       "are made once cgroup.subtree_control of the root names some "
				       "controller", name);
	switch (err) {
	case EACCES:
	case EPERM:
		return gprof_error_set(e, EPERM,
				       "%s: counting a cgroup needs root or CAP_PERFMON (%s)", name,
				       gprof_strerror(err));
	case ENOENT:
	case ENODEV:
	case EOPNOTSUPP:
		return gprof_error_set(e, err,
				       "%s: this CPU (or virtual machine) has no such counter (%s)",
				       name, gprof_strerror(err));
	case EBADF:
		return gprof_error_set(e, EINVAL,
				       "%s: perf has another hierarchy of cgroups than v2 here, or "
				       "the directory is no cgroup", name);
	default:
		return gprof_error_set(e, err, "%s: perf cannot count it for a cgroup (%s)", name,
				       gprof_strerror(err));
	}
}

int gprof_perf_counter_open(struct gprof_perf_counter *c, const struct gprof_pmu_event *event,
			    int cgroup, bool kernel, const char *name, struct gprof_error *e)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = event->type,
		.config = event->config[0],
		.config1 = event->config[1],
		.config2 = event->config[2],
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
		.disabled = 1,
		.exclude_kernel = !kernel,
		.exclude_hv = 1,
		.exclude_guest = 1,
	};
	uint64_t *bits = NULL;
	size_t size, cpu;
	int err;

	memset(c, 0, sizeof(*c));
	err = online_cpus(&bits, &size);
	if (err)
		return gprof_error_set(e, -err, "%s cannot be read (%s)", ONLINE,
				       gprof_strerror(-err));
	c->fds = calloc(size * 8, sizeof(*c->fds));
	if (!c->fds)
		err = gprof_error_set(e, ENOMEM, "%s: no memory", name);
	for (cpu = 0; !err && cpu < size * 8; cpu++) {
		int fd;

		if (!(bits[cpu / 64] >> cpu % 64 & 1))
			continue;
		fd = open_with_less(&attr, cgroup, (int)cpu);
		/* It has just gone off. */
		if (fd == -ENODEV && c->nr)
			continue;
		if (fd < 0)
			err = explain(-fd, attr.type, name, e);
		else
			gprof_own_fd_adopt(&c->fds[c->nr++], fd);
	}
	free(bits);
	return err;
}

void gprof_perf_counter_close(struct gprof_perf_counter *c)
{
	size_t i;

	for (i = 0; i < c->nr; i++)
		gprof_own_fd_close(&c->fds[i]);
	free(c->fds);
	memset(c, 0, sizeof(*c));
}

int gprof_perf_counter_enable(struct gprof_perf_counter *c, bool on)
{
	size_t i;
	int err = 0;

	for (i = 0; i < c->nr; i++)
		if (!gprof_own_fd_is(&c->fds[i]))
			err = -EBADF;
		else if (ioctl(c->fds[i].fd, on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0))
			err = -errno;
	return err;
}

int gprof_perf_counter_read(const struct gprof_perf_counter *c, struct gprof_perf_count *sum)
{
	size_t i;

	memset(sum, 0, sizeof(*sum));
	for (i = 0; i < c->nr; i++) {
		struct gprof_perf_count one;
		ssize_t n;

		if (!gprof_own_fd_is(&c->fds[i]))
			return -EBADF;
		n = read(c->fds[i].fd, &one, sizeof(one));
		if (n != sizeof(one))
			return n < 0 ? -errno : -EIO;
		sum->count += one.count;
		sum->enabled += one.enabled;
		sum->running += one.running;
	}
	return 0;
}
