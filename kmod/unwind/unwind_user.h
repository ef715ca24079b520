/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * unwind_user: the user frames above the leaf, by tables, and by frame records where none is.
 */
#ifndef GPROF_UNWIND_USER_H
#define GPROF_UNWIND_USER_H

#include "frames.h"
#include "mm_tables.h"

#include <linux/types.h>

struct pt_regs;

int gprof_unwind_user_begin(void);
void gprof_unwind_user_end(void);

#define GPROF_UNWIND_UNKNOWN	U64_MAX	/* version of mappings of which there is no copy */

u32 gprof_unwind_user(struct gprof_stack *s, u32 set, const struct gprof_mm_tables *mm_tables,
		      u64 version, struct pt_regs *regs, u32 max);

#endif /* GPROF_UNWIND_USER_H */
