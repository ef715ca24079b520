// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * regular_file.c: opening a file at a path that others may change.
 */
#include "regular_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int gprof_open_path(const char *path, int flags, struct stat *st)
{
	int look = open(path, O_PATH | O_CLOEXEC | flags);

	if (look < 0)
		return -1;
	if (!fstat(look, st) && S_ISREG(st->st_mode))
		return look;
	close(look);
	errno = ENXIO;
	return -1;
}

int gprof_reopen(int look)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", look);
	return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}
