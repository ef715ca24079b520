// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * probe.c: tracepoints that are made where code has none, by tracefs.
 *
 * They belong to the host, not to the process that made them, and outlive it when it is killed. So
 * their names begin with a process id, and making a probe removes those of processes that are
 * gone. The kernel keeps a probe that is being recorded (EBUSY).
 */
#include "probe.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tracepoint.h"

#define GROUP		"gprof"
#define LINE_SIZE	4500	/* with a path */
#define TRIES		50
#define TRY_NS		10000000L

static int write_line(const char *root, bool user, const char *line)
{
	size_t n = strlen(line);
	char path[128];
	ssize_t written;
	int fd, err = 0;

	snprintf(path, sizeof(path), "%s/%s", root, user ? "uprobe_events" : "kprobe_events");
	/* To truncate it would remove all users' probes. */
	fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	written = write(fd, line, n);
	if (written < 0)
		err = -errno;
	close(fd);
	return err;
}

static int remove_named(const char *root, bool user, const char *name)
{
	char line[NAME_MAX + sizeof("-:" GROUP "/\n")];

	snprintf(line, sizeof(line), "-:" GROUP "/%s\n", name);
	return write_line(root, user, line);
}

static void remove_left_behind(const char *root)
{
	char path[128], kind, end;
	struct dirent *d;
	int pid, nr;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/events/" GROUP, root);
	dir = opendir(path);
	while (dir && (d = readdir(dir))) {
		if (sscanf(d->d_name, "%c%d_%d%c", &kind, &pid, &nr, &end) != 3 ||
		    (kind != 'k' && kind != 'u') || pid <= 0 || !kill(pid, 0) || errno != ESRCH)
			continue;
		remove_named(root, kind == 'u', d->d_name);
	}
	if (dir)
		closedir(dir);
}

static int explain(int err, const struct gprof_probe *p, const char *what, struct gprof_error *e)
{
	switch (err) {
	case EACCES:
	case EPERM:
		return gprof_error_set(e, err, "%s: to make probes needs root, and a kernel that is "
				       "not locked down (%s)", what, gprof_strerror(err));
	case ENOENT:
		if (!p->user)
			return gprof_error_set(e, err, "%s: the kernel has no such function, or none "
					       "that may be probed", what);
		break;
	case EILSEQ:
		return gprof_error_set(e, err, "%s: no instruction begins there", what);
	case EINVAL:
		/* Some kernels return it for unknown symbols, too. */
		return gprof_error_set(e, err, "%s: the kernel %sallows no probe at this place (%s)",
				       what, p->user ? "" : "has no such function, or ",
				       gprof_strerror(err));
	}
	return gprof_error_set(e, err, "%s: the probe cannot be made (%s)", what,
			       gprof_strerror(err));
}

int gprof_probe_add(struct gprof_probe *p, const char *path, const char *function,
		    uint64_t offset, bool at_return, const char *what, struct gprof_error *e)
{
	static atomic_uint made;
	const char *root = gprof_tracepoint_root(what, e);
	unsigned long long at = offset;
	char name[32], line[LINE_SIZE];
	int n, err;

	*p = (struct gprof_probe){ .user = path };
	if (!root)
		return -errno;
	if (path && strpbrk(path, " \t\n"))
		return gprof_error_set(e, EINVAL, "%s: the kernel takes no path with spaces", what);
	remove_left_behind(root);
	snprintf(name, sizeof(name), "%c%d_%u", path ? 'u' : 'k', (int)getpid(),
		 atomic_fetch_add(&made, 1));
	if (path)
		n = snprintf(line, sizeof(line), "%c:" GROUP "/%s %s:0x%llx\n",
			     at_return ? 'r' : 'p', name, path, at);
	else
		n = snprintf(line, sizeof(line), "%c:" GROUP "/%s %s+%llu\n",
			     at_return ? 'r' : 'p', name, function, at);
	if (n >= (int)sizeof(line))
		return gprof_error_set(e, ENAMETOOLONG, "%.128s...: the name is too long", what);
	err = write_line(root, p->user, line);
	if (err)
		return explain(-err, p, what, e);
	snprintf(p->event, sizeof(p->event), GROUP ":%s", name);
	p->made = true;
	return 0;
}

void gprof_probe_remove(struct gprof_probe *p)
{
	const struct timespec pause = { 0, TRY_NS };
	const char *root = gprof_tracepoint_root(p->event, NULL);
	int i;

	/* Its recorder may still be closing in the kernel. */
	for (i = 0; p->made && root && i < TRIES; i++) {
		if (remove_named(root, p->user, strchr(p->event, ':') + 1) != -EBUSY)
			break;
		nanosleep(&pause, NULL);
	}
	p->made = false;
}
