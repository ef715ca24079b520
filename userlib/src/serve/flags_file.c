// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * flags_file.c: a file that is there once it is whole: until then it has no name, so that a
 * program that dies leaves nothing behind, and an older file as it was.
 */
#include "flags_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* "%p" is who we are, and nothing else may stand behind a "%". */
static char *expand(const char *name, struct gprof_error *e)
{
	size_t size = strlen(name) * 6 + 1, n = 0;
	char *path = malloc(size);

	if (!path) {
		gprof_error_set(e, ENOMEM, "no memory for a name");
		return NULL;
	}
	for (; *name; name++) {
		if (*name != '%') {
			path[n++] = *name;
		} else if (*++name == 'p') {
			n += (size_t)snprintf(path + n, size - n, "%d", (int)getpid());
		} else if (*name == '%') {
			path[n++] = '%';
		} else {
			gprof_error_set(e, EINVAL, "behind a %% in the name of a file stands p, for the "
					"number of the process, or another %%");
			free(path);
			return NULL;
		}
	}
	path[n] = '\0';
	return path;
}

static int cannot(const char *path, int err, struct gprof_error *e)
{
	return gprof_error_set(e, err, "%.256s cannot be written: %s", path, gprof_strerror(err));
}

int gprof_flags_file_open(struct gprof_flags_file *f, const char *name, struct gprof_error *e)
{
	char *path = expand(name, e), *slash;
	struct stat st;

	if (!path)
		return -e->err;
	if (!stat(path, &st) && !S_ISREG(st.st_mode)) {
		f->fd = open(path, O_WRONLY | O_CLOEXEC);
		if (f->fd < 0)
			cannot(path, errno, e);
		free(path);
		return f->fd < 0 ? -e->err : 0;
	}
	slash = strrchr(path, '/');
	if (slash) {
		char was = slash[1];

		slash[1] = '\0';
		f->fd = open(path, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
		slash[1] = was;
	} else {
		f->fd = open(".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
	}
	if (f->fd < 0) {
		cannot(path, errno, e);
		free(path);
		return -e->err;
	}
	f->path = path;
	return 0;
}

/* Linked beside what is there, for a link replaces nothing, and renamed over it. */
int gprof_flags_file_commit(struct gprof_flags_file *f, struct gprof_error *e)
{
	char from[32], *temp;
	int err = 0;

	if (!f->path)
		return 0;
	temp = malloc(strlen(f->path) + 32);
	if (!temp)
		return gprof_error_set(e, ENOMEM, "no memory for a name");
	sprintf(temp, "%s.%d.new", f->path, (int)getpid());
	snprintf(from, sizeof(from), "/proc/self/fd/%d", f->fd);
	unlink(temp);
	if (linkat(AT_FDCWD, from, AT_FDCWD, temp, AT_SYMLINK_FOLLOW))
		err = errno;
	if (!err && rename(temp, f->path)) {
		err = errno;
		unlink(temp);
	}
	free(temp);
	return err ? cannot(f->path, err, e) : 0;
}

void gprof_flags_file_drop(struct gprof_flags_file *f)
{
	if (f->fd >= 0)
		close(f->fd);
	free(f->path);
	*f = (struct gprof_flags_file){ .fd = -1 };
}
