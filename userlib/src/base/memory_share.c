// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * memory_share.c: a limit on the memory for one input file.
 */
#include "memory_share.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHARE	4

static uint64_t read_limit(const char *root, const char *path)
{
	char file[PATH_MAX], text[32];
	uint64_t limit = UINT64_MAX;
	FILE *f;

	if ((size_t)snprintf(file, sizeof(file), "%s%s/memory.max", root, path) >= sizeof(file))
		return limit;
	f = fopen(file, "re");
	if (!f)
		return limit;
	if (fgets(text, sizeof(text), f) && text[0] >= '0' && text[0] <= '9')
		limit = strtoull(text, NULL, 10);
	fclose(f);
	return limit;
}

uint64_t gprof_memory_limit(const char *root, const char *path)
{
	uint64_t least = UINT64_MAX, limit;
	char at[PATH_MAX], *end;

	if (strlen(path) >= sizeof(at) || strstr(path, "/../"))
		return least;
	strcpy(at, path);
	do {
		limit = read_limit(root, at);
		if (limit < least)
			least = limit;
		end = strrchr(at, '/');
		if (end)
			*end = '\0';
	} while (end);
	return least;
}

uint64_t gprof_memory_share(uint64_t most)
{
	uint64_t share = most;
	char line[PATH_MAX];
	FILE *f = fopen("/proc/self/cgroup", "re");

	if (!f)
		return most;
	while (fgets(line, sizeof(line), f)) {
		if (strncmp(line, "0::", 3))
			continue;
		line[strcspn(line, "\n")] = '\0';
		share = gprof_memory_limit("/sys/fs/cgroup", line + 3) / SHARE;
	}
	fclose(f);
	return share < most ? share : most;
}
