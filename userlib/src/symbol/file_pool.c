// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * file_pool.c: open files that the whole library shares.
 *
 * @lock protects all that is here. It is held for no longer than a system call
 * that does not wait.
 */
#include "file_pool.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/own_fd.h"

#define OPEN_MAX_FILES	512	/* and at most a quarter of RLIMIT_NOFILE */
#define OPEN_MIN_FILES	4

/**
 * struct gprof_pool_file - an open file
 * @prev: the one that was used before it
 * @next: the one that was used after it
 * @st: which file, and its state when it was opened
 * @own: descriptor, or none while it is closed
 * @refs: number of users
 * @pinned: cannot be opened again
 */
struct gprof_pool_file {
	struct gprof_pool_file *prev, *next;
	struct stat st;
	struct gprof_own_fd own;
	size_t refs;
	bool pinned;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct gprof_pool_file *oldest, *newest;
static size_t nr_open, limit;

static size_t open_max(void)
{
	struct rlimit lim;
	size_t max = OPEN_MAX_FILES;

	if (limit)
		return limit;
	if (!getrlimit(RLIMIT_NOFILE, &lim) && lim.rlim_cur / 4 < max)
		max = lim.rlim_cur / 4;
	return max < OPEN_MIN_FILES ? OPEN_MIN_FILES : max;
}

static void close_file(struct gprof_pool_file *f)
{
	gprof_own_fd_close(&f->own);
	nr_open--;
}

static void make_room(void)
{
	size_t max = open_max();

	while (nr_open >= max) {
		struct gprof_pool_file *f, *victim = NULL;

		for (f = oldest; f && (!victim || victim->pinned); f = f->next)
			if (f->own.fd >= 0 && (!victim || !f->pinned))
				victim = f;
		if (!victim)
			return;
		close_file(victim);
	}
}

static void unlink_file(struct gprof_pool_file *f)
{
	*(f->prev ? &f->prev->next : &oldest) = f->next;
	*(f->next ? &f->next->prev : &newest) = f->prev;
}

static void put_last(struct gprof_pool_file *f)
{
	f->prev = newest;
	f->next = NULL;
	*(newest ? &newest->next : &oldest) = f;
	newest = f;
}

static bool same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

struct gprof_pool_file *gprof_pool_add(int fd, bool pinned)
{
	struct gprof_pool_file *f;
	struct stat st;

	if (fstat(fd, &st)) {
		close(fd);
		return NULL;
	}
	pthread_mutex_lock(&lock);
	/* While it is open nothing else can have its inode. */
	for (f = newest; f; f = f->prev)
		if (f->own.fd >= 0 && same(&f->st, &st))
			break;
	if (f) {
		close(fd);
		f->refs++;
		f->pinned |= pinned;
		unlink_file(f);
		put_last(f);
		goto out;
	}
	f = calloc(1, sizeof(*f));
	if (!f) {
		close(fd);
		goto out;
	}
	make_room();
	f->st = st;
	gprof_own_fd_adopt(&f->own, fd);
	f->refs = 1;
	f->pinned = pinned;
	nr_open++;
	put_last(f);
out:
	pthread_mutex_unlock(&lock);
	return f;
}

void gprof_pool_again(struct gprof_pool_file *f, int fd)
{
	pthread_mutex_lock(&lock);
	if (f->own.fd >= 0) {
		close(fd);
	} else {
		make_room();
		gprof_own_fd_adopt(&f->own, fd);
		nr_open++;
		unlink_file(f);
		put_last(f);
	}
	pthread_mutex_unlock(&lock);
}

int gprof_pool_dup(struct gprof_pool_file *f)
{
	int fd;

	pthread_mutex_lock(&lock);
	fd = gprof_own_fd_is(&f->own) ? fcntl(f->own.fd, F_DUPFD_CLOEXEC, 0) : -1;
	if (fd >= 0) {
		unlink_file(f);
		put_last(f);
	}
	pthread_mutex_unlock(&lock);
	return fd;
}

void gprof_pool_put(struct gprof_pool_file *f)
{
	if (!f)
		return;
	pthread_mutex_lock(&lock);
	if (!--f->refs) {
		if (f->own.fd >= 0)
			close_file(f);
		unlink_file(f);
		free(f);
	}
	pthread_mutex_unlock(&lock);
}

size_t gprof_pool_open(void)
{
	size_t n;

	pthread_mutex_lock(&lock);
	n = nr_open;
	pthread_mutex_unlock(&lock);
	return n;
}

void gprof_pool_limit(size_t max)
{
	pthread_mutex_lock(&lock);
	limit = max;
	pthread_mutex_unlock(&lock);
}
