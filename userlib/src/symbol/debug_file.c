// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * debug_file.c: the file that has the debug symbols of another one.
 */
#include "debug_file.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <libdeflate.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/memory_share.h"
#include "base/regular_file.h"
#include "debuginfod.h"

#define DEBUG_ROOT	"/usr/lib/debug"

#define FILE_MAX	(1U << 30)	/* bytes of a file of root, which is mapped */
#define COPY_MAX	(256U << 20)	/* bytes of others' files, which are copied */

/* Of this thread; NULL: only those that all have. */
static _Thread_local struct gprof_debug_places *places;

/*
 * libdwfl maps debug files. One that its owner truncates meanwhile would kill the process, so that
 * it is copied to a private file. Root's files under our own root are trusted.
 */
static bool is_trusted(const struct stat *st, bool ours)
{
	return ours && st->st_uid == 0 && !(st->st_mode & 022);
}

/* A copy is memory of ours, and of the cgroup that we live in. */
static off_t size_max(bool trusted)
{
	return trusted ? FILE_MAX : (off_t)gprof_memory_share(COPY_MAX);
}

/* Reads all of @fd, into @copy if that is not -1. False where that fails. */
static bool sum_up(int fd, int copy, uint32_t *crc)
{
	const off_t max = size_max(copy < 0);
	unsigned char bytes[1 << 16];
	off_t at = 0;
	uint32_t sum = 0;
	ssize_t n;

	while ((n = pread(fd, bytes, sizeof(bytes), at)) > 0) {
		sum = libdeflate_crc32(sum, bytes, (size_t)n);
		at += n;
		if (at > max)
			return false;
		if (copy >= 0 && write(copy, bytes, (size_t)n) != n)
			return false;
	}
	*crc = sum;
	return !n;
}

static bool has_build_id(int fd, const struct gprof_debug_request *w, bool needed)
{
	const void *id;
	bool same = false;
	ssize_t len;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf && elf_kind(elf) == ELF_K_ELF) {
		len = dwelf_elf_gnu_build_id(elf, &id);
		if (len > 0 && w->build_id_len)
			same = (size_t)len == w->build_id_len &&
			       !memcmp(id, w->build_id, (size_t)len);
		else
			same = !needed;
	}
	elf_end(elf);
	return same;
}

/* @fd, or a copy of it, if it is the debug file: by its checksum, or else by build-id. */
static int accept_file(int fd, const struct gprof_debug_request *w, bool by_crc, bool trusted)
{
	bool good = has_build_id(fd, w, !by_crc);
	int copy = -1;
	uint32_t crc;

	if (good && !trusted) {
		copy = memfd_create("gprof debug", MFD_CLOEXEC);
		good = copy >= 0;
	}
	if (good && (by_crc || !trusted))
		good = sum_up(fd, copy, &crc) && (!by_crc || crc == w->crc);
	if (good && !trusted) {
		/* It may have become another one while it was copied. */
		good = has_build_id(copy, w, !by_crc);
		close(fd);
		fd = copy;
	} else if (copy >= 0) {
		close(copy);
	}
	if (good)
		return fd;
	close(fd);
	return -1;
}

static int try_file(const char *path, const struct gprof_debug_request *w, bool by_crc, bool ours)
{
	bool trusted;
	struct stat st;
	int look, fd;

	look = gprof_open_path(path, 0, &st);
	if (look < 0)
		return -1;
	trusted = is_trusted(&st, ours);
	if (st.st_size > size_max(trusted))
		fd = -1;
	else
		fd = gprof_reopen(look);
	close(look);
	if (fd >= 0)
		fd = accept_file(fd, w, by_crc, trusted);
	if (fd < 0 && places)
		snprintf(places->refused, sizeof(places->refused), "%s", path);
	return fd;
}

/* Servers may send any file, into a cache that others may write to. */
static int find_on_server(const struct gprof_debug_request *w)
{
	int fd = w->build_id_len < 2 ? -1 : gprof_debuginfod_find(w->build_id, w->build_id_len);
	struct stat st;

	if (fd < 0)
		return -1;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size > size_max(false)) {
		close(fd);
		return -1;
	}
	return accept_file(fd, w, false, false);
}

/* @dir: below @root */
static int find_by_build_id(const char *root, const char *dir, const struct gprof_debug_request *w)
{
	char path[PATH_MAX], hex[2 * 64 + 1];
	size_t i;

	if (w->build_id_len < 2 || w->build_id_len > 64)
		return -1;
	for (i = 0; i < w->build_id_len; i++)
		sprintf(hex + 2 * i, "%02x", w->build_id[i]);
	if ((size_t)snprintf(path, sizeof(path), "%s%s/.build-id/%.2s/%s.debug", root, dir, hex,
			     hex + 2) >= sizeof(path))
		return -1;
	return try_file(path, w, false, !root[0]);
}

static int find_by_link(const char *root, const struct gprof_debug_request *w)
{
	static const char *const where[] = { "%s%.*s/%s", "%s%.*s/.debug/%s",
					     "%s" DEBUG_ROOT "%.*s/%s" };
	const char *end = w->path ? strrchr(w->path, '/') : NULL;
	char path[PATH_MAX];
	int fd = -1;
	size_t i;

	/* A name, that leads nowhere else. */
	if (!w->link || !w->link[0] || strchr(w->link, '/') || !end || w->path[0] != '/')
		return -1;
	for (i = 0; i < 3 && fd < 0; i++) {
		int len = snprintf(path, sizeof(path), where[i], root, (int)(end - w->path), w->path,
				   w->link);

		if (len > 0 && (size_t)len < sizeof(path))
			fd = try_file(path, w, true, !root[0]);
	}
	return fd;
}

/* Where packages put them: other directories are not searched. */
static int find_by_alt(const char *root, const char *dir, const struct gprof_debug_request *w)
{
	static const char where[] = DEBUG_ROOT "/.dwz/";
	const char *name = w->alt;
	char path[PATH_MAX];

	if (!name || w->build_id_len < 2)
		return -1;
	if (!strncmp(name, where, sizeof(where) - 1) && !strstr(name, "/../"))
		name += sizeof(where) - 1;
	else if (strrchr(name, '/'))
		name = strrchr(name, '/') + 1;
	if (!name[0] ||
	    (size_t)snprintf(path, sizeof(path), "%s%s/.dwz/%s", root, dir, name) >= sizeof(path))
		return -1;
	return try_file(path, w, false, !root[0]);
}

/* Its root and mounts are ours: root's files there are trusted, and searched for once. */
static bool shares_our_root(uint32_t pid)
{
	static const char *const ours[] = { "/", "/proc/thread-self/ns/mnt" };
	static const char *const theirs[] = { "/proc/%u/root", "/proc/%u/ns/mnt" };
	struct stat a, b;
	char path[32];
	size_t i;

	for (i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), theirs[i], pid);
		if (stat(ours[i], &a) || stat(path, &b) || a.st_dev != b.st_dev ||
		    a.st_ino != b.st_ino)
			return false;
	}
	return true;
}

static int find_in_places(const struct gprof_debug_request *w)
{
	int fd = -1;
	size_t i;

	for (i = 0; i < places->nr_files && fd < 0; i++) {
		const struct gprof_given_file *f = &places->files[i];

		/* One that was cut short may have neither. */
		if ((f->symbols || !f->code) && f->build_id_len == w->build_id_len &&
		    !memcmp(f->build_id, w->build_id, w->build_id_len))
			fd = try_file(f->path, w, false, true);
	}
	for (i = 0; i < places->nr_dirs && fd < 0; i++) {
		fd = find_by_build_id("", places->dirs[i], w);
		if (fd < 0)
			fd = find_by_alt("", places->dirs[i], w);
	}
	return fd;
}

void gprof_debug_places_set(struct gprof_debug_places *p)
{
	places = p;
}

int gprof_debug_file(const struct gprof_debug_request *w)
{
	char root[32] = "";
	int fd = places ? find_in_places(w) : -1;

	if (fd < 0 && w->pid && !shares_our_root(w->pid)) {
		snprintf(root, sizeof(root), "/proc/%u/root", w->pid);
		fd = find_by_build_id(root, DEBUG_ROOT, w);
		if (fd < 0)
			fd = find_by_link(root, w);
		if (fd < 0)
			fd = find_by_alt(root, DEBUG_ROOT, w);
	}
	if (fd < 0)
		fd = find_by_build_id("", DEBUG_ROOT, w);
	if (fd < 0)
		fd = find_by_link("", w);
	if (fd < 0)
		fd = find_by_alt("", DEBUG_ROOT, w);
	if (fd < 0)
		fd = find_on_server(w);
	return fd;
}
