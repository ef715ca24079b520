// SPDX-License-Identifier: GPL-2.0-only
/*
 * A regular file is written under a temporary name in its own directory and
 * renamed. Anything else is written directly.
 */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd.h"
#include "diag.h"

/* Open outputs, for unplanned exits. */
static struct output *open_outputs;

void output_discard_all(void)
{
	for (const struct output *o = open_outputs; o; o = o->next)
		if (o->temp)
			unlink(o->temp);
}

static void enlist(struct output *o)
{
	static bool registered;

	if (!registered && !atexit(output_discard_all))
		registered = true;
	o->next = open_outputs;
	open_outputs = o;
}

static void delist(struct output *o)
{
	struct output **at = &open_outputs;

	while (*at && *at != o)
		at = &(*at)->next;
	if (*at)
		*at = o->next;
}

/* Everything that has no place to be renamed to. */
static int open_direct(struct output *o, int fd, bool text)
{
	o->fd = fd;
	if (!text && isatty(fd)) {
		close(fd);
		o->fd = -1;
		return fail("%s is a terminal, which the output would garble: redirect it, or "
			    "give -o FILE", o->name);
	}
	enlist(o);
	return STATUS_OK;
}

/* Where a file that need not exist yet will stand. */
static char *resolve(const char *name)
{
	char *path = realpath(name, NULL);
	const char *slash;
	char *dir, *real;

	if (path || errno != ENOENT)
		return path;
	slash = strrchr(name, '/');
	if (slash && !slash[1]) {
		errno = EISDIR;
		return NULL;
	}
	dir = slash ? xprintf("%.*s", (int)(slash - name + 1), name) : xprintf(".");
	real = realpath(dir, NULL);
	free(dir);
	if (!real)
		return NULL;
	path = xprintf("%s/%s", real, slash ? slash + 1 : name);
	free(real);
	return path;
}

static int open_temp(struct output *o, mode_t mode)
{
	const char *slash = strrchr(o->path, '/');

	o->temp = xprintf("%.*s/.%s.XXXXXX", (int)(slash - o->path), o->path, slash + 1);
	o->fd = mkostemp(o->temp, O_CLOEXEC);
	if (o->fd < 0) {
		int error = errno;

		free(o->temp);
		o->temp = NULL;
		return fail("%s cannot be written: creating a file beside it failed: %s", o->name,
			    strerror(error));
	}
	enlist(o);
	fchmod(o->fd, mode);
	return STATUS_OK;
}

static int open_output(struct output *o, const char *name, bool text)
{
	mode_t mask = umask(0);
	struct stat st;
	int fd, status;

	umask(mask);
	*o = (struct output){ .name = name, .fd = -1 };
	if (!*name)
		return misused("\"\" is no file to write; give the name of one, or \"-\" for stdout");
	if (!strcmp(name, "-")) {
		o->name = "stdout";
		fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
		return fd < 0 ? fail("stdout cannot be written: %s", strerror(errno)) :
				open_direct(o, fd, text);
	}
	/* Also tells a file that this user may not write, before rename() replaces it. */
	fd = open(name, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0 && errno != ENOENT)
		return fail("%s cannot be written: %s", name, strerror(errno));
	if (fd >= 0 && !fstat(fd, &st) && !S_ISREG(st.st_mode))
		return open_direct(o, fd, text);
	o->path = resolve(name);
	if (!o->path)
		status = fail("%s cannot be written: %s", name, strerror(errno));
	else
		status = open_temp(o, fd >= 0 ? st.st_mode & 0777 : 0666 & ~mask);
	if (fd >= 0)
		close(fd);
	if (status != STATUS_OK) {
		free(o->path);
		o->path = NULL;
	}
	return status;
}

int output_open(struct output *o, const char *name)
{
	return open_output(o, name, false);
}

int output_open_text(struct output *o, const char *name)
{
	return open_output(o, name, true);
}

FILE *output_stream(const struct output *o)
{
	int fd = fcntl(o->fd, F_DUPFD_CLOEXEC, 0), error;
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");

	if (fd >= 0 && !f) {
		error = errno;
		close(fd);
		errno = error;
	}
	return f;
}

bool output_same(const struct output *a, const struct output *b)
{
	struct stat sa, sb;

	if (a->path || b->path)
		return a->path && b->path && !strcmp(a->path, b->path);
	return !fstat(a->fd, &sa) && !fstat(b->fd, &sb) && sa.st_dev == sb.st_dev &&
	       sa.st_ino == sb.st_ino;
}

static void forget(struct output *o)
{
	delist(o);
	free(o->temp);
	free(o->path);
	*o = (struct output){ .name = o->name, .fd = -1 };
}

/* By a second name first: at no time is there no file. */
static void keep_old(const struct output *o)
{
	char *old;
	struct stat st;

	if (lstat(o->path, &st) || !S_ISREG(st.st_mode) || !st.st_size)
		return;
	old = xprintf("%s~", o->path);
	if ((unlink(old) && errno != ENOENT) || (link(o->path, old) && rename(o->path, old)))
		diag("what %s was before is not kept: %s: %s", o->name, old, strerror(errno));
	else
		diag("%s was there already, and is now %s~", o->name, o->name);
	free(old);
}

int output_commit(struct output *o)
{
	int error = 0;

	/* Some file systems report a failed write no earlier than here. */
	if (close(o->fd))
		error = errno;
	o->fd = -1;
	if (!error && o->temp && o->keep_old)
		keep_old(o);
	if (!error && o->temp && rename(o->temp, o->path))
		error = errno;
	if (error) {
		int status = fail("%s could not be written: %s", o->name, strerror(error));

		output_discard(o);
		return status;
	}
	forget(o);
	return STATUS_OK;
}

int output_keep(struct output *o, off_t bytes)
{
	if (o->temp && !ftruncate(o->fd, bytes))
		return output_commit(o);
	output_discard(o);
	return STATUS_FAILED;
}

void output_discard(struct output *o)
{
	if (o->temp)
		unlink(o->temp);
	if (o->fd >= 0)
		close(o->fd);
	if (o->name)
		forget(o);
}

static const char *temporary;

void output_temporary(const char *file)
{
	temporary = file;
}

void output_place(const char *file, const char *what, const char *first, const char *second)
{
	struct stat st;

	if (temporary && !strcmp(file, temporary))
		return;
	if (!stat(file, &st) && S_ISREG(st.st_mode))
		diag("%s: %s%lld KiB; gprofctl %s %s, or gprofctl %s %s", file, what,
		     (long long)(st.st_size + 1023) / 1024, first, file, second, file);
}
