/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * go_table.h: functions of Go programs, from the table that their own tracebacks use.
 *
 * It is there in stripped programs too. Its form is that of Go 1.16, 1.18 and 1.20,
 * which later releases have kept, with words of 64 bits.
 */
#ifndef GPROF_GO_TABLE_H
#define GPROF_GO_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "dwarf_input.h"

#define GPROF_GO_SECTION	".gopclntab"
#define GPROF_GO_SECTION_PIE	".data.rel.ro.gopclntab"

#define GPROF_GO_TOP		1	/* without a caller: Go's TOPFRAME */
#define GPROF_GO_WRITES_SP	2	/* in a way that its table does not tell: SPWRITE */

/**
 * struct gprof_go_table - the table
 * @data: its bytes
 * @size: how many
 * @word: bytes of a place
 * @quantum: alignment of instructions
 * @flags: where a function has its flags; 0: nothing is known but names
 * @nr: functions
 * @text: address that places count from
 * @names: where names are
 * @steps: where the steps of the stack pointer are
 * @functions: where functions are
 */
struct gprof_go_table {
	const unsigned char *data;
	uint64_t size;
	unsigned int word;
	unsigned int quantum;
	unsigned int flags;
	uint64_t nr;
	uint64_t text;
	uint64_t names;
	uint64_t steps;
	uint64_t functions;
};

/**
 * struct gprof_go_function - a function
 * @start: its address
 * @end: address behind it
 * @name: name, which lives as long as the table
 * @flags: GPROF_GO_*
 * @steps: of the stack pointer, see gprof_go_step()
 */
struct gprof_go_function {
	uint64_t start;
	uint64_t end;
	const char *name;
	unsigned int flags;
	struct gprof_dwarf_input steps;
};

/**
 * struct gprof_go_steps - where in a function
 * @at: offset from which on @size holds
 * @to: offset up to which it does
 * @size: bytes on the stack, without amd64's return address
 */
struct gprof_go_steps {
	uint64_t at;
	uint64_t to;
	int64_t size;
};

/**
 * gprof_go_table_open() - @data is a table of @size bytes; @text: text that it may leave to others
 */
bool gprof_go_table_open(struct gprof_go_table *t, const void *data, uint64_t size, uint64_t text);

/** gprof_go_function() - function @i; false: it is none that makes sense */
bool gprof_go_function(const struct gprof_go_table *t, uint64_t i, struct gprof_go_function *f);

/** gprof_go_step() - the next, from a zeroed @s on; false: there is none */
bool gprof_go_step(const struct gprof_go_table *t, struct gprof_go_function *f,
		   struct gprof_go_steps *s);

#endif /* GPROF_GO_TABLE_H */
