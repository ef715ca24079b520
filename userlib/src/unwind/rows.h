/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * rows.h: rows of a table in the making, and the table that is made of them.
 */
#ifndef GPROF_ROWS_H
#define GPROF_ROWS_H

#include <linux/gprof_unwind.h>
#include <stddef.h>
#include <stdint.h>

#include "base/table.h"

/**
 * struct gprof_unwind_blob - a table in the form of linux/gprof_unwind.h
 * @data: it, from malloc()
 * @size: bytes
 */
struct gprof_unwind_blob {
	void *data;
	size_t size;
};

/**
 * struct gprof_row - from here on this rule
 * @at: place in the text
 * @rule: number of the rule
 */
struct gprof_row {
	uint32_t at;
	uint32_t rule;
};

/**
 * struct gprof_rows - rows, ascending
 * @v: they; neighbours differ in place and rule
 * @nr: how many
 * @cap: room
 * @rules: each once
 * @nr_rules: how many
 * @cap_rules: room
 * @ids: from a rule, taken as a number, to its place in @rules
 * @budget: for memory
 */
struct gprof_rows {
	struct gprof_row *v;
	size_t nr;
	size_t cap;
	struct gprof_unwind_rule *rules;
	size_t nr_rules;
	size_t cap_rules;
	struct gprof_map64 ids;
	struct gprof_budget *budget;
};

int gprof_rows_init(struct gprof_rows *rows, struct gprof_budget *budget);
void gprof_rows_free(struct gprof_rows *rows);

/**
 * gprof_rows_add() - from @at on @rule holds
 * @rows: rows, the last of which is not behind @at; one that is there is replaced
 * @at: place in the text
 * @rule: rule; where there are too many others it becomes GPROF_UNWIND_CFA_UNKNOWN
 *
 * Return: 0 or -ENOMEM.
 */
int gprof_rows_add(struct gprof_rows *rows, uint32_t at, struct gprof_unwind_rule rule);

/** gprof_rows_cut() - nothing is known from @at on */
void gprof_rows_cut(struct gprof_rows *rows, uint32_t at);

/** gprof_rows_last() - the rule that holds at the end, GPROF_UNWIND_CFA_NONE without rows */
struct gprof_unwind_rule gprof_rows_last(const struct gprof_rows *rows);

/**
 * gprof_rows_pack() - make the table
 * @rows: rows; text before the first and behind the last that have rules is left out
 * @machine: EM_*
 * @base: offset in the file that places count from, a multiple of GPROF_UNWIND_GRANULE
 * @end: place of the end of the text
 * @out: the table
 *
 * Return: 0, -ENODATA: nothing has a rule, -EFBIG: more than GPROF_UNWIND_TABLE_MAX, or -ENOMEM.
 */
int gprof_rows_pack(const struct gprof_rows *rows, uint16_t machine, uint64_t base, uint32_t end,
		    struct gprof_unwind_blob *out);

#endif /* GPROF_ROWS_H */
