/* SPDX-License-Identifier: GPL-2.0-only */
/* table.h: tables of <linux/gprof_unwind.h> made by hand, for the tests. */
#ifndef GPROF_TEST_TABLE_H
#define GPROF_TEST_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <linux/gprof.h>
#include <linux/gprof_unwind.h>

#ifdef __x86_64__
#define TABLE_MACHINE	62	/* EM_X86_64 */
#else
#define TABLE_MACHINE	183	/* EM_AARCH64 */
#endif

/* From here on. */
struct table_row {
	uint64_t offset;	/* in the file */
	struct gprof_unwind_rule rule;	/* this one holds */
};

/* Where what is in a table. */
struct table_parts {
	struct gprof_unwind_table *head;	/* of it; the table's memory */
	uint32_t *base;	/* rows before each 64th granule */
	uint16_t *index;	/* rows from there to each granule */
	uint8_t *low;	/* places of rows */
	uint8_t *rule;	/* their rules */
	struct gprof_unwind_far *far;	/* those that a byte cannot say */
	struct gprof_unwind_rule *rules;	/* rules */
	size_t size;	/* of all */
};

static inline size_t table_round(size_t bytes)
{
	return (bytes + 7) & ~(size_t)7;
}

/*
 * A table of the text from @rows[0], which lies on a granule, up to @end: a rule for each
 * row, with the numbers from @first on. In memory for free(@t->head).
 */
static inline bool table_make(struct table_parts *t, const struct table_row *rows, uint32_t nr,
			      uint64_t end, uint32_t first)
{
	uint64_t start = rows[0].offset, granule = GPROF_UNWIND_GRANULE;
	uint32_t granules = (end - start + granule - 1) / granule;
	uint32_t near = first < GPROF_UNWIND_FAR ? GPROF_UNWIND_FAR - first : 0;
	uint32_t fars = nr > near ? nr - near : 0;
	size_t base = sizeof(*t->head);
	size_t index = table_round(base + (granules / GPROF_UNWIND_BASE + 1) * sizeof(*t->base));
	size_t low = table_round(index + (granules + 1) * sizeof(*t->index));
	size_t rule = table_round(low + nr), far = table_round(rule + nr);
	size_t rules = far + fars * sizeof(*t->far);
	uint32_t g, row = 0;

	t->size = rules + (first + nr) * sizeof(*t->rules);
	t->head = calloc(1, t->size);
	if (!t->head)
		return false;
	t->base = (void *)((char *)t->head + base);
	t->index = (void *)((char *)t->head + index);
	t->low = (uint8_t *)t->head + low;
	t->rule = (uint8_t *)t->head + rule;
	t->far = (void *)((char *)t->head + far);
	t->rules = (void *)((char *)t->head + rules);
	*t->head = (struct gprof_unwind_table){
		.magic = GPROF_UNWIND_MAGIC, .version = GPROF_UNWIND_VERSION,
		.machine = TABLE_MACHINE, .start = start,
		.granules = granules, .rows = nr, .rules = first + nr, .fars = fars,
	};
	for (g = 0; g <= granules; g++) {
		while (row < nr && rows[row].offset < start + g * granule)
			row++;
		if (!(g % GPROF_UNWIND_BASE))
			t->base[g / GPROF_UNWIND_BASE] = row;
		t->index[g] = row - t->base[g / GPROF_UNWIND_BASE];
	}
	for (row = 0; row < nr; row++) {
		t->low[row] = rows[row].offset % granule;
		t->rule[row] = row < near ? first + row : GPROF_UNWIND_FAR;
		if (row >= near)
			t->far[row - near] = (struct gprof_unwind_far){ row, first + row };
		t->rules[first + row] = rows[row].rule;
	}
	return true;
}

static inline struct gprof_unwind_table_add table_argument(const struct table_parts *t, int fd)
{
	return (struct gprof_unwind_table_add){
		.size = sizeof(struct gprof_unwind_table_add), .fd = fd,
		.table = (uintptr_t)t->head, .table_size = t->size,
	};
}

#endif /* GPROF_TEST_TABLE_H */
