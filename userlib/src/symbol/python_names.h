/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * python_names.h: names and lines of an interpreter's Python code, out of its memory.
 *
 * A frame of it has the address of its code object, and a check of the contents. The object may be
 * gone when it is looked for, and another one in its place: then the check is another, and the
 * frame has no name.
 */
#ifndef GPROF_PYTHON_NAMES_H
#define GPROF_PYTHON_NAMES_H

#include <linux/gprof.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/table.h"
#include "python_file.h"

/**
 * struct gprof_python_code - a code object
 * @code: address, as GPROF_PYTHON_CODE has it
 * @check: of its contents, as in the stack
 * @tries: how often it could not be read
 * @name: with those of the enclosing scopes, or NULL: it has not been read
 * @file: source
 * @first_line: where it begins
 * @lines: of its instructions, as the interpreter has it
 * @lines_size: bytes of that
 */
struct gprof_python_code {
	uint64_t code;
	uint64_t check;
	uint32_t tries;
	char *name;
	char *file;
	uint32_t first_line;
	unsigned char *lines;
	size_t lines_size;
};

/**
 * struct gprof_python_names - code objects of one program run
 * @v: code objects
 * @nr: how many
 * @cap: room
 * @bytes: their memory
 * @table: finds them
 */
struct gprof_python_names {
	struct gprof_python_code *v;
	size_t nr;
	size_t cap;
	uint64_t bytes;
	struct gprof_table table;
};

/* Is a word of a stack the first, or the second, of a frame of the interpreter? */
static inline bool gprof_python_is_frame(uint64_t word)
{
	return (word & 3ULL << 62) == GPROF_PYTHON_FRAME;
}

static inline bool gprof_python_is_check(uint64_t word)
{
	return (word & GPROF_PYTHON_TAGS) == GPROF_PYTHON_CHECK;
}

void gprof_python_names_init(struct gprof_python_names *n);
void gprof_python_names_free(struct gprof_python_names *n);

/**
 * gprof_python_read() - read code objects that are not known yet
 * @n: names
 * @max: limit of @bytes: code objects beyond it have no name
 * @pid: a process with that memory, if it is there yet
 * @i: its interpreter
 * @frames: frames of a stack, those of the interpreter among them
 * @nr: how many
 *
 * Return: 0 or -ENOMEM.
 */
int gprof_python_read(struct gprof_python_names *n, uint64_t max, uint32_t pid,
		      const struct gprof_interpreter *i, const uint64_t *frames, size_t nr);

/** gprof_python_find() - the code of a frame, two words of a stack; NULL: it has no name */
const struct gprof_python_code *gprof_python_find(const struct gprof_python_names *n,
						  const uint64_t *frame);

/** gprof_python_line() - the line that the frame is at, or 0 */
uint32_t gprof_python_line(const struct gprof_python_code *code, uint64_t frame);

#endif /* GPROF_PYTHON_NAMES_H */
