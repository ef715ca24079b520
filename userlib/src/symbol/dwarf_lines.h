/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * dwarf_lines.h: source lines and inlined functions, where DWARF tells.
 */
#ifndef GPROF_DWARF_LINES_H
#define GPROF_DWARF_LINES_H

#include <stddef.h>
#include <stdint.h>

#include "elf_module.h"

struct gprof_dwarf;

/**
 * struct gprof_dwarf_frame - a function at an address, and the place in it
 * @name: linkage name or name, NULL when DWARF does not say
 * @file: source file, NULL when DWARF does not say
 * @line: line in @file, 0 when DWARF does not say
 * @column: column, likewise
 * @start_line: line where the function begins, likewise
 */
struct gprof_dwarf_frame {
	const char *name;
	const char *file;
	int64_t line;
	int64_t column;
	int64_t start_line;
};

/**
 * gprof_dwarf_open() - index the compilation units
 * @m: open file; @m and the strings live until gprof_dwarf_close() and
 *	gprof_elf_close()
 *
 * Return: NULL when there is no DWARF, or no memory.
 */
struct gprof_dwarf *gprof_dwarf_open(struct gprof_elf *m);
void gprof_dwarf_close(struct gprof_dwarf *d);

/**
 * gprof_dwarf_frames() - frames of an address by DWARF
 * @d: from gprof_dwarf_open()
 * @addr: address
 * @frames: result: inlined functions, innermost first, and the function itself
 * @max: room in @frames, at least 1; where there are more inlined functions,
 *	the outer ones are left out, but not the function itself
 *
 * Return: number of frames; 0 when DWARF knows nothing of the address.
 */
size_t gprof_dwarf_frames(struct gprof_dwarf *d, uint64_t addr,
			  struct gprof_dwarf_frame *frames, size_t max);

#endif /* GPROF_DWARF_LINES_H */
