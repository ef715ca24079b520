/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * mapped_file.h: from a mapping to the file that was mapped, or the reason why not.
 *
 * A path means one file to us, another to the process that is recorded, and a third one a minute
 * later; inode numbers repeat from one file system to the next, and a stacked one (overlayfs)
 * shows others than those of the files whose bytes it maps. So a path is a suggestion only. The
 * opened file must be the one that the kernel saw mapped, and no file is opened before it is known
 * to be a regular file.
 */
#ifndef GPROF_MAPPED_FILE_H
#define GPROF_MAPPED_FILE_H

#include <linux/gprof.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#define GPROF_BUILD_ID_MAX	32

/**
 * struct gprof_file_id - the kernel's identity of a mapped file
 * @inode: inode number
 * @dev_major: device
 * @dev_minor: device
 * @generation: generation of the inode
 * @path: path as the kernel saw it, " (deleted)" left out; not kept
 * @any: of @path the file that is there now will do: its user tells it from another
 * @known: the kernel gave the members below
 * @size: bytes
 * @mtime_ns: when it was last written to
 * @build_id: build-id
 * @build_id_len: its bytes; 0: it has none, or the kernel did not see it
 */
struct gprof_file_id {
	uint64_t inode;
	uint32_t dev_major;
	uint32_t dev_minor;
	uint32_t generation;
	const char *path;
	bool any;
	bool known;
	uint64_t size;
	uint64_t mtime_ns;
	unsigned char build_id[GPROF_BUILD_ID_MAX];
	size_t build_id_len;
};

/**
 * struct gprof_mapped_at - where a file was mapped
 * @process: that maps it
 * @start: first address
 * @end: address after the last
 */
struct gprof_mapped_at {
	struct gprof_process process;
	uint64_t start;
	uint64_t end;
};

/**
 * enum gprof_missing - why a mapped file gives no names, the better known reason last
 * @GPROF_MISSING_NOT: it does, where it has some
 * @GPROF_MISSING_GONE: nothing leads to it any more
 * @GPROF_MISSING_DENIED: the way to it is closed to us
 * @GPROF_MISSING_OTHER: under its name lies another file
 * @GPROF_MISSING_HIDDEN: /proc does not show us the process that mapped it
 * @GPROF_MISSING_ELF: it is no ELF file, or a broken one
 * @GPROF_MISSING_PACKED: its packed symbol table comes to more than GPROF_PACKED_MAX
 * @GPROF_MISSING_MEMORY: there was no memory for its symbols
 * @GPROF_MISSING_DEBUG: debug data of it, or its debug file, is not sound or too large
 */
enum gprof_missing {
	GPROF_MISSING_NOT,
	GPROF_MISSING_GONE,
	GPROF_MISSING_DENIED,
	GPROF_MISSING_OTHER,
	GPROF_MISSING_HIDDEN,
	GPROF_MISSING_ELF,
	GPROF_MISSING_PACKED,
	GPROF_MISSING_MEMORY,
	GPROF_MISSING_DEBUG,
};

/** gprof_missing_text() - the reason in two or three words */
const char *gprof_missing_text(enum gprof_missing why);

/** gprof_process_start() - when a process began, in ticks of the clock; false: it is not to be seen */
bool gprof_process_start(uint32_t pid, uint64_t *ticks);

/** gprof_process_alive() - has this pid, here and now, the process that was recorded? */
bool gprof_process_alive(const struct gprof_process *id);

/** gprof_same_build_id() - does an ELF file have this build-id? */
bool gprof_same_build_id(int fd, const unsigned char *build_id, size_t len);

/**
 * gprof_mapped_open() - open the file that was mapped
 * @id: identity
 * @at: a mapping of it
 * @why: set where it cannot be opened
 *
 * Tried in this order: the living process' mapped and executed files, the path as that process
 * sees it, and the path as we see it.
 *
 * Return: descriptor for reading, or -1.
 */
int gprof_mapped_open(const struct gprof_file_id *id, const struct gprof_mapped_at *at,
		      enum gprof_missing *why);

#endif /* GPROF_MAPPED_FILE_H */
