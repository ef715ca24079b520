/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * symbolizer.h: names and lines for addresses of one ELF file.
 */
#ifndef GPROF_SYMBOLIZER_H
#define GPROF_SYMBOLIZER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mapped_file.h"

#define GPROF_FRAMES_MAX	32	/* functions at one address, inlined ones included */

/**
 * struct gprof_symbol_frame - a function at an address
 * @name: never NULL; "+0xADDRESS": that of a function which has none begins there
 * @file: source file, or NULL
 * @line: line in @file, or 0
 * @column: column, or 0
 * @start_line: where the function begins, or 0
 */
struct gprof_symbol_frame {
	const char *name;
	const char *file;
	int64_t line;
	int64_t column;
	int64_t start_line;
};

struct gprof_symbolizer;

/**
 * gprof_symbolizer_open() - open a file
 * @fd: descriptor, which is not kept
 * @path: to find its debug file by, which lives as long as the answer; or NULL
 * @pid: a process whose path that is, or 0
 *
 * Return: symbolizer, or NULL with errno.
 */
struct gprof_symbolizer *gprof_symbolizer_open(int fd, const char *path, uint32_t pid);
void gprof_symbolizer_close(struct gprof_symbolizer *s);

/**
 * gprof_symbolizer_frames() - functions at an address
 * @s: symbolizer
 * @addr: address as in the file
 * @frames: room for GPROF_FRAMES_MAX: inlined functions, innermost first, and
 *	the function itself; strings live as long as @s
 * @inlines: set when DWARF was there to tell of inlined functions
 *
 * Return: number of frames, 0 when nothing is known.
 */
size_t gprof_symbolizer_frames(struct gprof_symbolizer *s, uint64_t addr,
			       struct gprof_symbol_frame *frames, bool *inlines);

/** gprof_symbolizer_is_open() - as gprof_elf_is_open(); else nothing new is known of it */
bool gprof_symbolizer_is_open(const struct gprof_symbolizer *s);

/** gprof_symbolizer_missing() - why symbols that the file has were left out, as far as read */
enum gprof_missing gprof_symbolizer_missing(const struct gprof_symbolizer *s);

/** gprof_symbolizer_has_debug() - were there symbols that strip(1) takes out, or DWARF, as far as read? */
bool gprof_symbolizer_has_debug(const struct gprof_symbolizer *s);

/**
 * gprof_symbolizer_caller() - was the guess at the caller of a leaf right?
 *
 * As gprof_cfi_caller(), and remembers the answer.
 */
bool gprof_symbolizer_caller(struct gprof_symbolizer *s, uint64_t pc, bool pushed);

#endif /* GPROF_SYMBOLIZER_H */
