// SPDX-License-Identifier: GPL-2.0-only
/*
 * A directory of items.
 *
 * A file is written under another name, synced, and renamed; the directory is synced then. So the
 * power may fail at any time. The writer has a lock that ends with the process in any case, and
 * the kernel names its owner.
 */
#include "store_dir.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/cmd.h"
#include "cli/diag.h"

#define LOCK_FILE	"lock"
#define TEMP		".item.tmp"	/* there is one writer, with one at a time */
#define BLOCK		4096
#define HOUR		"dddddddd?dd"

/* ---- the directory ---- */

__attribute__((format(printf, 2, 3)))
static int complain(const struct store_dir *d, const char *fmt, ...)
{
	char text[512];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	return d->quiet ? STATUS_FAILED : fail("%s", text);
}

static int open_plain(const char *path)
{
	return open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

int store_dir_open(struct store_dir *d, const char *path)
{
	struct stat st;

	d->path = path;
	d->fd = open_plain(path);
	d->lock = -1;
	if (d->fd < 0)
		return complain(d, "the store %s cannot be opened: %s", path,
			    errno == ELOOP ? "it is a symbolic link" : strerror(errno));
	if (fstat(d->fd, &st)) {
		store_dir_close(d);
		return complain(d, "%s: %s", path, strerror(errno));
	}
	d->dev = st.st_dev;
	d->ino = st.st_ino;
	return STATUS_OK;
}

/* Its contents are private, and trusted as written. */
static int check_private(const struct store_dir *d)
{
	struct stat st;

	if (fstat(d->fd, &st))
		return complain(d, "%s: %s", d->path, strerror(errno));
	if (st.st_uid != geteuid())
		return complain(d, "the store %s belongs to another user (%u); choose a directory of your "
			    "own", d->path, (unsigned int)st.st_uid);
	if (st.st_mode & 077)
		return complain(d, "the store %s is open to others (mode %04o), and shows what all here "
			    "run; chmod 700 %s", d->path, (unsigned int)st.st_mode & 07777,
			    d->path);
	return STATUS_OK;
}

/* A lock of this process as a whole: the file is opened once. */
static int acquire_lock(struct store_dir *d)
{
	struct flock all = { .l_type = F_WRLCK, .l_whence = SEEK_SET }, other = all;

	d->lock = openat(d->fd, LOCK_FILE, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (d->lock < 0)
		return complain(d, "%s/" LOCK_FILE ": %s", d->path, strerror(errno));
	if (!fcntl(d->lock, F_SETLK, &all))
		return STATUS_OK;
	if (errno != EACCES && errno != EAGAIN)
		return complain(d, "%s/" LOCK_FILE ": %s", d->path, strerror(errno));
	if (!fcntl(d->lock, F_GETLK, &other) && other.l_type != F_UNLCK && other.l_pid > 0)
		return complain(d, "process %d writes to the store %s; each needs a store of its own",
			    (int)other.l_pid, d->path);
	return complain(d, "another process writes to the store %s; each needs a store of its own",
		    d->path);
}

int store_dir_own(struct store_dir *d, const char *path)
{
	int status;

	d->fd = d->lock = -1;
	if (mkdir(path, 0700) && errno != EEXIST)
		return complain(d, "the store %s cannot be made: %s", path, strerror(errno));
	status = store_dir_open(d, path);
	if (status == STATUS_OK)
		status = check_private(d);
	if (status == STATUS_OK)
		status = acquire_lock(d);
	if (status != STATUS_OK)
		store_dir_close(d);
	return status;
}

void store_dir_close(struct store_dir *d)
{
	if (d->lock >= 0)
		close(d->lock);
	if (d->fd >= 0)
		close(d->fd);
	d->fd = d->lock = -1;
}

bool store_dir_present(const struct store_dir *d)
{
	struct stat st;

	return d->fd >= 0 && !lstat(d->path, &st) && st.st_dev == d->dev && st.st_ino == d->ino;
}

/* ---- hours ---- */

void hour_name(uint64_t start_ns, char hour[HOUR_NAME])
{
	time_t s = (time_t)(start_ns / 1000000000ULL);
	struct tm tm;

	gmtime_r(&s, &tm);
	strftime(hour, HOUR_NAME, "%Y%m%dT%H", &tm);
}

static bool is_hour(const char *name)
{
	size_t i;

	for (i = 0; HOUR[i]; i++)
		if (HOUR[i] == 'd' ? !isdigit((unsigned char)name[i]) : name[i] != 'T')
			return false;
	return !name[i];
}

static int by_name(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* Another descriptor of it: to read a directory moves its position. */
static DIR *read_dir(int fd)
{
	DIR *dir;

	fd = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir && fd >= 0)
		close(fd);
	return dir;
}

ssize_t store_dir_hours(const struct store_dir *d, char (**hours)[HOUR_NAME])
{
	char (*all)[HOUR_NAME] = NULL;
	size_t nr = 0, room = 0;
	struct dirent *entry;
	DIR *dir = read_dir(d->fd);

	*hours = NULL;
	if (!dir)
		return -errno;
	while ((entry = readdir(dir))) {
		if (!is_hour(entry->d_name))
			continue;
		all = xgrow(all, nr, &room, sizeof(*all));
		strcpy(all[nr++], entry->d_name);
	}
	closedir(dir);
	if (nr)
		qsort(all, nr, sizeof(*all), by_name);
	*hours = all;
	return (ssize_t)nr;
}

int store_dir_hour(const struct store_dir *d, const char *hour, bool make)
{
	int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, fd;

	fd = openat(d->fd, hour, flags);
	if (fd >= 0 || errno != ENOENT || !make)
		return fd < 0 ? -errno : fd;
	if ((mkdirat(d->fd, hour, 0700) && errno != EEXIST) || fsync(d->fd))
		return -errno;
	fd = openat(d->fd, hour, flags);
	return fd < 0 ? -errno : fd;
}

uint64_t item_bytes(uint64_t size)
{
	return (size + BLOCK - 1) / BLOCK * BLOCK;
}

int store_dir_each(int hour, bool own,
		   int (*fn)(void *ctx, const struct item_name *n, uint64_t bytes), void *ctx)
{
	struct item_name n;
	struct dirent *entry;
	struct stat st = { 0 };
	DIR *dir = read_dir(hour);
	int ret = 0;

	if (!dir)
		return -errno;
	while (!ret) {
		errno = 0;
		entry = readdir(dir);
		if (!entry) {
			ret = -errno;
			break;
		}
		if (own && !strcmp(entry->d_name, TEMP))
			unlinkat(hour, TEMP, 0);
		/* Which no process removes: it would be in the way of those behind it. */
		if (entry->d_type == DT_DIR || !item_name_parse(&n, entry->d_name))
			continue;
		if (own && (fstatat(hour, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) ||
			    !S_ISREG(st.st_mode)))
			continue;
		ret = fn(ctx, &n, item_bytes((uint64_t)st.st_size));
	}
	closedir(dir);
	return ret;
}

/* ---- items ---- */

static int hour_of(const struct store_dir *d, const struct item_name *n, bool make)
{
	char hour[HOUR_NAME];

	hour_name(n->start_ns, hour);
	return store_dir_hour(d, hour, make);
}

static int write_all(int fd, const char *data, size_t size)
{
	while (size) {
		ssize_t n = write(fd, data, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		data += n;
		size -= (size_t)n;
	}
	return fsync(fd) ? -errno : 0;
}

int store_dir_write(const struct store_dir *d, struct item_name *n, const void *data, size_t size)
{
	int hour = hour_of(d, n, true), fd, err;
	char name[ITEM_NAME];

	if (hour < 0)
		return hour;
	n->sum = item_sum(n, data, size);
	item_name_text(n, name);
	unlinkat(hour, TEMP, 0);
	fd = openat(hour, TEMP, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	err = fd < 0 ? -errno : write_all(fd, data, size);
	if (fd >= 0 && close(fd) && !err)
		err = -errno;
	if (!err && renameat(hour, TEMP, hour, name))
		err = -errno;
	if (!err && fsync(hour))
		err = -errno;
	if (err && fd >= 0) {
		unlinkat(hour, TEMP, 0);
		unlinkat(hour, name, 0);
	}
	close(hour);
	return err;
}

int store_dir_rename(const struct store_dir *d, const struct item_name *from,
		     const struct item_name *to)
{
	char before[ITEM_NAME], after[ITEM_NAME];
	int hour = hour_of(d, from, false), err;

	if (hour < 0)
		return hour;
	item_name_text(from, before);
	item_name_text(to, after);
	err = renameat(hour, before, hour, after) || fsync(hour) ? -errno : 0;
	close(hour);
	return err;
}

int store_dir_remove(const struct store_dir *d, const struct item_name *n, uint64_t *bytes)
{
	int hour = hour_of(d, n, false), err = 0;
	char name[ITEM_NAME], dir[HOUR_NAME];
	struct stat st;

	if (hour < 0)
		return hour;
	item_name_text(n, name);
	if (fstatat(hour, name, &st, AT_SYMLINK_NOFOLLOW) || unlinkat(hour, name, 0))
		err = -errno;
	else
		*bytes = item_bytes((uint64_t)st.st_size);
	close(hour);
	hour_name(n->start_ns, dir);
	unlinkat(d->fd, dir, AT_REMOVEDIR);
	return err;
}

static int read_all(int fd, char **data, size_t *size)
{
	struct stat st;
	size_t got = 0;
	ssize_t n = 1;

	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_size < 0 || st.st_size > ITEM_BYTES_MAX)
		return -EBADMSG;
	*size = (size_t)st.st_size;
	*data = malloc(*size + 1);
	if (!*data)
		return -ENOMEM;
	while (got < *size && (n = read(fd, *data + got, *size - got)) > 0)
		got += (size_t)n;
	if (n < 0)
		return -errno;
	return got == *size ? 0 : -EBADMSG;
}

int store_dir_read(int hour, const struct item_name *n, void **data, size_t *size)
{
	char name[ITEM_NAME], *bytes = NULL;
	int fd, err;

	item_name_text(n, name);
	fd = openat(hour, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	err = fd < 0 ? -errno : read_all(fd, &bytes, size);
	if (fd >= 0)
		close(fd);
	if (!err && item_sum(n, bytes, *size) != n->sum)
		err = -EBADMSG;
	if (err)
		free(bytes);
	*data = err ? NULL : bytes;
	return err;
}
