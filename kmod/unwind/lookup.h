/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * lookup: the table for an address, from the mappings as they are at this moment.
 *
 * For walks that find no copy of the mappings, or one that is older than the code: those
 * of a process' first samples, and those behind dlopen().
 */
#ifndef GPROF_LOOKUP_H
#define GPROF_LOOKUP_H

#include <linux/types.h>

struct gprof_text;
struct gprof_text_id;
struct gprof_unwind;
struct mm_struct;

void gprof_lookup_add(struct gprof_unwind *u);
void gprof_lookup_remove(struct gprof_unwind *u);
const struct gprof_unwind *gprof_lookup_table(u32 set, const struct gprof_text_id *id);

bool gprof_lookup_begin(struct mm_struct *mm);
bool gprof_lookup_text(u32 set, struct mm_struct *mm, u64 at, struct gprof_text *text);
void gprof_lookup_end(struct mm_struct *mm);

void gprof_lookup_init(void);
void gprof_lookup_exit(void);

#endif /* GPROF_LOOKUP_H */
