/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * lookup: the table for an address, from the mappings as they are at this moment.
 *
 * For walks that find no copy of the mappings, or one that is older than the code: those
 * of a process' first samples, and those behind dlopen(). While the process changes its
 * mappings itself, as a loader of programs does most of the time, from its pages.
 */
#ifndef GPROF_LOOKUP_H
#define GPROF_LOOKUP_H

#include <linux/types.h>

struct gprof_exec_map;
struct gprof_file_id;
struct gprof_cfi_table;
struct mm_struct;

void gprof_lookup_add(struct gprof_cfi_table *u);
void gprof_lookup_remove(struct gprof_cfi_table *u);
const struct gprof_cfi_table *gprof_lookup_table(u32 set, const struct gprof_file_id *id);

/**
 * enum gprof_lookup_by - from where texts are looked up
 * @GPROF_LOOKUP_NONE: they are not
 * @GPROF_LOOKUP_MAPPINGS: from the mappings, which are kept as they are
 * @GPROF_LOOKUP_KEPT: likewise; the last walk of this CPU has not let them go
 * @GPROF_LOOKUP_PAGES: from the pages that are in memory; whether they are code is not known
 */
enum gprof_lookup_by {
	GPROF_LOOKUP_NONE,
	GPROF_LOOKUP_MAPPINGS,
	GPROF_LOOKUP_KEPT,
	GPROF_LOOKUP_PAGES,
};

enum gprof_lookup_by gprof_lookup_begin(struct mm_struct *mm);
bool gprof_lookup_exec_map(enum gprof_lookup_by by, u32 set, struct mm_struct *mm, u64 at,
			   struct gprof_exec_map *map);
void gprof_lookup_end(enum gprof_lookup_by by, struct mm_struct *mm);

void gprof_lookup_init(void);
void gprof_lookup_exit(void);

#endif /* GPROF_LOOKUP_H */
