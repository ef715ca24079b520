// SPDX-License-Identifier: GPL-2.0-only
/*
 * A directory of snapshots.
 *
 * The directory is looked up by its name each time: who removes it and makes it again gets
 * the next snapshot.
 */
#include "snapshots.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd.h"
#include "say.h"

#define SUFFIX		".trace"
#define STAMP		"dddddddd?dddddd.ddd?-"	/* 20261123T170102.123Z- */
#define NAMESAKES	100

/**
 * struct snapshot - one in the directory
 * @name: whose order is that of time
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

/* Of a writer that is no more? Ours are called .snapshot-PID.tmp. */
static bool is_left_over(const char *name)
{
	int pid, end = 0;

	return sscanf(name, ".snapshot-%d.tmp%n", &pid, &end) == 1 && end && !name[end] &&
	       kill(pid, 0) && errno == ESRCH;
}

static int open_dir(const struct snapshots *s)
{
	return open(s->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static int make_dir(const struct snapshots *s)
{
	if (!mkdir(s->dir, 0777) || errno == EEXIST)
		return STATUS_OK;
	return fail("the directory %s cannot be made: %s", s->dir, strerror(errno));
}

int snapshots_begin(struct snapshots *s)
{
	struct dirent *entry;
	DIR *dir;
	int fd;

	s->fd = -1;
	if (make_dir(s) != STATUS_OK)
		return STATUS_FAILED;
	fd = open_dir(s);
	dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir)
		return fail("%s: %s; -o wants a directory for the snapshots", s->dir,
			    strerror(errno));
	while ((entry = readdir(dir)))
		if (is_left_over(entry->d_name))
			unlinkat(fd, entry->d_name, 0);
	closedir(dir);
	return STATUS_OK;
}

int snapshots_open(struct snapshots *s)
{
	int dir = open_dir(s), err;

	if (dir < 0 && errno == ENOENT && make_dir(s) == STATUS_OK)
		dir = open_dir(s);
	if (dir < 0)
		return fail("%s: %s", s->dir, strerror(errno));
	snprintf(s->temp, sizeof(s->temp), ".snapshot-%d.tmp", (int)getpid());
	unlinkat(dir, s->temp, 0);
	s->fd = openat(dir, s->temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	err = errno;
	close(dir);
	return s->fd < 0 ? fail("%s: %s", s->dir, strerror(err)) : STATUS_OK;
}

void snapshots_discard(struct snapshots *s)
{
	int dir;

	if (s->fd < 0)
		return;
	close(s->fd);
	s->fd = -1;
	dir = open_dir(s);
	if (dir >= 0) {
		unlinkat(dir, s->temp, 0);
		close(dir);
	}
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct snapshot *)a)->name, ((const struct snapshot *)b)->name);
}

/* Those of the directory, the oldest first. */
static struct snapshot *list(int fd, size_t *nr)
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
		    fstatat(fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
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

/* The newest stays, however large. */
static void remove_oldest(struct snapshots *s, int dir)
{
	unsigned long long bytes = 0;
	size_t nr, left, i;
	struct snapshot *all = list(dir, &nr);

	for (i = 0; i < nr; i++)
		bytes += all[i].bytes;
	for (i = 0, left = nr; left > 1; i++, left--) {
		if (!(s->keep && left > s->keep) && !(s->bytes && bytes > s->bytes))
			break;
		/* Another may have been quicker. */
		if (!unlinkat(dir, all[i].name, 0))
			s->removed++;
		bytes -= all[i].bytes;
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
	if (namesake)
		snprintf(number, sizeof(number), "-%d", namesake + 1);
	snprintf(name, SNAPSHOT_NAME, "%s.%03ldZ-%.40s%s" SUFFIX, stamp,
		 when->tv_nsec / 1000000 % 1000, reason, number);
}

/* Under a name that nobody has; no file is ever replaced. */
static int put(struct snapshots *s, int dir, const struct timespec *when, const char *reason,
	       char name[SNAPSHOT_NAME])
{
	int i;

	for (i = 0; i < NAMESAKES; i++) {
		name_it(name, when, reason, i);
		if (!linkat(dir, s->temp, dir, name, 0)) {
			unlinkat(dir, s->temp, 0);
			return 0;
		}
		if (errno == EEXIST)
			continue;
		/* A file system without links. */
		if (errno != EPERM && errno != EOPNOTSUPP && errno != EMLINK)
			return -errno;
		return renameat(dir, s->temp, dir, name) ? -errno : 0;
	}
	return -EEXIST;
}

int snapshots_commit(struct snapshots *s, const struct timespec *when, const char *reason,
		     char name[SNAPSHOT_NAME])
{
	int dir = open_dir(s), err;

	err = dir < 0 ? -errno : put(s, dir, when, reason, name);
	if (!err) {
		/* What a full disk did not take is told here, if not before. */
		err = close(s->fd) ? -errno : 0;
		s->fd = -1;
		if (err)
			unlinkat(dir, name, 0);
	}
	if (!err)
		remove_oldest(s, dir);
	else
		snapshots_discard(s);
	if (dir >= 0)
		close(dir);
	return err ? fail("%s: %s", s->dir, strerror(-err)) : STATUS_OK;
}
