/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * stack: kernel and user frames of a task; the only unwinder user.
 */
#ifndef GPROF_STACK_H
#define GPROF_STACK_H

#include "frames.h"

#include <linux/types.h>

struct perf_callchain_entry;
struct pt_regs;
struct task_struct;

/**
 * struct gprof_stack_options - parts of a stack to capture
 * @flags: GPROF_STACK_F_*
 * @max_frames: most frames of either half, up to GPROF_MAX_FRAMES
 * @kernel: kernel addresses may be recorded
 * @table_set: number of the set of tables that user frames are walked by, or 0
 * @word: all of these; never 0
 */
struct gprof_stack_options {
	union {
		struct {
			u16 flags;
			u16 max_frames;
			u16 kernel;
			u16 table_set;
		};
		u64 word;
	};
};

void gprof_stack_capture(struct gprof_stack *s, const struct gprof_stack_options *o,
			 struct pt_regs *regs, const struct perf_callchain_entry *chain);
void gprof_stack_part(struct gprof_stack *part, const struct gprof_stack *whole,
		      const struct gprof_stack_options *o, struct pt_regs *regs);

void gprof_stack_capture_task(struct gprof_stack *s, const struct gprof_stack_options *o,
			      struct task_struct *task);
void gprof_stack_capture_self(struct gprof_stack *s, const struct gprof_stack_options *o);
void gprof_stack_capture_none(struct gprof_stack *s, struct task_struct *task);

#endif /* GPROF_STACK_H */
