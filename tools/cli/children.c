// SPDX-License-Identifier: GPL-2.0-only
/*
 * Children of a process, by /proc: each of its threads has a list of those that it forked.
 */
#include "children.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diag.h"

#define CGROUP_ROOT	"/sys/fs/cgroup"

static unsigned int count_of(int32_t pid, const char *tid)
{
	char *path = xprintf("/proc/%d/task/%s/children", pid, tid);
	FILE *f = fopen(path, "re");
	unsigned int nr = 0;
	int child;

	free(path);
	while (f && fscanf(f, "%d", &child) == 1)
		nr++;
	if (f)
		fclose(f);
	return nr;
}

static unsigned int count(int32_t pid)
{
	char *path = xprintf("/proc/%d/task", pid);
	DIR *threads = opendir(path);
	const struct dirent *e;
	unsigned int nr = 0;

	free(path);
	while (threads && (e = readdir(threads)))
		if (e->d_name[0] != '.')
			nr += count_of(pid, e->d_name);
	if (threads)
		closedir(threads);
	return nr;
}

/* Options of a target that has them, for free(): the whole host, where the cgroup is its root. */
static char *wider_target(int32_t pid)
{
	char *path = xprintf("/proc/%d/cgroup", pid);
	FILE *f = fopen(path, "re");
	char *line = NULL, *text = NULL;
	size_t size = 0;

	free(path);
	while (f && !text && getline(&line, &size, f) > 0) {
		line[strcspn(line, "\n")] = '\0';
		if (!strncmp(line, "0::/", 4) && line[4])
			text = xprintf("-G " CGROUP_ROOT "%s", line + 3);
	}
	free(line);
	if (f)
		fclose(f);
	return text ? text : xprintf("-a");
}

void children_report(int32_t pid)
{
	unsigned int nr = count(pid);
	char *wider;

	if (!nr)
		return;
	wider = wider_target(pid);
	diag("process %d has %u %s already, which %s not recorded: only processes that it forks "
	     "from now on are; %s has them all",
	     pid, nr, nr > 1 ? "children" : "child", nr > 1 ? "are" : "is", wider);
	free(wider);
}
