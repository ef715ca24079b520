/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * regular_file.h: opening a file at a path that others may change.
 *
 * Opening a pipe or a device has effects, an O_PATH descriptor has none. So the file is checked by
 * O_PATH first, and opened by that descriptor, even if the path leads elsewhere by then.
 */
#ifndef GPROF_REGULAR_FILE_H
#define GPROF_REGULAR_FILE_H

#include <sys/stat.h>

/**
 * gprof_open_path() - an O_PATH descriptor of a regular file; -1 with errno, ENXIO: of another
 * kind
 */
int gprof_open_path(const char *path, int flags, struct stat *st);

/** gprof_reopen() - open it for reading; -1 with errno */
int gprof_reopen(int look);

#endif /* GPROF_REGULAR_FILE_H */
