/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * python_object.h: the code of an interpreter of Python: which of it interprets.
 */
#ifndef GPROF_PYTHON_OBJECT_H
#define GPROF_PYTHON_OBJECT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/table.h"
#include "python_file.h"

/**
 * struct gprof_python_object - a file with an interpreter
 * @interpreter: offsets of its structs
 * @calls: of addresses in it: are they behind a call of the function that interprets?
 */
struct gprof_python_object {
	struct gprof_interpreter interpreter;
	struct gprof_map64 calls;
};

/**
 * gprof_python_object_new() - look whether a file has one, by its name too
 * @fd: file
 * @path: of it
 * @other: gets the version of one that is not known, as struct gprof_interpreter has it
 *
 * Return: NULL: it has none that is known.
 */
struct gprof_python_object *gprof_python_object_new(int fd, const char *path, uint32_t *other);
void gprof_python_object_free(struct gprof_python_object *python);

/**
 * gprof_python_in_eval() - is an address in the function that interprets?
 * @python: file
 * @vaddr: address in it
 * @from: bytes of the function that are of interest; 0: all
 *
 * Parts of it that the compiler has moved elsewhere have no name: false.
 */
bool gprof_python_in_eval(const struct gprof_python_object *python, uint64_t vaddr, uint64_t from);

/**
 * gprof_python_called_eval() - does a call of that function stand before an address in the file?
 * @python: file
 * @fd: it
 * @vaddr: address
 * @offset: in the file
 */
bool gprof_python_called_eval(struct gprof_python_object *python, int fd, uint64_t vaddr,
			      uint64_t offset);

#endif /* GPROF_PYTHON_OBJECT_H */
