/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * dwarf_headers.h: counts of the entries of a piece of DWARF, by its bytes alone.
 *
 * As libdw will read it, or more, never less: where a count is not clear, the larger one.
 */
#ifndef GPROF_DWARF_HEADERS_H
#define GPROF_DWARF_HEADERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct gprof_dwarf_bytes - a section
 * @v: bytes
 * @nr: how many
 */
struct gprof_dwarf_bytes {
	const unsigned char *v;
	size_t nr;
};

/**
 * struct gprof_dwarf_unit - a unit
 * @next: where the next one begins
 * @abbrev: where its abbreviations begin
 * @code: the one of its first DIE
 */
struct gprof_dwarf_unit {
	uint64_t next;
	uint64_t abbrev;
	uint64_t code;
};

/** gprof_dwarf_next_unit() - the one at @unit->next; @types: of .debug_types; false: none */
bool gprof_dwarf_next_unit(const struct gprof_dwarf_bytes *section, bool types,
			   struct gprof_dwarf_unit *unit);

/**
 * gprof_dwarf_abbrevs() - count abbreviations
 * @section: .debug_abbrev
 * @at: where they begin
 * @code: count up to the one with this code; 0: all
 * @max: count up to one more than that
 */
uint64_t gprof_dwarf_abbrevs(const struct gprof_dwarf_bytes *section, uint64_t at,
			     uint64_t code, uint64_t max);

/**
 * struct gprof_dwarf_rows - a line table
 * @rows: its rows
 * @files: files and directories
 * @longest: bytes of the longest name of those
 * @line_str: ... where that is not the name of one that lies in .debug_line_str
 */
struct gprof_dwarf_rows {
	uint64_t rows;
	uint64_t files;
	size_t longest;
	bool line_str;
};

/** gprof_dwarf_rows() - count the rows of the line table at @at; false: it must not be read */
bool gprof_dwarf_rows(const struct gprof_dwarf_bytes *section, uint64_t at,
		      struct gprof_dwarf_rows *rows);

#endif
