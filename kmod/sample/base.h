/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * base: callers that a generation has said, for others to end like them.
 *
 * Stacks of a thread, and mostly of a program, have the same frames far from the leaf. So
 * the difference from the first is enough to know them by, and to tell of them.
 */
#ifndef GPROF_BASE_H
#define GPROF_BASE_H

#include <linux/types.h>

struct gprof_callers;
struct gprof_channel;

u32 gprof_base_find(const struct gprof_channel *ch, const struct gprof_callers *callers,
		    u32 *shared);
u32 gprof_base_free(const struct gprof_channel *ch, const struct gprof_callers *callers);
void gprof_base_take(struct gprof_channel *ch, u32 number, u32 id);

#endif /* GPROF_BASE_H */
