/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cfi_table: a table that says how to get from a frame to its caller.
 *
 * linux/gprof_unwind.h has its layout. User space compiled it, and may be
 * hostile: all that a walk will index with is checked once, here.
 */
#ifndef GPROF_CFI_TABLE_H
#define GPROF_CFI_TABLE_H

#include "compat/file.h"

#include <linux/gprof.h>
#include <linux/gprof_unwind.h>
#include <linux/fs.h>
#include <linux/list.h>
#include <linux/nospec.h>
#include <linux/types.h>

/**
 * struct gprof_file_id - whose bytes text is
 * @dev: device; 0 with @inode 0: the vDSO
 * @generation: of the inode
 * @inode: number
 * @size: bytes of the file
 * @mtime_ns: when it was last written to
 * @ctime_ns: when its inode was last changed
 *
 * The inode is that whose pages are mapped, below any stacked file system. It is named,
 * not held: nobody is to be kept from unmounting.
 */
struct gprof_file_id {
	u32 dev;
	u32 generation;
	u64 inode;
	u64 size;
	u64 mtime_ns;
	u64 ctime_ns;
};

/**
 * struct gprof_cfi_table - a table
 * @node: in its set
 * @hash: for lookups, by @set and @id
 * @rcu: frees it
 * @set: number of its set
 * @id: of the text that it is for
 * @base: rows before each granule that is a multiple of GPROF_UNWIND_BASE
 * @index: rows from there to each granule
 * @low: where in its granule a row begins
 * @rule: index of a row's rule, or GPROF_UNWIND_FAR
 * @far: rules of those rows
 * @rules: rules
 * @start: offset in the file of the first granule
 * @granules: how many
 * @fars: how many rows have GPROF_UNWIND_FAR
 * @nr_rules: of @rules
 * @memory: the table
 * @bytes: of @memory
 * @python: of the interpreter that the file has; its size is 0: it has none
 *
 * Fixed once it is checked.
 */
struct gprof_cfi_table {
	struct hlist_node node;
	struct hlist_node hash;
	struct rcu_head rcu;
	u16 set;
	struct gprof_file_id id;
	const u32 *base;
	const u16 *index;
	const u8 *low;
	const u8 *rule;
	const struct gprof_unwind_far *far;
	const struct gprof_unwind_rule *rules;
	u64 start;
	u32 granules;
	u32 fars;
	u32 nr_rules;
	void *memory;
	u64 bytes;
	struct gprof_python python;
};

extern const struct gprof_unwind_rule gprof_cfi_table_none;

int gprof_cfi_table_check(struct gprof_cfi_table *u);
u32 gprof_cfi_table_far(const struct gprof_cfi_table *u, u32 row);

void gprof_file_id_of(struct gprof_file_id *id, const struct inode *inode);
bool gprof_same_file_id(const struct gprof_file_id *a, const struct gprof_file_id *b);

/* Rows before a granule; @granule: granules at most. */
static __always_inline u32 gprof_cfi_table_before(const struct gprof_cfi_table *u, u32 granule)
{
	return u->base[granule / GPROF_UNWIND_BASE] + u->index[granule];
}

/**
 * gprof_cfi_table_find() - the rule for a place
 * @u: table
 * @offset: of the place from the table's first byte on; any number
 *
 * Context: Any incl. NMI.
 */
static __always_inline const struct gprof_unwind_rule *
gprof_cfi_table_find(const struct gprof_cfi_table *u, u64 offset)
{
	u64 granule = offset / GPROF_UNWIND_GRANULE;
	u8 low = offset % GPROF_UNWIND_GRANULE;
	u32 row, end, rule;

	if (granule >= u->granules)
		return &gprof_cfi_table_none;
	/* The place may be the user's choice: foreseen wrongly, it would read anywhere. */
	granule = array_index_nospec(granule, u->granules);
	row = gprof_cfi_table_before(u, granule);
	end = gprof_cfi_table_before(u, granule + 1);
	/* A dozen rows at most, but for code that is all prologues. */
	while (end - row > 8) {
		u32 middle = row + (end - row) / 2;

		if (u->low[middle] <= low)
			row = middle;
		else
			end = middle;
	}
	while (row < end && u->low[row] <= low)
		row++;
	rule = u->rule[row - 1];
	return &u->rules[likely(rule != GPROF_UNWIND_FAR) ? rule : gprof_cfi_table_far(u, row - 1)];
}

#endif /* GPROF_CFI_TABLE_H */
