// SPDX-License-Identifier: GPL-2.0-only
/*
 * A directory of snapshots.
 *
 * The directory is looked up by its name each time: one that is removed and made again gets the
 * next snapshot. Others may write to it, or to those above it. So no symbolic link is followed
 * that was not there from the beginning, a new directory must be ours, and names are not
 * predictable.
 */
#include "snapshots.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cli/cmd.h"
#include "cli/diag.h"

#define SUFFIX		".trace"
#define STAMP		"dddddddd?dddddd.ddd?-"	/* 20261123T170102.123Z- */
#define NAMESAKES	16	/* of these that are numbered, before some at random */
#define NUMBERED	8
#define TEMPS		8

/**
 * struct snapshot - one in the directory
 * @name: sorted by time
 * @bytes: size
 */
struct snapshot {
	char name[SNAPSHOT_NAME];
	unsigned long long bytes;
};

static bool is_stamped(const char *name)
{
	for (size_t i = 0; STAMP[i]; i++) {
		if (STAMP[i] == 'd' ? !isdigit((unsigned char)name[i]) :
		    STAMP[i] == '?' ? !isupper((unsigned char)name[i]) : name[i] != STAMP[i])
			return false;
	}
	return true;
}

static bool is_snapshot(const char *name)
{
	size_t len = strlen(name);

	return len < SNAPSHOT_NAME && is_stamped(name) &&
	       !strcmp(name + len - strlen(SUFFIX), SUFFIX);
}

static unsigned int random_number(void)
{
	unsigned int n;

	if (getrandom(&n, sizeof(n), 0) != sizeof(n))
		n = (unsigned int)getpid();
	return n;
}

/* Was it begun by a process that is no more? Ours are called .snapshot-PID-RANDOM.tmp. */
static bool seems_left_over(const char *name)
{
	int pid, end = 0;

	return sscanf(name, ".snapshot-%d-%*8[0-9a-f].tmp%n", &pid, &end) == 1 && end &&
	       !name[end] && kill(pid, 0) && errno == ESRCH;
}

/*
 * It may be another's number: of another host, or of a container that shares the directory. A
 * process that still writes to it holds a lock.
 */
static void remove_left_over(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return;
	if (!flock(fd, LOCK_EX | LOCK_NB) || errno != EWOULDBLOCK)
		unlinkat(dir, name, 0);
	close(fd);
}

/* Against remove_left_over(), which may have been quicker. */
static bool hold(int fd)
{
	struct stat st;

	if (flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
		return false;
	return !fstat(fd, &st) && st.st_nlink;
}

/* A directory, by a path without symbolic links. */
static int open_plain(const char *path)
{
	struct open_how how = {
		.flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC,
		.resolve = RESOLVE_NO_SYMLINKS,
	};

	return (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));
}

static bool is_known(const struct snapshots *s, const struct stat *st)
{
	return st->st_dev == s->dev && st->st_ino == s->ino;
}

static void remember_dir(struct snapshots *s, const struct stat *st)
{
	s->dev = st->st_dev;
	s->ino = st->st_ino;
}

/* A user that can change a directory above it cannot have one made elsewhere. */
static int make_again(const struct snapshots *s)
{
	char *slash = strrchr(s->path, '/');
	char *above = slash ? xprintf("%.*s", (int)(slash - s->path) + 1, s->path) : NULL;
	int parent = open_plain(above ? above : "."), ret = -1;

	free(above);
	if (parent >= 0) {
		ret = mkdirat(parent, slash ? slash + 1 : s->path, 0777);
		close(parent);
	}
	return ret;
}

/* The directory, or -1 after a sentence. */
static int open_again(struct snapshots *s)
{
	int dir = open_plain(s->path);
	struct stat st;

	if (dir < 0 && errno == ENOENT && (!make_again(s) || errno == EEXIST))
		dir = open_plain(s->path);
	if (dir < 0) {
		fail("%s: %s", s->path, errno != ELOOP ? strerror(errno) :
		     "its path has a symbolic link that was not there before");
		return -1;
	}
	if (!fstat(dir, &st) && (is_known(s, &st) || st.st_uid == geteuid())) {
		remember_dir(s, &st);
		return dir;
	}
	close(dir);
	fail("%s: another directory has come in its place, and is not yours", s->path);
	return -1;
}

/* As the user means it: by links too, but by none that another has put in its place. */
static int open_first(const char *path)
{
	int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC, dir;
	struct stat st = { 0 };

	if (mkdir(path, 0777) && errno != EEXIST) {
		fail("the directory %s cannot be made: %s", path, strerror(errno));
		return -1;
	}
	lstat(path, &st);
	if (!S_ISLNK(st.st_mode))
		flags |= O_NOFOLLOW;
	if (S_ISLNK(st.st_mode) && st.st_uid && st.st_uid != geteuid()) {
		fail("%s is a symbolic link of another user", path);
		return -1;
	}
	dir = open(path, flags);
	if (dir < 0)
		fail("%s: %s; -o wants a directory for the snapshots", path, strerror(errno));
	return dir;
}

/* Without links, so that those that come later are told from those that were there. */
static int set_path(struct snapshots *s, int dir)
{
	struct stat st;
	int plain;

	if (fstat(dir, &st))
		return -1;
	remember_dir(s, &st);
	plain = open_plain(s->path);
	if (plain < 0 && errno == ELOOP) {
		free(s->path);
		s->path = realpath(s->dir, NULL);
		plain = s->path ? open_plain(s->path) : -1;
	}
	if (plain < 0 || fstat(plain, &st))
		return -1;
	close(plain);
	errno = ESTALE;
	return is_known(s, &st) ? 0 : -1;
}

static void remove_left_overs(int fd)
{
	DIR *dir = fdopendir(fd);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (seems_left_over(entry->d_name))
			remove_left_over(fd, entry->d_name);
	if (dir)
		closedir(dir);
	else
		close(fd);
}

int snapshots_begin(struct snapshots *s)
{
	size_t len = strlen(s->dir);
	int dir;

	s->fd = -1;
	s->at = -1;
	while (len > 1 && s->dir[len - 1] == '/')
		len--;
	s->path = xprintf("%.*s", (int)len, s->dir);
	dir = open_first(s->path);
	if (dir < 0)
		return STATUS_FAILED;
	if (set_path(s, dir)) {
		close(dir);
		return fail("%s: %s", s->dir, strerror(errno));
	}
	remove_left_overs(dir);
	return STATUS_OK;
}

static void leave(struct snapshots *s)
{
	if (s->fd >= 0)
		close(s->fd);
	if (s->at >= 0)
		close(s->at);
	s->fd = -1;
	s->at = -1;
}

int snapshots_open(struct snapshots *s)
{
	int i, err = EEXIST;

	s->at = open_again(s);
	if (s->at < 0)
		return STATUS_FAILED;
	/* Other writers may use any name that they can predict. */
	for (i = 0; s->fd < 0 && err == EEXIST && i < TEMPS; i++) {
		snprintf(s->temp, sizeof(s->temp), ".snapshot-%d-%08x.tmp", (int)getpid(),
			 random_number());
		s->fd = openat(s->at, s->temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		err = errno;
		if (s->fd >= 0 && !hold(s->fd)) {
			close(s->fd);
			s->fd = -1;
			err = EEXIST;
		}
	}
	if (s->fd >= 0)
		return STATUS_OK;
	leave(s);
	return fail("%s: %s", s->path, strerror(err));
}

void snapshots_discard(struct snapshots *s)
{
	if (s->fd >= 0)
		unlinkat(s->at, s->temp, 0);
	leave(s);
}

void snapshots_abandon(const struct snapshots *s)
{
	if (s->fd >= 0)
		unlinkat(s->at, s->temp, 0);
}

void snapshots_end(struct snapshots *s)
{
	snapshots_discard(s);
	free(s->path);
	s->path = NULL;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct snapshot *)a)->name, ((const struct snapshot *)b)->name);
}

/*
 * Those of the directory whose owner is @owner, the oldest first. One with another name besides is
 * kept by its user, and to remove it here would make no room.
 */
static struct snapshot *list(int fd, uid_t owner, size_t *nr)
{
	struct snapshot *all = NULL;
	struct dirent *entry;
	size_t room = 0;
	struct stat st;
	DIR *dir;

	*nr = 0;
	fd = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	dir = fd < 0 ? NULL : fdopendir(fd);
	while (dir && (entry = readdir(dir))) {
		if (!is_snapshot(entry->d_name) ||
		    fstatat(fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) ||
		    !S_ISREG(st.st_mode) || st.st_uid != owner || st.st_nlink != 1)
			continue;
		all = xgrow(all, *nr, &room, sizeof(*all));
		snprintf(all[*nr].name, sizeof(all[*nr].name), "%s", entry->d_name);
		all[(*nr)++].bytes = st.st_size;
	}
	if (dir)
		closedir(dir);
	if (all)
		qsort(all, *nr, sizeof(*all), by_name);
	return all;
}

/* The one that was just written stays, however large. */
static void remove_oldest(struct snapshots *s, const char *newest)
{
	unsigned long long bytes = 0;
	struct snapshot *all;
	size_t nr, left, i;
	struct stat st;

	if (fstatat(s->at, newest, &st, AT_SYMLINK_NOFOLLOW))
		return;
	all = list(s->at, st.st_uid, &nr);
	for (i = 0; i < nr; i++)
		bytes += all[i].bytes;
	for (i = 0, left = nr; i < nr; i++) {
		if (!(s->keep && left > s->keep) && !(s->bytes && bytes > s->bytes))
			break;
		if (!strcmp(all[i].name, newest))
			continue;
		/* Another may have been quicker. */
		if (!unlinkat(s->at, all[i].name, 0))
			s->removed++;
		bytes -= all[i].bytes;
		left--;
	}
	free(all);
}

static void name_it(char name[SNAPSHOT_NAME], const struct timespec *when, const char *reason,
		    int namesake)
{
	char stamp[32], number[16] = "";
	struct tm tm;

	gmtime_r(&when->tv_sec, &tm);
	strftime(stamp, sizeof(stamp), "%Y%m%dT%H%M%S", &tm);
	if (namesake >= NUMBERED)
		snprintf(number, sizeof(number), "-%08x", random_number());
	else if (namesake)
		snprintf(number, sizeof(number), "-%d", namesake + 1);
	snprintf(name, SNAPSHOT_NAME, "%s.%03ldZ-%.40s%s" SUFFIX, stamp,
		 when->tv_nsec / 1000000 % 1000, reason, number);
}

/* Where a file cannot have two names: over a new file of our own. */
static int move(struct snapshots *s, const char *name)
{
	int fd = openat(s->at, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600), err;

	if (fd < 0)
		return -errno;
	close(fd);
	if (!renameat(s->at, s->temp, s->at, name))
		return 0;
	err = -errno;
	unlinkat(s->at, name, 0);
	return err;
}

/* Under an unused name; no file is ever replaced. */
static int publish(struct snapshots *s, const struct timespec *when, const char *reason,
		   char name[SNAPSHOT_NAME])
{
	int i, err = -EEXIST;

	for (i = 0; err == -EEXIST && i < NAMESAKES; i++) {
		name_it(name, when, reason, i);
		err = linkat(s->at, s->temp, s->at, name, 0) ? -errno : 0;
		if (!err)
			unlinkat(s->at, s->temp, 0);
		else if (err == -EPERM || err == -EOPNOTSUPP || err == -ENOSYS || err == -EMLINK)
			err = move(s, name);
	}
	return err;
}

/* Else it would be told to be where it is not. */
static bool is_in_place(const struct snapshots *s)
{
	int dir = open_plain(s->path);
	struct stat st;
	bool same = dir >= 0 && !fstat(dir, &st) && is_known(s, &st);

	if (dir >= 0)
		close(dir);
	return same;
}

int snapshots_commit(struct snapshots *s, const struct timespec *when, const char *reason,
		     char name[SNAPSHOT_NAME])
{
	int err;

	if (!is_in_place(s)) {
		snapshots_discard(s);
		return fail("%s: it has gone while the snapshot was written", s->path);
	}
	err = publish(s, when, reason, name);
	if (!err) {
		/* Errors of a full disk appear here, if not before. */
		err = close(s->fd) ? -errno : 0;
		s->fd = -1;
		if (err)
			unlinkat(s->at, name, 0);
		else
			remove_oldest(s, name);
		leave(s);
	}
	snapshots_discard(s);
	return err ? fail("%s: %s", s->path, strerror(-err)) : STATUS_OK;
}
