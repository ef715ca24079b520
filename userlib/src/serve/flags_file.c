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

#define HIGH	256	/* descriptors from here on are seldom anybody's */

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

/* Out of the way of a program that counts on low numbers, or closes them all. */
static void keep(struct gprof_flags_file *f, int fd)
{
	int high = fcntl(fd, F_DUPFD_CLOEXEC, HIGH);
	struct stat st;

	f->fd = fd;
	if (high >= 0) {
		close(fd);
		f->fd = high;
	}
	if (!fstat(f->fd, &st)) {
		f->dev = st.st_dev;
		f->ino = st.st_ino;
	}
}

/* "/where/we/are/NAME" of NAME, in a directory that is there. */
static char *absolute(const char *path, char **dir)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	char *upto = slash ? strndup(path, (size_t)(slash + 1 - path)) : strdup(".");
	char *whole = NULL;

	*dir = upto ? realpath(upto, NULL) : NULL;
	free(upto);
	if (*dir && asprintf(&whole, "%s/%s", *dir, name) < 0)
		whole = NULL;
	return whole;
}

/* Beside what is there, and nobody else's. */
static char *temporary(const char *path)
{
	char *temp;

	return asprintf(&temp, "%s.%d.new", path, (int)getpid()) < 0 ? NULL : temp;
}

/* A file without a name goes with the process, however that ends; NFS, say, has none. */
static int open_new(struct gprof_flags_file *f, const char *dir, const char *path)
{
	int fd = open(dir, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);

	if (fd >= 0 || errno != EOPNOTSUPP)
		return fd;
	f->temp = temporary(path);
	f->pid = getpid();
	if (!f->temp)
		return -1;
	unlink(f->temp);
	fd = open(f->temp, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
	if (fd < 0) {
		free(f->temp);
		f->temp = NULL;
	}
	return fd;
}

int gprof_flags_file_open(struct gprof_flags_file *f, const char *name, struct gprof_error *e)
{
	char *path, *dir, *whole;
	struct stat st;
	int fd;

	if (!name) {
		fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
		if (fd < 0)
			return cannot("stderr", errno, e);
		keep(f, fd);
		return 0;
	}
	path = expand(name, e);
	if (!path)
		return -e->err;
	if (!stat(path, &st) && !S_ISREG(st.st_mode)) {
		fd = open(path, O_WRONLY | O_CLOEXEC);
		if (fd < 0)
			cannot(path, errno, e);
		else
			keep(f, fd);
		free(path);
		return fd < 0 ? -e->err : 0;
	}
	whole = absolute(path, &dir);
	fd = whole ? open_new(f, dir, whole) : -1;
	if (fd < 0)
		cannot(path, errno, e);
	else
		keep(f, fd);
	free(dir);
	free(path);
	if (fd < 0) {
		free(whole);
		return -e->err;
	}
	f->path = whole;
	return 0;
}

int gprof_flags_file_is_there(const struct gprof_flags_file *f, struct gprof_error *e)
{
	struct stat st;

	if (!fstat(f->fd, &st) && st.st_dev == f->dev && st.st_ino == f->ino)
		return 0;
	return gprof_error_set(e, EBADF, "%.256s was not written: the program has "
			       "closed it meanwhile", f->path ? f->path : "it");
}

/* Linked beside what is there, for a link replaces nothing, and renamed over it. */
int gprof_flags_file_commit(struct gprof_flags_file *f, struct gprof_error *e)
{
	char from[32];
	int err = 0;

	if (!f->path)
		return 0;
	if (!f->temp) {
		f->temp = temporary(f->path);
		f->pid = getpid();
		if (!f->temp)
			return gprof_error_set(e, ENOMEM, "no memory for a name");
		snprintf(from, sizeof(from), "/proc/self/fd/%d", f->fd);
		unlink(f->temp);
		if (linkat(AT_FDCWD, from, AT_FDCWD, f->temp, AT_SYMLINK_FOLLOW))
			err = errno;
	}
	if (!err && rename(f->temp, f->path))
		err = errno;
	if (err)
		return cannot(f->path, err, e);
	free(f->temp);
	f->temp = NULL;
	return 0;
}

void gprof_flags_file_drop(struct gprof_flags_file *f)
{
	struct gprof_error e = { 0 };

	if (f->fd >= 0 && !gprof_flags_file_is_there(f, &e))
		close(f->fd);
	/* A child has a copy of what it did not begin. */
	if (f->temp && f->pid == getpid())
		unlink(f->temp);
	free(f->temp);
	free(f->path);
	*f = (struct gprof_flags_file){ .fd = -1 };
}
