// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * flags_file.c: a file that is there once it is whole: until then it has no name, so that a
 * program that dies leaves nothing behind, and an older file as it was.
 */
#include "flags_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/own_process.h"

#define TRIES	16	/* names that are in use */

/* ""%p" is the process id, "%h" the host's name, and no other letter may stand behind a "%". */
static char *expand(const char *name, struct gprof_error *e)
{
	char host[HOST_NAME_MAX + 1] = "";
	char *path = NULL;
	size_t size;
	FILE *f = open_memstream(&path, &size);
	bool good = true;

	gethostname(host, sizeof(host) - 1);
	for (; f && good && *name; name++) {
		if (*name != '%')
			fputc(*name, f);
		else if (*++name == 'p')
			fprintf(f, "%d", (int)getpid());
		else if (*name == 'h')
			fputs(host, f);
		else if (*name == '%')
			fputc('%', f);
		else
			good = false;
		if (!*name)
			break;
	}
	if (!f || fclose(f)) {
		free(path);
		gprof_error_set(e, ENOMEM, "no memory for a name");
		return NULL;
	}
	if (good)
		return path;
	free(path);
	gprof_error_set(e, EINVAL, "behind a %% in the name of a file stands p, for the number of the "
			"process, h, for the name of the host, or another %%");
	return NULL;
}

static int cannot(const char *path, int err, struct gprof_error *e)
{
	return gprof_error_set(e, err, "%.256s cannot be written: %s", path, gprof_strerror(err));
}

/* ---- existing files ---- */

/* Opens the checked file. A pipe without a reader would block the program. */
static int reopen(struct gprof_flags_file *f, int look, const char *path, struct gprof_error *e)
{
	char again[32];
	int fd;

	snprintf(again, sizeof(again), "/proc/self/fd/%d", look);
	fd = open(again, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0 && errno == ENXIO)
		return gprof_error_set(e, ENXIO, "%.256s cannot be written: it has no reader; start "
				       "the reader first", path);
	if (fd < 0)
		return cannot(path, errno, e);
	gprof_own_fd_adopt(&f->own, fd);
	f->path = strdup(path);
	return f->path ? 0 : gprof_error_set(e, ENOMEM, "no memory for a name");
}

static int refuse(const struct stat *st, const char *path, struct gprof_error *e)
{
	if (S_ISDIR(st->st_mode))
		return cannot(path, EISDIR, e);
	return gprof_error_set(e, EINVAL, "%.256s cannot be written: it is a %s; give a file, a pipe "
			       "or a character device", path,
			       S_ISBLK(st->st_mode) ? "disk" : "socket");
}

/* ---- a new file ---- */

/* ""/where/it/is/NAME", to which @path leads now; there need not be such a file. */
static char *resolve(const char *path)
{
	char *whole = realpath(path, NULL), *upto, *dir;
	const char *slash, *name;

	if (whole || errno != ENOENT)
		return whole;
	slash = strrchr(path, '/');
	name = slash ? slash + 1 : path;
	if (!*name) {
		errno = EISDIR;
		return NULL;
	}
	upto = slash ? strndup(path, (size_t)(name - path)) : strdup(".");
	dir = upto ? realpath(upto, NULL) : NULL;
	free(upto);
	if (dir && asprintf(&whole, "%s/%s", strcmp(dir, "/") ? dir : "", name) < 0)
		whole = NULL;
	free(dir);
	return whole;
}

/* Beside the existing file; a name that is unique in all namespaces. */
static char *temporary(const char *name)
{
	unsigned long long draw = 0;
	char *temp;

	if (getrandom(&draw, sizeof(draw), GRND_NONBLOCK) < 0)
		draw = gprof_own_process();
	return asprintf(&temp, "%.200s.%016llx.new", name, draw) < 0 ? NULL : temp;
}

/* A file without a name goes with the process, however that ends; NFS, say, has none. */
static int open_new(struct gprof_flags_file *f)
{
	int fd = openat(f->dir.fd, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666), tries;

	if (fd >= 0 || errno != EOPNOTSUPP)
		return fd;
	f->owner = gprof_own_process();
	for (tries = 0; fd < 0 && tries < TRIES; tries++) {
		free(f->temp);
		f->temp = temporary(f->name);
		if (!f->temp)
			return -1;
		fd = openat(f->dir.fd, f->temp, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY | O_CLOEXEC,
			    0666);
		if (fd < 0 && errno != EEXIST)
			break;
	}
	if (fd < 0) {
		free(f->temp);
		f->temp = NULL;
	}
	return fd;
}

/* @st: of the file that it replaces, or NULL: there was none. */
static int open_beside(struct gprof_flags_file *f, const char *path, const struct stat *st,
		       struct gprof_error *e)
{
	struct stat now;
	char *slash;
	int fd;

	f->path = resolve(path);
	if (!f->path)
		return cannot(path, errno, e);
	slash = strrchr(f->path, '/');
	f->name = strdup(slash + 1);
	if (!f->name)
		return gprof_error_set(e, ENOMEM, "no memory for a name");
	*slash = '\0';
	fd = open(slash > f->path ? f->path : "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	*slash = '/';
	if (fd < 0)
		return cannot(path, errno, e);
	gprof_own_fd_adopt(&f->dir, fd);
	/* Another file may be there since. */
	fd = fstatat(f->dir.fd, f->name, &now, AT_SYMLINK_NOFOLLOW);
	if (!fd && S_ISLNK(now.st_mode))
		return gprof_error_set(e, ENOENT, "%.256s cannot be written: it is a link that leads "
				       "nowhere", path);
	if (st ? fd || now.st_dev != st->st_dev || now.st_ino != st->st_ino : !fd)
		return gprof_error_set(e, EAGAIN, "%.256s cannot be written: it has become another "
				       "file just now", path);
	fd = open_new(f);
	if (fd < 0)
		return cannot(path, errno, e);
	gprof_own_fd_adopt(&f->own, fd);
	if (st)
		fchmod(f->own.fd, st->st_mode & 0777);
	return 0;
}

/* ---- any ---- */

static int open_path(struct gprof_flags_file *f, const char *path, struct gprof_error *e)
{
	int look = open(path, O_PATH | O_CLOEXEC), err;
	struct stat st;

	if (look < 0)
		return errno == ENOENT ? open_beside(f, path, NULL, e) : cannot(path, errno, e);
	if (fstat(look, &st))
		err = cannot(path, errno, e);
	else if (S_ISREG(st.st_mode))
		err = open_beside(f, path, &st, e);
	else if (S_ISFIFO(st.st_mode) || S_ISCHR(st.st_mode))
		err = reopen(f, look, path, e);
	else
		err = refuse(&st, path, e);
	close(look);
	return err;
}

int gprof_flags_file_open(struct gprof_flags_file *f, const char *name, struct gprof_error *e)
{
	char *path;
	int fd, err;

	*f = GPROF_FLAGS_FILE_NONE;
	if (!name) {
		fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
		if (fd < 0)
			return cannot("stderr", errno, e);
		gprof_own_fd_adopt(&f->own, fd);
		return 0;
	}
	path = expand(name, e);
	if (!path)
		return -e->err;
	err = open_path(f, path, e);
	free(path);
	if (err)
		gprof_flags_file_drop(f);
	return err;
}

int gprof_flags_file_is_there(const struct gprof_flags_file *f, struct gprof_error *e)
{
	if (gprof_own_fd_is(&f->own) && (!f->name || gprof_own_fd_is(&f->dir)))
		return 0;
	return gprof_error_set(e, EBADF, "%.256s was not written: the program has closed it meanwhile, "
			       "which the library had opened", f->path ? f->path : "stderr");
}

static int give_name(struct gprof_flags_file *f)
{
	char from[32];
	int tries, err = 0;

	f->owner = gprof_own_process();
	snprintf(from, sizeof(from), "/proc/self/fd/%d", f->own.fd);
	for (tries = 0; tries < TRIES; tries++) {
		free(f->temp);
		f->temp = temporary(f->name);
		if (!f->temp)
			return ENOMEM;
		if (!linkat(AT_FDCWD, from, f->dir.fd, f->temp, AT_SYMLINK_FOLLOW))
			return 0;
		err = errno;
		if (err != EEXIST)
			break;
	}
	free(f->temp);
	f->temp = NULL;
	return err;
}

/* Linked beside the existing file, for a link replaces nothing, and renamed over it. */
int gprof_flags_file_commit(struct gprof_flags_file *f, struct gprof_error *e)
{
	int err = gprof_flags_file_is_there(f, e);

	if (err || !f->name)
		return err;
	if (!f->temp)
		err = give_name(f);
	if (!err && renameat(f->dir.fd, f->temp, f->dir.fd, f->name))
		err = errno;
	if (err)
		return cannot(f->path, err, e);
	free(f->temp);
	f->temp = NULL;
	return 0;
}

void gprof_flags_file_drop(struct gprof_flags_file *f)
{
	/* A child has a copy of its parent's state. */
	if (f->temp && f->owner == gprof_own_process() && gprof_own_fd_is(&f->dir))
		unlinkat(f->dir.fd, f->temp, 0);
	gprof_own_fd_close(&f->own);
	gprof_own_fd_close(&f->dir);
	free(f->temp);
	free(f->path);
	free(f->name);
	*f = GPROF_FLAGS_FILE_NONE;
}
