/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * table_layout.h: where the parts of an unwind table are.
 */
#ifndef GPROF_TABLE_LAYOUT_H
#define GPROF_TABLE_LAYOUT_H

#include <linux/gprof_unwind.h>
#include <stddef.h>
#include <stdint.h>

/* Parts of a rule's "how". */
#define GPROF_UNWIND_FP(how)	((how) & 3)
#define GPROF_UNWIND_RA(how)	((how) >> 2 & 3)
#define GPROF_UNWIND_REG(how)	((how) >> 4)
#define GPROF_UNWIND_HOW(fp, ra, reg) ((__u8)((fp) | (ra) << 2 | (reg) << 4))

/**
 * struct gprof_table_layout - offsets of the parts of a table
 * @base: __u32 [granules / GPROF_UNWIND_BASE + 1]
 * @index: __u16 [granules + 1]
 * @low: __u8 [rows]
 * @rule: __u8 [rows]
 * @far: struct gprof_unwind_far [fars]
 * @rules: struct gprof_unwind_rule [rules]
 * @size: bytes of all
 */
struct gprof_table_layout {
	uint64_t base;
	uint64_t index;
	uint64_t low;
	uint64_t rule;
	uint64_t far;
	uint64_t rules;
	uint64_t size;
};

void gprof_table_layout_of(const struct gprof_unwind_table *t, struct gprof_table_layout *at);

#endif /* GPROF_TABLE_LAYOUT_H */
