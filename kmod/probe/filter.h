/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * filter: which of a tracepoint's hits are events, by the fields of its record.
 */
#ifndef GPROF_FILTER_H
#define GPROF_FILTER_H

#include <linux/types.h>

struct gprof_filter;
struct gprof_filter_step;

u64 gprof_filter_bytes(u32 nr, u32 text_size);
struct gprof_filter *gprof_filter_new(const struct gprof_filter_step __user *steps, u32 nr,
				      const char __user *text, u32 text_size);
void gprof_filter_free(struct gprof_filter *f);
bool gprof_filter_passes(const struct gprof_filter *f, const void *record, u32 size);

#endif /* GPROF_FILTER_H */
