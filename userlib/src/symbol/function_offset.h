/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * function_offset.h: where in a file a function's code is.
 */
#ifndef GPROF_FUNCTION_OFFSET_H
#define GPROF_FUNCTION_OFFSET_H

#include <stdint.h>

#include "base/error.h"

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
