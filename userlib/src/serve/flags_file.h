/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * flags_file.h: a file that is there once it is whole.
 */
#ifndef GPROF_FLAGS_FILE_H
#define GPROF_FLAGS_FILE_H

#include <stdbool.h>

#include <sys/types.h>

#include "base/error.h"

/**
 * struct gprof_flags_file - a file being written
 * @fd: it, or -1
 * @path: where it will stand, whatever the working directory is by then; NULL: it does
 *	already (a pipe, a device)
 * @temp: its name until then, on a file system where a file must have one, or NULL
 * @pid: whose @temp it is
 * @dev: of the file, so that it is known again
 * @ino: likewise
 */
struct gprof_flags_file {
	int fd;
	char *path;
	char *temp;
	pid_t pid;
	dev_t dev;
	ino_t ino;
};

/**
 * gprof_flags_file_open() - open a file
 * @f: gets it
 * @name: path; "%p" is the number of the process, "%%" is "%"; NULL: what is stderr now
 * @e: sentence
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

/** gprof_flags_file_commit() - put it in place of what was there; 0 or -errno */
int gprof_flags_file_commit(struct gprof_flags_file *f, struct gprof_error *e);

/** gprof_flags_file_drop() - close it, if it is open; what is not in place is gone */
void gprof_flags_file_drop(struct gprof_flags_file *f);

#endif /* GPROF_FLAGS_FILE_H */
