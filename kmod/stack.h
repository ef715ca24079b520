/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * stack: kernel and user frames of the current task; the only unwinder user.
 */
#ifndef GPROF_STACK_H
#define GPROF_STACK_H

#include <linux/gprof.h>
#include <linux/types.h>

struct perf_callchain_entry;
struct pt_regs;

#define GPROF_MAX_FRAMES	127	/* of either half; as kernel.perf_event_max_stack */

/**
 * struct gprof_stack - a captured stack; also its key in the dictionary
 * @flags: GPROF_STACK_REC_F_*
 * @nr_kernel: kernel frames, first in @frames
 * @nr_user: user frames, behind them
 * @layout: stamp of the process' mappings; the sampler fills it in
 * @__zero: 0
 * @process: whose user addresses these are; the sampler fills it in
 * @frames: leaf first
 *
 * Without holes, since it is compared as words.
 */
struct gprof_stack {
	u32 flags;
	u16 nr_kernel;
	u16 nr_user;
	u32 layout;
	u32 __zero;
	struct gprof_process process;
	u64 frames[2 * GPROF_MAX_FRAMES + 1];
};

/**
 * struct gprof_stack_options - what to capture
 * @flags: GPROF_STACK_F_*
 * @max_frames: most frames of either half, up to GPROF_MAX_FRAMES
 * @kernel: kernel addresses may be recorded
 */
struct gprof_stack_options {
	u32 flags;
	u32 max_frames;
	bool kernel;
};

void gprof_stack_capture(struct gprof_stack *s, const struct gprof_stack_options *o,
			 struct pt_regs *regs, const struct perf_callchain_entry *chain);

/* What an architecture supplies (stack_x86.c, stack_arm64.c). */

/**
 * gprof_arch_kernel_frames() - walk the kernel's frames
 * @regs: where the kernel was interrupted, or a caller's registers
 * @frames: where to; the first is the instruction itself
 * @max: at least 1
 *
 * Context: Any incl. NMI, preemption off.
 * Return: number of frames.
 */
u32 gprof_arch_kernel_frames(struct pt_regs *regs, u64 *frames, u32 max);

/**
 * gprof_arch_user_frames() - walk the frame records of current's user stack
 * @regs: registers of user mode
 * @frames: where to; the first is the instruction itself
 * @max: most frames, the guessed caller not counted; at least 1. There is room
 *	for one more.
 * @flags: GPROF_STACK_REC_F_CALLER, _CALLER_PUSHED, _USER_CUT are added here
 *
 * Context: Any incl. NMI, preemption off. Never faults in a page.
 * Return: number of frames.
 */
u32 gprof_arch_user_frames(struct pt_regs *regs, u64 *frames, u32 max, u32 *flags);

#endif /* GPROF_STACK_H */
