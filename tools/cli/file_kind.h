/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kind of a file that a subcommand cannot open, and the subcommands that can.
 */
#ifndef TOOLS_FILE_KIND_H
#define TOOLS_FILE_KIND_H

#include <stdbool.h>

enum file_kind {
	FILE_OTHER,
	FILE_EMPTY,
	FILE_DIRECTORY,
	FILE_PROFILE,
	FILE_TRACE,		/* of a host */
	FILE_GO_TRACE,		/* that a program wrote of itself */
	FILE_PERFETTO,
	FILE_PERF_DATA,
	FILE_CORE,
	FILE_RAW,		/* of gprof_raw_flight_snapshot() */
	FILE_PROGRAM,
	FILE_PACKED,
	FILE_PAGE,
	FILE_TEXT,
	FILE_KINDS
};

/* file_is_raw() - is it a FILE_RAW? */
bool file_is_raw(int fd);

/* file_kind_fail() - report the kind of @file, and the subcommands that open it; STATUS_FAILED */
int file_kind_fail(const char *file, enum file_kind kind);

/*
 * file_not_opened() - say why it is not, by its kind or else by gprof_error()
 * @file: its name
 * @fd: of it, where it was read from; anything but a file is not looked at again
 * @wanted: FILE_PROFILE, FILE_TRACE (of either kind) or FILE_CORE: gprof_error() has the error of
 *	such a file
 *
 * Return: STATUS_FAILED.
 */
int file_not_opened(const char *file, int fd, enum file_kind wanted);

#endif /* TOOLS_FILE_KIND_H */
