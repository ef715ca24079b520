/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * unwind_cache.h: unwind tables on disk, so that a file is compiled once.
 *
 * A table is kept under the build-id of its file and is that of one inode in one state:
 * build-id and size would not do, since the author of a program, or of a container's image,
 * chooses both, and that table would be taken for libc's. A table that is
 * read is believed no more than a stranger's file. Any number of processes may use a
 * directory at once.
 *
 * Tables that root makes serve all users: users look into root's directory behind their own. A
 * table of a file that others may not read is for root alone. A user's tables serve that user
 * alone, and root never looks at them.
 */
#ifndef GPROF_UNWIND_CACHE_H
#define GPROF_UNWIND_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind_table.h"

/* Enough for a machine's programs and libraries, and as much again. */
#define GPROF_UNWIND_CACHE_MAX	(128ULL << 20)

struct gprof_unwind_cache;

/* Origin of a table, and whether it was kept; or -errno: it could not be kept. */
enum gprof_unwind_from {
	GPROF_UNWIND_MADE,	/* compiled, and kept */
	GPROF_UNWIND_OWN,	/* kept before */
	GPROF_UNWIND_ROOTS,	/* kept before, by root for others */
	GPROF_UNWIND_YOUNG,	/* compiled, and not kept: the file may change within its timestamp */
	GPROF_UNWIND_FULL,	/* compiled, and not kept: there is no room */
};

/**
 * gprof_unwind_cache_open() - open the cache, which may have to be made
 * @out: the cache
 * @dir: directory of the caller alone, whose parent exists; NULL: gprof/unwind in @caches for
 *	root, else in $XDG_CACHE_HOME or ~/.cache
 * @caches: where root keeps gprof/unwind; NULL: /var/cache
 * @max: bytes that it may take on disk; 0: GPROF_UNWIND_CACHE_MAX
 *
 * A user whose directory cannot be had still has that of root, and keeps nothing.
 *
 * Return: 0; -EPERM: the directory belongs to others, or others may write to it; -ENOENT:
 * there is no place for one; or -errno. Without a cache all works, but slower: NULL is one
 * that keeps nothing.
 */
int gprof_unwind_cache_open(struct gprof_unwind_cache **out, const char *dir, const char *caches,
			    uint64_t max);
void gprof_unwind_cache_close(struct gprof_unwind_cache *c);

/** gprof_unwind_cache_why() - 0: tables are kept; or -errno: why not, as for opening */
int gprof_unwind_cache_why(const struct gprof_unwind_cache *c);

/** gprof_unwind_cache_dir() - where the default cache of the caller lies; false: nowhere */
bool gprof_unwind_cache_dir(char *path, size_t size);

/** gprof_unwind_cache_spare() - from now on, take no table away that is used after this call */
void gprof_unwind_cache_spare(struct gprof_unwind_cache *c);

/**
 * gprof_unwind_cache_get() - the table of a file, kept or compiled
 * @c: cache, or NULL; used by any number of threads
 * @fd: the file
 * @build_id: its build-id
 * @len: bytes of that; 0: it has none
 * @out: the table, to be given to gprof_unwind_blob_free()
 * @from: enum gprof_unwind_from, or -errno; where there is a table, or none as -ENODATA
 *	says; or NULL
 *
 * That a file has none (-ENODATA) is kept too.
 *
 * Return: as gprof_unwind_compile(). A cache that does not work is no error.
 */
int gprof_unwind_cache_get(struct gprof_unwind_cache *c, int fd, const void *build_id, size_t len,
			   struct gprof_unwind_blob *out, int *from);

/** gprof_unwind_cache_bytes() - size of a table on disk, about */
uint64_t gprof_unwind_cache_bytes(const struct gprof_unwind_blob *b);

#endif /* GPROF_UNWIND_CACHE_H */
