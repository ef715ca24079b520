/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * walk: the user frames above the leaf, by tables, and by frame records where none is.
 */
#ifndef GPROF_WALK_H
#define GPROF_WALK_H

#include "stack.h"
#include "text.h"

#include <linux/types.h>

struct pt_regs;

int gprof_walk_begin(void);
void gprof_walk_end(void);

#define GPROF_WALK_UNKNOWN	U64_MAX	/* version of mappings of which there is no copy */

u32 gprof_walk(struct gprof_stack *s, u32 set, const struct gprof_texts *texts, u64 version,
	       struct pt_regs *regs, u32 max);

#endif /* GPROF_WALK_H */
