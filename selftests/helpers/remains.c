// SPDX-License-Identifier: GPL-2.0-only
/* remains.c: ask the module, the kernel, and the limit. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include "device.h"
#include "remains.h"
#include "workload.h"

#define MOST_PAGES	(1L << 18)

uint64_t open_recorders(void)
{
	struct gprof_info info = { .size = sizeof(info) };
	int fd = device_open();
	int ret = device_ioctl(fd, GPROF_IOC_INFO, &info);

	close(fd);
	return ret ? UINT64_MAX : info.out_recorders - 1;
}

bool recorders_become(uint64_t wanted)
{
	for (int i = 0; i < 500; i++) {
		if (open_recorders() == wanted)
			return true;
		sleep_ms(10);
	}
	return false;
}

static bool is_in_cgroup(const char *pid, const char *cgroup)
{
	char path[300], text[1024], *line, *rest = text;

	snprintf(path, sizeof(path), "/proc/%s/cgroup", pid);
	if (file_read(path, text, sizeof(text)))
		return false;
	while ((line = strsep(&rest, "\n")))
		if (!strncmp(line, "0::", 3) && !strcmp(line + 3, cgroup))
			return true;
	return false;
}

pid_t thread_named(const char *name, const char *cgroup)
{
	DIR *dir = opendir("/proc");
	char path[300], comm[32], wanted[32];
	struct dirent *e;
	pid_t found = 0;

	snprintf(wanted, sizeof(wanted), "%s\n", name);
	while (dir && (e = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/%s/comm", e->d_name);
		if (!file_read(path, comm, sizeof(comm)) && !strcmp(comm, wanted) &&
		    (!cgroup || is_in_cgroup(e->d_name, cgroup)))
			found = atoi(e->d_name);
	}
	if (dir)
		closedir(dir);
	return found;
}

pid_t thread_for(uid_t user, const char *cgroup)
{
	char name[32];

	snprintf(name, sizeof(name), "gprof/%u", user);
	return thread_named(name, cgroup);
}

bool thread_ends(uid_t user, const char *cgroup)
{
	for (int i = 0; i < 500; i++) {
		if (!thread_for(user, cgroup))
			return true;
		sleep_ms(10);
	}
	return false;
}

long module_references(void)
{
	char text[16384], *line, *rest = text;
	long size, references;

	if (file_read("/proc/modules", text, sizeof(text)))
		return -1;
	while ((line = strsep(&rest, "\n")))
		if (sscanf(line, "gprof %ld %ld", &size, &references) == 2)
			return references;
	return -1;
}

static int set_up_with(long pages)
{
	struct gprof_cpu_params params = timer_params(1000000);
	struct gprof_setup setup = device_setup_of(GPROF_TARGET_PROCESS, getpid(), &params);
	uint64_t recorders = open_recorders();
	struct rlimit limit;
	struct device dev;
	int ret;

	if (getrlimit(RLIMIT_MEMLOCK, &limit))
		return -errno;
	limit.rlim_cur = pages * sysconf(_SC_PAGESIZE);
	if (setrlimit(RLIMIT_MEMLOCK, &limit))
		return -errno;
	setup.buffer_size = 32768;
	ret = device_setup(&dev, &setup);
	if (ret)
		return ret;
	device_close(&dev);
	/* A close that takes long goes on, and has its charge until then. */
	return recorders_become(recorders) ? 0 : -EBUSY;
}

long least_memlock(void)
{
	long too_few = -1, enough = MOST_PAGES, middle;
	struct rlimit before;
	int ret;

	if (getrlimit(RLIMIT_MEMLOCK, &before))
		return -errno;
	ret = set_up_with(enough);
	while (!ret && enough - too_few > 1) {
		middle = too_few + (enough - too_few) / 2;
		ret = set_up_with(middle);
		if (!ret)
			enough = middle;
		else if (ret == -ENOMEM)
			too_few = middle;
		else
			break;
		ret = 0;
	}
	setrlimit(RLIMIT_MEMLOCK, &before);
	return ret ? ret : enough;
}

bool has_symbol(const char *name)
{
	FILE *f = fopen("/proc/kallsyms", "re");
	char line[512], end[128];
	bool found = false;

	snprintf(end, sizeof(end), " %s\n", name);
	while (f && !found && fgets(line, sizeof(line), f))
		found = strstr(line, end);
	if (f)
		fclose(f);
	return found;
}

bool is_debug_kernel(void)
{
	return has_symbol("kasan_report");
}
