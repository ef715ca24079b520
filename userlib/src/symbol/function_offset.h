/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * function_offset.h: where in a file a function's code is.
 */
#ifndef GPROF_FUNCTION_OFFSET_H
#define GPROF_FUNCTION_OFFSET_H

#include <stdint.h>

#include "base/error.h"

/** Called for each function, by its name without a version. */
typedef void (*gprof_function_found)(void *ctx, const char *name, uint64_t offset);

/**
 * gprof_functions_each() - the exported functions of a file
 * @fd: ELF file of 64 bits, a program or a shared library; it stays the caller's
 * @path: its name
 * @found: called for each that is defined in it and has a name; for one of two tables twice
 * @ctx: passed to @found
 *
 * Return: 0; -ENOEXEC: it is no such file; or another -errno.
 */
int gprof_functions_each(int fd, const char *path, gprof_function_found found, void *ctx);

/**
 * gprof_function_offset() - where in a file a function's code is
 * @path: ELF file, a program or a shared library
 * @function: its name, as the linker has it
 * @offset: result, bytes into the file
 * @e: sentence
 *
 * Return: 0; -ENOENT: no such file, or no such function in it; -EEXIST: several; or
 * another -errno.
 */
int gprof_function_offset(const char *path, const char *function, uint64_t *offset,
			  struct gprof_error *e);

#endif /* GPROF_FUNCTION_OFFSET_H */
