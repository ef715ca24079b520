/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * found_file.h: the file of a build-id, long after it was mapped, and where its code lay.
 */
#ifndef GPROF_FOUND_FILE_H
#define GPROF_FOUND_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "debug_file.h"
#include "object.h"

/**
 * struct gprof_lost_file - a file that is looked for
 * @path: where it lay
 * @build_id: build-id
 * @build_id_len: its bytes, at least 2
 */
struct gprof_lost_file {
	const char *path;
	unsigned char build_id[GPROF_BUILD_ID_MAX];
	size_t build_id_len;
};

/**
 * struct gprof_found_file - the file, or its debug file alone
 * @object: it, or NULL
 * @apart: where in the file code lies is not known of it: a debug file keeps addresses only
 * @code: address of its segment of code
 * @code_size: bytes of that; 0: there is none, or there are several
 */
struct gprof_found_file {
	struct gprof_object *object;
	bool apart;
	uint64_t code;
	uint64_t code_size;
};

/** gprof_given_file_read() - identify a file; 0 or -errno, ENOEXEC: none that has a build-id */
int gprof_given_file_read(struct gprof_given_file *f, const char *path);

/**
 * gprof_found_file_code() - find the file with the code
 * @f: result
 * @o: gets the object
 * @lost: file to find
 * @places: files that were given come first; or NULL
 * @other: set where under its path lies a file with another build-id, or none
 *
 * Return: 0 or -ENOMEM.
 */
int gprof_found_file_code(struct gprof_found_file *f, struct gprof_objects *o,
			  const struct gprof_lost_file *lost,
			  const struct gprof_debug_places *places, bool *other);

/** gprof_found_file_debug() - likewise its debug file, where gprof_debug_file() finds that */
int gprof_found_file_debug(struct gprof_found_file *f, struct gprof_objects *o,
			   const struct gprof_lost_file *lost);

/**
 * gprof_found_file_vaddr() - the file's own address of a byte in memory
 * @f: file
 * @start: where a mapping of it began
 * @limit: and ended
 * @offset: of @start in the file
 * @address: of the byte, in the mapping
 * @vaddr: gets it
 *
 * Return: whether that is known.
 */
bool gprof_found_file_vaddr(const struct gprof_found_file *f, uint64_t start, uint64_t limit,
			    uint64_t offset, uint64_t address, uint64_t *vaddr);

#endif /* GPROF_FOUND_FILE_H */
