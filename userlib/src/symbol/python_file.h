/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * python_file.h: offsets of the structs of an interpreter of Python, by its file.
 */
#ifndef GPROF_PYTHON_FILE_H
#define GPROF_PYTHON_FILE_H

#include <linux/gprof.h>
#include <stdbool.h>
#include <stdint.h>

/**
 * struct gprof_interpreter - of one file
 * @version: 0x030b is 3.11; also of those that nothing else is known of
 * @kernel: offsets for the module
 * @eval: address in the file of the function that interprets
 * @eval_size: its bytes
 * @linetable: offset in a code object of its lines, which are bytes
 * @code_size: bytes of a code object before its instructions
 * @bytes_size: offset in an object of bytes of their number
 * @bytes_data: of the bytes
 * @string_length: offset in a string of how many characters it has
 * @string_state: kind of a string
 * @string_ascii: of the characters where all are ASCII
 * @string_other: where not all are
 */
struct gprof_interpreter {
	uint32_t version;
	struct gprof_python kernel;
	uint64_t eval;
	uint64_t eval_size;
	uint32_t linetable;
	uint32_t code_size;
	uint32_t bytes_size;
	uint32_t bytes_data;
	uint32_t string_length;
	uint32_t string_state;
	uint32_t string_ascii;
	uint32_t string_other;
};

/** gprof_python_is_named() - may the file of this path have an interpreter, by its name? */
bool gprof_python_is_named(const char *path);

/**
 * gprof_python_read_file() - find out
 * @fd: file, which stays the caller's and where it was
 * @out: offsets
 *
 * Of 3.11, and of versions whose file has them, as 3.13 does. The file is not trusted; its errors
 * harm only processes that run it.
 *
 * Return: 0; -ENOENT: it has none; -EOPNOTSUPP: of another version, which @out has; -ENOEXEC, -ENOMEM, or
 * -errno of reading.
 */
int gprof_python_read_file(int fd, struct gprof_interpreter *out);

#endif /* GPROF_PYTHON_FILE_H */
