/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * core_file.h: the mappings of /dev/gprof in a core dump.
 */
#ifndef GPROF_CORE_FILE_H
#define GPROF_CORE_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* No program has as many. */
#define GPROF_CORE_MAPPINGS_MAX	(1U << 20)

/**
 * struct gprof_core_mapping - a mapping of the device
 * @offset: of the mapping in the device
 * @bytes: how much of it is in the dump
 * @at: where in the file
 */
struct gprof_core_mapping {
	uint64_t offset;
	uint64_t bytes;
	uint64_t at;
};

/**
 * gprof_core_file_read() - find them, in the order of their addresses
 * @fd: file
 * @mappings: result for free()
 * @nr: how many
 * @e: sentence
 *
 * Those that are not in the dump are left out.
 *
 * Return: 0 or -errno.
 */
int gprof_core_file_read(int fd, struct gprof_core_mapping **mappings, size_t *nr,
			 struct gprof_error *e);

#endif /* GPROF_CORE_FILE_H */
