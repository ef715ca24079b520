/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * unwind_cache.h: unwind tables on disk, so that a file is compiled once.
 *
 * A table is kept under the build-id of its file and is that of one inode in one state:
 * two files may have one build-id, if only because somebody wants a table of his to be
 * taken for libc's. What is read is believed no more than a file of a stranger is. Any
 * number of processes may use a directory at once.
 */
#ifndef GPROF_UNWIND_CACHE_H
#define GPROF_UNWIND_CACHE_H

#include <stddef.h>
#include <stdint.h>

#include "unwind_table.h"

/* What a machine's programs and libraries take, and as much again. */
#define GPROF_UNWIND_CACHE_MAX	(128ULL << 20)

struct gprof_unwind_cache;

/**
 * gprof_unwind_cache_open() - open the cache, which may have to be made
 * @out: the cache
 * @dir: directory, whose parent exists; NULL: /var/cache/gprof/unwind for root, else
 *	$XDG_CACHE_HOME/gprof/unwind or ~/.cache/gprof/unwind
 * @max: bytes that it may take on disk; 0: GPROF_UNWIND_CACHE_MAX
 *
 * Return: 0; -EPERM: the directory is not ours alone; -ENOENT: there is no place for one; or
 * -errno. Without a cache all works, but slower: NULL is one that keeps nothing.
 */
int gprof_unwind_cache_open(struct gprof_unwind_cache **out, const char *dir, uint64_t max);
void gprof_unwind_cache_close(struct gprof_unwind_cache *c);

/**
 * gprof_unwind_cache_get() - the table of a file, kept or compiled
 * @c: cache, or NULL; used by any number of threads
 * @fd: the file
 * @build_id: its build-id
 * @len: bytes of that; 0: it has none
 * @out: the table, to be given to gprof_unwind_blob_free()
 *
 * That a file has none (-ENODATA) is kept too.
 *
 * Return: as gprof_unwind_compile(). A cache that does not work is no error.
 */
int gprof_unwind_cache_get(struct gprof_unwind_cache *c, int fd, const void *build_id, size_t len,
			   struct gprof_unwind_blob *out);

#endif /* GPROF_UNWIND_CACHE_H */
