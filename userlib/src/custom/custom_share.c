// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * custom_share.c: the writing end of a published profile.
 *
 * The file is mapped as long as it may become, and only as much of it touched as was
 * written before: what a file system has no room for is an error then, and no SIGBUS.
 */
#include "custom_share.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "custom_dir.h"

#define GROW	64	/* slots at least */
#define MAKE_TRIES	64	/* who lists profiles may remove what is not locked yet */

/**
 * struct file_id - which file it is
 * @dev: device
 * @ino: number on it
 */
struct file_id {
	dev_t dev;
	ino_t ino;
};

/**
 * struct gprof_custom_share - a profile in a file
 * @dir: its directory
 * @dir_id: which directory that is, whatever has the number of the descriptor later
 * @fd: file, on which we have a lock
 * @fd_id: likewise
 * @file: its name
 * @head: mapping
 * @bytes: of that
 * @slots: in it
 * @nr: how many the file has
 * @max: most that it may have
 */
struct gprof_custom_share {
	int dir;
	struct file_id dir_id;
	int fd;
	struct file_id fd_id;
	char file[GPROF_CUSTOM_FILE_SIZE];
	struct gprof_custom_head *head;
	size_t bytes;
	struct gprof_custom_slot *slots;
	size_t nr;
	size_t max;
};

static int id_of(int fd, struct file_id *id)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	*id = (struct file_id){ st.st_dev, st.st_ino };
	return 0;
}

/* A program may have closed it, and opened another of the same number. */
static bool is_still(int fd, const struct file_id *id)
{
	struct file_id now = { 0 };

	return fd >= 0 && !id_of(fd, &now) && now.dev == id->dev && now.ino == id->ino;
}

static int extend(struct gprof_custom_share *s, size_t from, size_t to)
{
	static const char zeros[4096];

	while (from < to) {
		size_t len = to - from < sizeof(zeros) ? to - from : sizeof(zeros);
		ssize_t n = pwrite(s->fd, zeros, len, (off_t)from);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -ENOSPC;
		from += (size_t)n;
	}
	return 0;
}

static size_t bytes_of(size_t slots)
{
	return GPROF_CUSTOM_HEAD + slots * sizeof(struct gprof_custom_slot);
}

static int lock(int fd)
{
	struct flock l = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	return fcntl(fd, F_SETLK, &l) ? -errno : 0;
}

static void fill_head(struct gprof_custom_head *h)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	*h = (struct gprof_custom_head){
		.magic = GPROF_CUSTOM_MAGIC,
		.version = GPROF_CUSTOM_VERSION,
		.slot_size = sizeof(struct gprof_custom_slot),
		.since_ns = (int64_t)t.tv_sec * 1000000000 + t.tv_nsec,
	};
}

/* Under another name until it is whole, and locked. */
static int make(struct gprof_custom_share *s)
{
	char temp[GPROF_CUSTOM_FILE_SIZE + 8];
	int err;

	snprintf(temp, sizeof(temp), ".new-%s", s->file);
	unlinkat(s->dir, temp, 0);
	s->fd = openat(s->dir, temp, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (s->fd < 0)
		return -errno;
	err = id_of(s->fd, &s->fd_id);
	if (!err)
		err = lock(s->fd);
	if (!err)
		err = extend(s, 0, GPROF_CUSTOM_HEAD);
	if (!err) {
		s->head = mmap(NULL, s->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, s->fd, 0);
		if (s->head == MAP_FAILED) {
			s->head = NULL;
			err = -errno;
		}
	}
	if (!err) {
		fill_head(s->head);
		s->slots = (void *)((char *)s->head + GPROF_CUSTOM_HEAD);
		if (renameat(s->dir, temp, s->dir, s->file))
			err = -errno;
	}
	if (err)
		unlinkat(s->dir, temp, 0);
	return err;
}

void gprof_custom_share_forget(struct gprof_custom_share *s)
{
	if (!s)
		return;
	if (s->head)
		munmap(s->head, s->bytes);
	if (is_still(s->fd, &s->fd_id))
		close(s->fd);
	if (is_still(s->dir, &s->dir_id))
		close(s->dir);
	free(s);
}

static int make_once(struct gprof_custom_share *s, struct gprof_error *e)
{
	int err;

	s->dir = gprof_custom_dir_make(e);
	if (s->dir < 0)
		return s->dir;
	err = id_of(s->dir, &s->dir_id);
	if (!err)
		err = make(s);
	if (!err)
		return 0;
	gprof_error_set(e, -err, "the profile cannot be published: %s", gprof_strerror(-err));
	if (s->head)
		munmap(s->head, s->bytes);
	s->head = NULL;
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
	close(s->dir);
	s->dir = -1;
	return err;
}

struct gprof_custom_share *gprof_custom_share_new(const char *name, size_t slots_max,
						  struct gprof_error *e)
{
	struct gprof_custom_share *s = calloc(1, sizeof(*s));
	int err = -ENOENT, tries;

	if (!s) {
		gprof_error_set(e, ENOMEM, "no memory for a custom profile");
		return NULL;
	}
	s->fd = -1;
	s->max = slots_max;
	s->bytes = bytes_of(slots_max);
	gprof_custom_file_of(name, s->file);
	for (tries = 0; err == -ENOENT && tries < MAKE_TRIES; tries++)
		err = make_once(s, e);
	if (!err)
		return s;
	free(s);
	return NULL;
}

void gprof_custom_share_free(struct gprof_custom_share *s)
{
	char path[32];
	int base;

	if (!s)
		return;
	if (!is_still(s->dir, &s->dir_id)) {
		gprof_custom_share_forget(s);
		return;
	}
	unlinkat(s->dir, s->file, 0);
	/* The directory goes with the last. */
	snprintf(path, sizeof(path), "%d", getpid());
	base = openat(s->dir, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (base >= 0) {
		unlinkat(base, path, AT_REMOVEDIR);
		close(base);
	}
	gprof_custom_share_forget(s);
}

int gprof_custom_share_grow(struct gprof_custom_share *s, size_t nr, struct gprof_error *e)
{
	int err;

	if (!s || nr <= s->nr)
		return 0;
	if (nr < s->nr + GROW)
		nr = s->nr + GROW;
	if (nr > s->max)
		nr = s->max;
	if (!is_still(s->fd, &s->fd_id))
		return gprof_error_set(e, EBADF, "the published profile cannot grow: the program has "
				       "closed its file, descriptor %d; leave open what the library "
				       "has opened", s->fd);
	err = extend(s, bytes_of(s->nr), bytes_of(nr));
	if (err)
		return gprof_error_set(e, -err, "the published profile cannot grow: %s",
				       gprof_strerror(-err));
	s->nr = nr;
	/* Behind what there is now. */
	__atomic_store_n(&s->head->nr_slots, (uint32_t)nr, __ATOMIC_RELEASE);
	return 0;
}

static void put(uint64_t *to, uint64_t value)
{
	__atomic_store_n(to, value, __ATOMIC_RELAXED);
}

void gprof_custom_share_set(struct gprof_custom_share *s, size_t i,
			    const struct gprof_custom_slot *slot, bool whole)
{
	struct gprof_custom_slot *to;
	size_t n;

	if (!s)
		return;
	to = &s->slots[i];
	put(&s->head->changes, s->head->changes + 1);
	put(&to->seq, to->seq + 1);
	__atomic_thread_fence(__ATOMIC_RELEASE);	/* A: pairs with C in custom_read.c */
	put(&s->head->added, s->head->added - to->count + slot->count);
	put(&to->count, slot->count);
	if (whole) {
		__atomic_store_n(&to->nr, slot->nr, __ATOMIC_RELAXED);
		__atomic_store_n(&to->flags, slot->flags, __ATOMIC_RELAXED);
		for (n = 0; n < GPROF_CUSTOM_FRAMES_MAX; n++)
			put(&to->frames[n], slot->frames[n]);
	}
	__atomic_thread_fence(__ATOMIC_RELEASE);	/* B: pairs with D */
	put(&to->seq, to->seq + 1);
	put(&s->head->changes, s->head->changes + 1);
}
