/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * gprof/tables.h: unwind tables on disk, before there is a recording.
 *
 * Stacks of programs without frame pointers are walked by tables, which are compiled out of their
 * files once and kept: root's in /var/cache/gprof/unwind for all users, those of a user in that
 * user's directory of caches. A recording that begins with files of which there are tables has to
 * compile none. The module is not needed.
 *
 * Threads. Any. Fork. Nothing is kept from one call to the next.
 */
#ifndef GPROF_TABLES_H
#define GPROF_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <gprof/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct gprof_tables_opts - files to compile; all zero is the default
 * @sz: sizeof(struct gprof_tables_opts)
 * @paths: files, and directories, which stand for the programs and libraries in them and below,
 *	on their file system; symbolic links are followed of @paths alone. NULL: all files of
 *	code that processes have mapped now, as far as the caller may see them
 * @nr_paths: how many
 * @progress: called for each file with how many of @all are done; while directories are looked
 *	through @all is 0, and @done are found; a return other than 0 is the end. Or NULL
 * @failed: called for each file or directory that cannot be read, and why not; or NULL
 * @ctx: passed on to them
 */
struct gprof_tables_opts {
	size_t sz;
	const char *const *paths;
	size_t nr_paths;
	int (*progress)(void *ctx, size_t done, size_t all);
	void (*failed)(void *ctx, const char *file, const char *why);
	void *ctx;
};

/**
 * struct gprof_tables_made - result
 * @sz: sizeof(struct gprof_tables_made)
 * @files: all that follow together: files of this machine's code, each once
 * @made: files whose tables were made now
 * @there: files whose tables were in the caller's directory
 * @shared: likewise, in that of root
 * @frameless: files that tell nothing of their frames
 * @failed: files that could not be read, are broken, or were changed meanwhile
 * @left: files that nothing was done for: progress was the end, or there was no room
 * @bytes: size of all files in the caller's directory, those for @frameless included
 * @limit: on the size of the caller's directory
 * @full: it would have taken more: a new table would have taken the place of one of these
 * @dir: it
 */
struct gprof_tables_made {
	size_t sz;
	uint64_t files;
	uint64_t made;
	uint64_t there;
	uint64_t shared;
	uint64_t frameless;
	uint64_t failed;
	uint64_t left;
	uint64_t bytes;
	uint64_t limit;
	bool full;
	char dir[4096];
};

/**
 * gprof_tables_make() - make the unwind tables of files, and keep them
 * @opts: or NULL
 * @out: result, as far as it went; or NULL
 *
 * Tables that are kept already are believed where the file has not changed since. Of files that
 * processes have mapped those come first that most of them have.
 *
 * Return: 0, though files failed; -ENOENT: one of the paths is not there, or there is no
 * directory to keep tables in; -EPERM: that belongs to others, or others may write to it; or
 * -errno of writing (ENOSPC, EACCES), -EINVAL, -E2BIG as always, -ENOMEM.
 */
GPROF_API int gprof_tables_make(const struct gprof_tables_opts *opts, struct gprof_tables_made *out);

#ifdef __cplusplus
}
#endif

#endif /* GPROF_TABLES_H */
