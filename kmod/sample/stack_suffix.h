/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * stack_suffix: callers that a generation has said, for others to end like them.
 *
 * Stacks of a thread, and mostly of a program, have the same frames far from the leaf. So
 * the difference from the first is enough to know them by, and to tell of them.
 */
#ifndef GPROF_STACK_SUFFIX_H
#define GPROF_STACK_SUFFIX_H

#include <linux/types.h>

struct gprof_user_frames;
struct gprof_percpu_buffer;

u32 gprof_stack_suffix_find(const struct gprof_percpu_buffer *ch,
			    const struct gprof_user_frames *user_frames, u32 *shared);
u32 gprof_stack_suffix_free(const struct gprof_percpu_buffer *ch,
			    const struct gprof_user_frames *user_frames);
void gprof_stack_suffix_use(struct gprof_percpu_buffer *ch, u32 number, u32 id);

#endif /* GPROF_STACK_SUFFIX_H */
