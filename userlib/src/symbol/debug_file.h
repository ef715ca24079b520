/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * debug_file.h: the file that has the debug symbols of another one.
 *
 * It is found by the build-id of that, or by the name and the checksum that that says
 * (.gnu_debuglink), where gdb looks for it: as the process sees files, that ran it, then
 * as we do, and then on debuginfod servers, where the program allows it. Nothing that is
 * found is believed before build-id or checksum agree.
 */
#ifndef GPROF_DEBUG_FILE_H
#define GPROF_DEBUG_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mapped_file.h"

/**
 * struct gprof_debug_request - a file that lacks debug symbols
 * @path: its path, or NULL
 * @pid: a process whose path that is, or 0
 * @build_id: build-id
 * @build_id_len: its bytes, or 0
 * @link: name of the debug file, or NULL
 * @crc: checksum of that
 * @alt: the file is one of those that dwz(1) takes out of several: its name there, and @build_id
 *	is its own; or NULL
 */
struct gprof_debug_request {
	const char *path;
	uint32_t pid;
	const unsigned char *build_id;
	size_t build_id_len;
	const char *link;
	uint32_t crc;
	const char *alt;
};

/**
 * struct gprof_given_file - a file that the caller has named
 * @path: where it lies
 * @build_id: build-id
 * @build_id_len: its bytes
 * @code: it has the code
 * @symbols: it has the symbols that strip(1) takes out, or DWARF
 */
struct gprof_given_file {
	const char *path;
	unsigned char build_id[GPROF_BUILD_ID_MAX];
	size_t build_id_len;
	bool code;
	bool symbols;
};

/**
 * struct gprof_debug_places - where debug files are besides, and looked for first
 * @files: files
 * @nr_files: how many
 * @dirs: directories that are as /usr/lib/debug is
 * @nr_dirs: how many
 * @refused: gets the path of the last file that was where one is looked for, and was not
 *	it, or not sound
 */
struct gprof_debug_places {
	const struct gprof_given_file *files;
	size_t nr_files;
	const char *const *dirs;
	size_t nr_dirs;
	char refused[PATH_MAX];
};

/** gprof_debug_places_set() - from now on, in this thread; NULL: no others any more */
void gprof_debug_places_set(struct gprof_debug_places *p);

/** gprof_debug_file() - open it; -1 when there is none */
int gprof_debug_file(const struct gprof_debug_request *w);

#endif /* GPROF_DEBUG_FILE_H */
