// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * tracepoint.c: kernel tracepoints by name.
 */
#include "tracepoint.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PART_SIZE	128	/* of a category or a name */

static const char *const roots[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };

/* The mounted tracefs, or NULL with errno: that of the first place that is not just missing. */
static const char *find_root(void)
{
	int err = ENOENT;
	char path[64];
	size_t i;

	for (i = 0; i < sizeof(roots) / sizeof(roots[0]); i++) {
		snprintf(path, sizeof(path), "%s/events", roots[i]);
		if (!access(path, R_OK | X_OK))
			return roots[i];
		if (errno != ENOENT && err == ENOENT)
			err = errno;
	}
	errno = err;
	return NULL;
}

static int read_id(const char *root, const char *category, const char *name, uint64_t *id)
{
	char path[512], text[32], *end;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/events/%s/%s/id", root, category, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = read(fd, text, sizeof(text) - 1);
	if (n < 0)
		n = -errno;
	close(fd);
	if (n < 0)
		return (int)n;
	text[n] = '\0';
	*id = strtoull(text, &end, 10);
	return end == text ? -EIO : 0;
}

/* Levenshtein distance, for "did you mean". */
static unsigned int distance(const char *a, const char *b)
{
	unsigned int row[PART_SIZE + 1];
	size_t la = strlen(a), lb = strlen(b), i, j;

	if (la >= PART_SIZE || lb >= PART_SIZE)
		return PART_SIZE;
	for (j = 0; j <= lb; j++)
		row[j] = (unsigned int)j;
	for (i = 1; i <= la; i++) {
		unsigned int diagonal = row[0];

		row[0] = (unsigned int)i;
		for (j = 1; j <= lb; j++) {
			unsigned int best = diagonal + (a[i - 1] != b[j - 1]);

			diagonal = row[j];
			if (best > row[j] + 1)
				best = row[j] + 1;
			if (best > row[j - 1] + 1)
				best = row[j - 1] + 1;
			row[j] = best;
		}
	}
	return row[lb];
}

/* The entry of a directory that is most like @name; false when none is there. */
static bool nearest(const char *path, const char *name, char best[PART_SIZE], unsigned int *dist)
{
	DIR *dir = opendir(path);
	struct dirent *d;
	bool found = false;

	if (!dir)
		return false;
	while ((d = readdir(dir))) {
		unsigned int n;

		if (d->d_name[0] == '.' || d->d_type == DT_REG || strlen(d->d_name) >= PART_SIZE)
			continue;
		n = distance(name, d->d_name);
		if (found && n >= *dist)
			continue;
		memcpy(best, d->d_name, strlen(d->d_name) + 1);
		*dist = n;
		found = true;
	}
	closedir(dir);
	return found;
}

static int unknown(const char *root, const char *category, const char *name, struct gprof_error *e)
{
	char path[512], cat[PART_SIZE], best[PART_SIZE];
	unsigned int dist;

	snprintf(path, sizeof(path), "%s/events", root);
	snprintf(cat, sizeof(cat), "%s", category);
	snprintf(path, sizeof(path), "%s/events/%s", root, category);
	if (access(path, F_OK)) {
		char events[512];

		snprintf(events, sizeof(events), "%s/events", root);
		if (!nearest(events, category, cat, &dist))
			cat[0] = '\0';
		snprintf(path, sizeof(path), "%s/events/%s", root, cat);
	}
	if (cat[0] && nearest(path, name, best, &dist))
		return gprof_error_set(e, ENOENT,
				       "%s:%s: the kernel has no such tracepoint; the nearest is "
				       "%s:%s, all are under %s/events", category, name, cat, best,
				       root);
	return gprof_error_set(e, ENOENT,
			       "%s:%s: the kernel has no such tracepoint; all are under %s/events",
			       category, name, root);
}

static int denied(const char *name, struct gprof_error *e)
{
	return gprof_error_set(e, EACCES,
			       "%s: tracepoints are readable with privilege only; run as root",
			       name);
}

int gprof_tracepoint_find(const char *root, const char *name, uint64_t *id, struct gprof_error *e)
{
	char category[PART_SIZE], event[PART_SIZE];
	const char *colon = strchr(name, ':');
	int err;

	if (!colon || colon == name || !colon[1] || strchr(name, '/') || name[0] == '.' ||
	    colon[1] == '.' || strchr(colon + 1, ':') ||
	    snprintf(category, sizeof(category), "%.*s", (int)(colon - name), name) >= PART_SIZE ||
	    snprintf(event, sizeof(event), "%s", colon + 1) >= PART_SIZE)
		return gprof_error_set(e, EINVAL,
				       "%.128s: a tracepoint is written CATEGORY:NAME, such as "
				       "sched:sched_process_fork", name);
	if (!root)
		root = find_root();
	if (!root && (errno == EACCES || errno == EPERM))
		return denied(name, e);
	if (!root)
		return gprof_error_set(e, ENOENT,
				       "%s: tracefs is not mounted; run mount -t tracefs nodev %s "
				       "as root", name, roots[0]);
	err = read_id(root, category, event, id);
	if (!err)
		return 0;
	if (err == -EACCES || err == -EPERM)
		return denied(name, e);
	if (err == -ENOENT || err == -ENOTDIR)
		return unknown(root, category, event, e);
	return gprof_error_set(e, -err, "%s: %s/events/%s/%s/id cannot be read (%s)", name, root,
			       category, event, gprof_strerror(-err));
}
