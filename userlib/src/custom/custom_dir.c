// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * custom_dir.c: directories of published profiles, and their owners.
 *
 * The writer of a file holds a lock on it (F_SETLK). The kernel names the lock's owner, and drops
 * it at exit and at exec, so that no process is taken for another that had its number.
 */
#include "custom_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define PATH_SIZE	256
#define TMP		2	/* the first that is shared */
#define OWN_TRIES	64	/* a listing removes empty ones */
#define DIR_FLAGS	(O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)

/* ---- names ---- */

int gprof_custom_name_check(const char *name, struct gprof_error *e)
{
	size_t i, len = name ? strnlen(name, GPROF_CUSTOM_NAME_MAX + 1) : 0;

	if (!len)
		return gprof_error_set(e, EINVAL, "a custom profile needs a name");
	if (len > GPROF_CUSTOM_NAME_MAX)
		return gprof_error_set(e, EINVAL, "the name of a custom profile has %d bytes at most",
				       GPROF_CUSTOM_NAME_MAX);
	for (i = 0; i < len; i++)
		if ((unsigned char)name[i] < ' ' || name[i] == 0x7f)
			return gprof_error_set(e, EINVAL, "the name of a custom profile has no "
					       "control characters");
	return 0;
}

/* No file is hidden, nor "." or "..", and none of these is anything to a shell. */
static bool is_plain(unsigned char c, bool first)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       (!first && (c == '.' || c == '_' || c == '-'));
}

void gprof_custom_file_of(const char *name, char *file)
{
	size_t i;

	for (i = 0; name[i] && i < GPROF_CUSTOM_NAME_MAX; i++) {
		if (is_plain((unsigned char)name[i], !i))
			*file++ = name[i];
		else
			file += sprintf(file, "%%%02X", (unsigned char)name[i]);
	}
	*file = '\0';
}

bool gprof_custom_name_of(const char *file, char *name)
{
	char again[GPROF_CUSTOM_FILE_SIZE];
	const char *from = file;
	size_t nr = 0;

	while (*from && nr < GPROF_CUSTOM_NAME_MAX) {
		unsigned int byte = (unsigned char)*from;
		int len = 1;

		if (*from == '%' && (sscanf(from, "%%%2X%n", &byte, &len) != 1 || len != 3))
			return false;
		if (!byte)
			return false;
		from += len;
		name[nr++] = (char)byte;
	}
	name[nr] = '\0';
	if (*from || gprof_custom_name_check(name, NULL))
		return false;
	/* One name, one file. */
	gprof_custom_file_of(name, again);
	return !strcmp(again, file);
}

/* ---- directories ---- */

/* A directory that is the user's alone; descriptor or -errno. */
static int open_own(int at, const char *path, uid_t uid)
{
	int fd = openat(at, path, DIR_FLAGS);
	struct stat st;

	if (fd < 0)
		return errno == ELOOP || errno == ENOTDIR ? -EPERM : -errno;
	if (fstat(fd, &st) || st.st_uid != uid || st.st_mode & 077) {
		close(fd);
		return -EPERM;
	}
	return fd;
}

/*
 * The @n-th: of the session, as it says or where it usually is; or one in a shared directory, on
 * disk or in memory. @parent: its parent; @name: its name there. false: there is none.
 */
static bool base_of(unsigned int n, uid_t uid, char *parent, char *name, size_t size)
{
	const char *dir = secure_getenv("XDG_RUNTIME_DIR");
	int len;

	snprintf(name, size, n < TMP ? "gprof" : "gprof-%u", uid);
	switch (n) {
	case 0:
		if (!dir || dir[0] != '/')
			return false;
		len = snprintf(parent, size, "%s", dir);
		break;
	case 1:
		len = snprintf(parent, size, "/run/user/%u", uid);
		break;
	default:
		len = snprintf(parent, size, n == TMP ? "/tmp" : "/dev/shm");
		break;
	}
	return len > 0 && (size_t)len < size;
}

/* The parent is the user's alone, or owners of its entries are checked. */
static int open_parent(unsigned int n, const char *parent, uid_t uid)
{
	int fd;

	if (n < TMP)
		return open_own(AT_FDCWD, parent, uid);
	fd = open(parent, DIR_FLAGS & ~O_NOFOLLOW);
	return fd < 0 ? -errno : fd;
}

/* Where the @n-th lies, and its name there. */
static int parent_of(unsigned int n, uid_t uid, char *name)
{
	char parent[PATH_SIZE];

	return base_of(n, uid, parent, name, PATH_SIZE) ? open_parent(n, parent, uid) : -ENOENT;
}

int gprof_custom_base_open(unsigned int n, uid_t uid)
{
	char name[PATH_SIZE];
	int at = parent_of(n, uid, name), fd;

	if (at < 0)
		return at;
	fd = open_own(at, name, uid);
	close(at);
	return fd;
}

/*
 * Does the file system write a block again in its place? One that copies it instead gives a
 * mapping of it a SIGBUS once the disk is full.
 */
static bool writes_in_place(int fd)
{
	struct statfs st;

	if (fstatfs(fd, &st))
		return false;
	switch ((unsigned long)st.f_type & 0xffffffff) {
	case TMPFS_MAGIC:
	case RAMFS_MAGIC:
	case EXT4_SUPER_MAGIC:
	case XFS_SUPER_MAGIC:
		return true;
	default:
		return false;
	}
}

/* A directory that is the caller's alone, which may have to be made. */
static int make_own(int at, const char *name, uid_t uid)
{
	int fd = -ENOENT, tries;

	for (tries = 0; fd == -ENOENT && tries < OWN_TRIES; tries++) {
		if (mkdirat(at, name, 0700) && errno != EEXIST)
			return -errno;
		fd = open_own(at, name, uid);
	}
	return fd;
}

static int make_in(unsigned int n, uid_t uid, pid_t pid)
{
	char name[PATH_SIZE], number[16];
	int at = parent_of(n, uid, name), base, fd;

	if (at < 0)
		return at;
	if (!writes_in_place(at)) {
		close(at);
		return -EOPNOTSUPP;
	}
	base = make_own(at, name, uid);
	close(at);
	if (base < 0)
		return base;
	snprintf(number, sizeof(number), "%d", pid);
	fd = make_own(base, number, uid);
	close(base);
	/* systemd-tmpfiles leaves locked directories alone, however old. */
	if (fd >= 0)
		flock(fd, LOCK_SH | LOCK_NB);
	return fd;
}

int gprof_custom_dir_make(struct gprof_error *e)
{
	uid_t uid = geteuid();
	int fd = -ENOENT;
	unsigned int n;

	/* The last is for want of a file system that is fit. */
	for (n = 0; n < GPROF_CUSTOM_BASES && (n <= TMP || fd == -EOPNOTSUPP); n++) {
		fd = make_in(n, uid, getpid());
		if (fd >= 0)
			return fd;
	}
	if (n > TMP + 1)
		return gprof_error_set(e, -fd, "/tmp is on a file system that copies what is written "
				       "again, and /dev/shm/gprof-%u: %s; set XDG_RUNTIME_DIR to a "
				       "directory of mode 0700 in memory, or do not publish the profile",
				       uid, gprof_strerror(-fd));
	if (fd == -EPERM)
		return gprof_error_set(e, EPERM, "/tmp/gprof-%u: not a directory of this user alone, "
				       "so no profile is published in it; remove it, or set "
				       "XDG_RUNTIME_DIR to a directory of mode 0700", uid);
	return gprof_error_set(e, -fd, "/tmp/gprof-%u: %s; set XDG_RUNTIME_DIR to a directory of "
			       "mode 0700, or do not publish the profile", uid, gprof_strerror(-fd));
}

int gprof_custom_pid_open(int base, pid_t pid, uid_t uid)
{
	char number[16];

	snprintf(number, sizeof(number), "%d", pid);
	return open_own(base, number, uid);
}

void gprof_custom_pid_remove(int base, pid_t pid)
{
	char number[16];

	snprintf(number, sizeof(number), "%d", pid);
	unlinkat(base, number, AT_REMOVEDIR);
}

pid_t gprof_custom_file_holder(int fd)
{
	struct flock l = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	if (fcntl(fd, F_GETLK, &l))
		return -1;
	if (l.l_type == F_UNLCK)
		return 0;
	/* Of another pid namespace it has no number here. */
	return l.l_pid > 0 ? l.l_pid : -1;
}
