/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * dwarf_cost.h: an estimate of libdw's memory for a piece of DWARF, before it reads it.
 *
 * Each unit, each abbreviation that a unit has in sight, and each row of a line table
 * becomes memory that lives as long as the file is open: a few bytes can stand for any
 * number of these. And where libdw has no memory, it ends the program.
 */
#ifndef GPROF_DWARF_COST_H
#define GPROF_DWARF_COST_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dwarf_headers.h"
#include "base/table.h"

/**
 * struct gprof_dwarf_file - sections of a file with DWARF
 * @dw: libdw's handle, or NULL: there is no such file
 * @info: units
 * @types: units of types, before DWARF 5
 * @abbrev: abbreviations
 * @line: line tables
 * @str: strings
 * @line_str: strings of line tables
 */
struct gprof_dwarf_file {
	Dwarf *dw;
	struct gprof_dwarf_bytes info;
	struct gprof_dwarf_bytes types;
	struct gprof_dwarf_bytes abbrev;
	struct gprof_dwarf_bytes line;
	struct gprof_dwarf_bytes str;
	struct gprof_dwarf_bytes line_str;
};

/**
 * struct gprof_dwarf_cost - memory so far
 * @memory: budget
 * @main: the file
 * @alt: file of parts that dwz(1) took out of it, if it is there
 * @units: units whose abbreviations are paid for: 1, or there is not enough for them: 0
 * @longest: bytes of the longest string in line_str of @main, once it was needed
 */
struct gprof_dwarf_cost {
	struct gprof_budget *memory;
	struct gprof_dwarf_file main;
	struct gprof_dwarf_file alt;
	struct gprof_map64 units;
	size_t longest;
};

/**
 * gprof_dwarf_cost_open() - pay for the units of a file
 * @c: result
 * @dw: the file
 * @alt: file of parts that dwz(1) took out of it, or NULL
 * @memory: to pay of
 *
 * Return: false where there is not enough, or strings do not end within their section.
 */
bool gprof_dwarf_cost_open(struct gprof_dwarf_cost *c, Dwarf *dw, Dwarf *alt,
			   struct gprof_budget *memory);
void gprof_dwarf_cost_close(struct gprof_dwarf_cost *c);

/** gprof_dwarf_cost_unit() - charge the memory for any DIE of a unit; false: it must not be read */
bool gprof_dwarf_cost_unit(struct gprof_dwarf_cost *c, Dwarf_CU *cu);

/**
 * gprof_dwarf_cost_lines() - pay for the line table of a unit, and have libdw read it
 * @c: from gprof_dwarf_cost_open()
 * @unit: the unit
 * @dir: its directory, or NULL
 */
bool gprof_dwarf_cost_lines(struct gprof_dwarf_cost *c, Dwarf_Die *unit, const char *dir);

#endif
