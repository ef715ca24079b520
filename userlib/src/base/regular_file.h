/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * regular_file.h: opening what others may have put somewhere.
 *
 * Opening a pipe or a device does something, looking at it does not. So it is looked at
 * first, and what was looked at is what is opened, whatever the path means by then.
 */
#ifndef GPROF_REGULAR_FILE_H
#define GPROF_REGULAR_FILE_H

#include <sys/stat.h>

/** gprof_open_path() - a descriptor to open a regular file by; -1 with errno, ENXIO: of another kind */
int gprof_open_path(const char *path, int flags, struct stat *st);

/** gprof_reopen() - open it for reading; -1 with errno */
int gprof_reopen(int look);

#endif /* GPROF_REGULAR_FILE_H */
