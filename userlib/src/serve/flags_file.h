/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * flags_file.h: a file that is there once it is whole.
 */
#ifndef GPROF_FLAGS_FILE_H
#define GPROF_FLAGS_FILE_H

#include <stdint.h>

#include "base/own_fd.h"

/**
 * struct gprof_flags_file - a file being written
 * @own: it, or none
 * @dir: the directory in which it will stand, wherever that is by then
 * @path: that with @name, for people, or a description
 * @name: in @dir; NULL: it stands already (a pipe, a device)
 * @temp: its name until then, on a file system where a file must have one, or NULL
 * @owner: process whose @temp it is
 */
struct gprof_flags_file {
	struct gprof_own_fd own;
	struct gprof_own_fd dir;
	char *path;
	char *name;
	char *temp;
	uint64_t owner;
};

#define GPROF_FLAGS_FILE_NONE \
	((struct gprof_flags_file){ .own = GPROF_OWN_FD_NONE, .dir = GPROF_OWN_FD_NONE })

/**
 * gprof_flags_file_open() - open a file
 * @f: gets it
 * @name: path; "%p" is the number of the process, "%h" the name of the host, "%%" is "%"; NULL:
 *	the present stderr
 * @e: sentence
 *
 * Links are followed, then. A file that is there is replaced by one with its rights; a pipe or a
 * character device is written to as it is; any other kind is refused.
 *
 * Return: 0 or -errno.
 */
int gprof_flags_file_open(struct gprof_flags_file *f, const char *name, struct gprof_error *e);

/**
 * gprof_flags_file_is_there() - is the descriptor still the file?
 * @f: open
 * @e: sentence where it is not: the program has closed it, and may have another under its
 *	number, which must be left alone
 *
 * Return: 0 or -EBADF.
 */
int gprof_flags_file_is_there(const struct gprof_flags_file *f, struct gprof_error *e);

/** gprof_flags_file_commit() - put it in place of the old file; 0 or -errno */
int gprof_flags_file_commit(struct gprof_flags_file *f, struct gprof_error *e);

/** gprof_flags_file_drop() - close it, if it is open; without a commit it is gone */
void gprof_flags_file_drop(struct gprof_flags_file *f);

#endif /* GPROF_FLAGS_FILE_H */
