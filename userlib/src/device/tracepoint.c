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

#include "base/edit_distance.h"

#define PART_SIZE	128	/* of a category or a name */
#define FORMAT_SIZE	16384

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

/* The beginning of a tracepoint's file, as text. */
static int read_file(const char *root, const char *category, const char *name, const char *file,
		     char *text, size_t size)
{
	size_t have = 0;
	char path[512];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/events/%s/%s/%s", root, category, name, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	/* tracefs gives a page at a time. */
	while ((n = read(fd, text + have, size - 1 - have)) > 0)
		have += (size_t)n;
	if (n < 0)
		n = -errno;
	close(fd);
	text[have] = '\0';
	return (int)n;
}

static int read_id(const char *root, const char *category, const char *name, uint64_t *id)
{
	char text[32], *end;
	int err = read_file(root, category, name, "id", text, sizeof(text));

	if (err)
		return err;
	*id = strtoull(text, &end, 10);
	return end == text ? -EIO : 0;
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
		n = gprof_edit_distance(name, d->d_name);
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

const char *gprof_tracepoint_root(const char *name, struct gprof_error *e)
{
	const char *root = find_root();

	if (root)
		return root;
	if (errno == EACCES || errno == EPERM)
		denied(name, e);
	else
		gprof_error_set(e, ENOENT,
				"%s: tracefs is not mounted; run mount -t tracefs nodev %s as root",
				name, roots[0]);
	return NULL;
}

/**
 * struct place - where a tracepoint's files are
 * @root: of tracefs
 * @category: name of the directory below events
 * @event: and of the one below that
 */
struct place {
	const char *root;
	char category[PART_SIZE];
	char event[PART_SIZE];
};

static int find_place(const char *root, const char *name, struct place *p, struct gprof_error *e)
{
	const char *colon = strchr(name, ':');

	if (!colon || colon == name || !colon[1] || strchr(name, '/') || name[0] == '.' ||
	    colon[1] == '.' || strchr(colon + 1, ':') ||
	    snprintf(p->category, PART_SIZE, "%.*s", (int)(colon - name), name) >= PART_SIZE ||
	    snprintf(p->event, PART_SIZE, "%s", colon + 1) >= PART_SIZE)
		return gprof_error_set(e, EINVAL,
				       "%.128s: a tracepoint is written CATEGORY:NAME, such as "
				       "sched:sched_process_fork", name);
	p->root = root ? root : gprof_tracepoint_root(name, e);
	return p->root ? 0 : -errno;
}

static int unreadable(const struct place *p, const char *name, const char *file, int err,
		      struct gprof_error *e)
{
	if (err == -EACCES || err == -EPERM)
		return denied(name, e);
	if (err == -ENOENT || err == -ENOTDIR)
		return unknown(p->root, p->category, p->event, e);
	return gprof_error_set(e, -err, "%s: %s/events/%s/%s/%s cannot be read (%s)", name, p->root,
			       p->category, p->event, file, gprof_strerror(-err));
}

int gprof_tracepoint_find(const char *root, const char *name, uint64_t *id, struct gprof_error *e)
{
	struct place p;
	int err = find_place(root, name, &p, e);

	if (err)
		return err;
	err = read_id(p.root, p.category, p.event, id);
	return err ? unreadable(&p, name, "id", err, e) : 0;
}

int gprof_tracepoint_filter(const char *root, const char *name, const char *text,
			    struct gprof_filter *filter, struct gprof_error *e)
{
	char format[FORMAT_SIZE];
	struct place p;
	int err = find_place(root, name, &p, e);

	if (err)
		return err;
	err = read_file(p.root, p.category, p.event, "format", format, sizeof(format));
	if (err)
		return unreadable(&p, name, "format", err, e);
	return gprof_filter_compile(filter, name, format, text, e);
}
