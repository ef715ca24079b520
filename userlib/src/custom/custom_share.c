// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * custom_share.c: the writing end of a published profile.
 *
 * The file is mapped to its largest size, and only the part that was written before is touched: so
 * a full file system is an error of write(), and no SIGBUS, as it has blocks to write in place.
 */
#include "custom_share.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/own_fd.h"
#include "custom_dir.h"

#define GROW	64	/* slots at least */
#define MAKE_TRIES	64	/* a listing may remove a file that is not locked yet */

/**
 * struct gprof_custom_share - a profile in a file
 * @dir: its directory
 * @own: file, on which we have a lock
 * @file: its name
 * @head: mapping
 * @bytes: of that
 * @slots: in it
 * @nr: how many the file has
 * @max: most that it may have
 */
struct gprof_custom_share {
	struct gprof_own_fd dir;
	struct gprof_own_fd own;
	char file[GPROF_CUSTOM_FILE_SIZE];
	struct gprof_custom_head *head;
	size_t bytes;
	struct gprof_custom_slot *slots;
	size_t nr;
	size_t max;
};

static int extend(struct gprof_custom_share *s, size_t from, size_t to)
{
	static const char zeros[4096];

	while (from < to) {
		size_t len = to - from < sizeof(zeros) ? to - from : sizeof(zeros);
		ssize_t n = pwrite(s->own.fd, zeros, len, (off_t)from);

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
	*h = (struct gprof_custom_head){
		.magic = GPROF_CUSTOM_MAGIC,
		.version = GPROF_CUSTOM_VERSION,
		.slot_size = sizeof(struct gprof_custom_slot),
		.since_ns = (int64_t)clock_now_ns(CLOCK_REALTIME),
	};
}

/* Under another name until it is whole, and locked. */
static int make(struct gprof_custom_share *s)
{
	char temp[GPROF_CUSTOM_FILE_SIZE + 8];
	int fd, err;

	snprintf(temp, sizeof(temp), ".new-%s", s->file);
	unlinkat(s->dir.fd, temp, 0);
	fd = openat(s->dir.fd, temp, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	/* Before it is locked: closing the lower number would take that away. */
	gprof_own_fd_adopt(&s->own, fd);
	err = lock(s->own.fd);
	/* And for systemd-tmpfiles, which asks by another. */
	flock(s->own.fd, LOCK_SH | LOCK_NB);
	if (!err)
		err = extend(s, 0, GPROF_CUSTOM_HEAD);
	if (!err) {
		s->head = mmap(NULL, s->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, s->own.fd, 0);
		if (s->head == MAP_FAILED) {
			s->head = NULL;
			err = -errno;
		}
	}
	if (!err) {
		fill_head(s->head);
		s->slots = (void *)((char *)s->head + GPROF_CUSTOM_HEAD);
		if (renameat(s->dir.fd, temp, s->dir.fd, s->file))
			err = -errno;
	}
	if (err)
		unlinkat(s->dir.fd, temp, 0);
	return err;
}

void gprof_custom_share_forget(struct gprof_custom_share *s)
{
	if (!s)
		return;
	if (s->head)
		munmap(s->head, s->bytes);
	gprof_own_fd_close(&s->own);
	gprof_own_fd_close(&s->dir);
	free(s);
}

static int make_once(struct gprof_custom_share *s, struct gprof_error *e)
{
	int dir = gprof_custom_dir_make(e), err;

	if (dir < 0)
		return dir;
	gprof_own_fd_adopt(&s->dir, dir);
	err = make(s);
	if (!err)
		return 0;
	gprof_error_set(e, -err, "the profile cannot be published: %s", gprof_strerror(-err));
	if (s->head)
		munmap(s->head, s->bytes);
	s->head = NULL;
	gprof_own_fd_close(&s->own);
	gprof_own_fd_close(&s->dir);
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
	s->dir = s->own = GPROF_OWN_FD_NONE;
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
	if (!gprof_own_fd_is(&s->dir)) {
		gprof_custom_share_forget(s);
		return;
	}
	unlinkat(s->dir.fd, s->file, 0);
	/* The directory goes with the last. */
	snprintf(path, sizeof(path), "%d", getpid());
	base = openat(s->dir.fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
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
	if (!gprof_own_fd_is(&s->own))
		return gprof_error_set(e, EBADF, "the published profile cannot grow: the program has "
				       "closed its file, descriptor %d; leave open what the library "
				       "has opened", s->own.fd);
	err = extend(s, bytes_of(s->nr), bytes_of(nr));
	if (err)
		return gprof_error_set(e, -err, "the published profile cannot grow: %s",
				       gprof_strerror(-err));
	s->nr = nr;
	/* Published after the slots themselves. */
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
