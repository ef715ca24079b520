/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * frames: a captured stack, and the functions by which an architecture finds its frames.
 */
#ifndef GPROF_FRAMES_H
#define GPROF_FRAMES_H

#include "user_fp.h"

#include <linux/gprof.h>
#include <linux/types.h>

struct pt_regs;
struct task_struct;

#define GPROF_OWN_FRAMES	8	/* most that a stack has besides those of a suffix */

/**
 * struct gprof_top - the part that differs from sample to sample; a key of the dictionary
 * @flags: GPROF_STACK_REC_F_*
 * @nr_kernel: kernel frames, first in @frames
 * @nr_user: user frames behind them: the leaf, and a guessed caller
 * @user_frames: id in the dictionary of callers that end as these do
 * @nr_end: how many of those do
 * @nr_own: callers before these, last in @frames
 * @ends: @user_frames, @nr_end and @nr_own
 * @frames: leaf first
 *
 * The sampler fills in @user_frames and the members that follow from it. Without holes, since it is
 * compared as words.
 */
struct gprof_top {
	u32 flags;
	u16 nr_kernel;
	u16 nr_user;
	union {
		struct {
			u32 user_frames;
			u16 nr_end;
			u16 nr_own;
		};
		u64 ends;
	};
	u64 frames[GPROF_MAX_FRAMES + 2 + GPROF_OWN_FRAMES];
};

#define GPROF_SLOW_UNWIND	32	/* slow steps of a walk that takes longer than most */

/**
 * struct gprof_stack - a captured stack
 * @top: kernel frames and the user leaf
 * @user_frames: the rest of the user frames
 * @nr_python: how many words of @user_frames are an interpreter's, which come first
 * @outermost: no other stack is being captured on this CPU
 * @until: when walks by tables have to end, as gprof_clock_ns(); 0: they may not begin
 * @slow: steps of such walks that took long; at first not 0 where several are likely
 * @wants_mm_tables: the mappings of the process are not known well enough
 *
 * It is kept from sample to sample, for the next walk to compare with.
 */
struct gprof_stack {
	struct gprof_top top;
	struct gprof_user_frames user_frames;
	u32 nr_python;
	u64 until;
	u32 slow;
	bool outermost;
	bool wants_mm_tables;
};

static inline u32 gprof_top_words(const struct gprof_top *top)
{
	BUILD_BUG_ON(offsetof(struct gprof_top, frames) != 16);
	return 2 + top->nr_kernel + top->nr_user + top->nr_own;
}

/* The functions of an architecture (stack_x86.c, stack_arm64.c, stack_riscv.c). */

/**
 * gprof_arch_task_frames() - walk the kernel's frames of a task that does not run
 * @task: task whose stack is there. Should it run, the frames are of no use
 * @frames: where to; the first is where it left its CPU
 * @max: at least 1
 *
 * Context: Any, preemption off.
 * Return: number of frames.
 */
u32 gprof_arch_task_frames(struct task_struct *task, u64 *frames, u32 max);

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
 * gprof_arch_caller_regs() - go on to the module's caller
 * @regs: from perf_fetch_caller_regs(), in a function of ours
 *
 * For where a tail call is a call, as with frame pointers on arm64.
 *
 * Context: Any incl. NMI, preemption off.
 */
void gprof_arch_caller_regs(struct pt_regs *regs);

/**
 * gprof_arch_sleeper_regs() - where a task was when it gave the CPU away
 * @regs: gets as much as gprof_arch_kernel_frames() needs, once the task is current again
 *	and still there: of the switch's caller, for the frames below are gone by then
 * @task: does not run, and cannot begin to
 *
 * Context: Any, preemption off.
 */
void gprof_arch_sleeper_regs(struct pt_regs *regs, struct task_struct *task);

/**
 * gprof_arch_user_reads() - can a user stack in current's mm be read, and understood?
 * @regs: registers of user mode
 * @interrupted: the page tables that are loaded are certainly those of current
 *
 * Context: Any incl. NMI, preemption off.
 */
bool gprof_arch_user_reads(struct pt_regs *regs, bool interrupted);

/**
 * gprof_arch_first_record() - where the frame records of a user stack begin
 * @regs: registers of user mode
 * @top: where a guessed caller goes, which has no record
 *
 * Context: Any incl. NMI, preemption and page faults off.
 */
u64 gprof_arch_first_record(struct pt_regs *regs, struct gprof_top *top);

/**
 * gprof_arch_begins_thread() - is this a thread before its first instruction, on its own stack?
 * @regs: registers of user mode; the link register still leads to the code of its creator
 *
 * Context: Any incl. NMI, page faults off, user memory closed. arm64 alone: elsewhere the C
 * library has no rule there.
 */
bool gprof_arch_begins_thread(struct pt_regs *regs);

/* gprof_arch_user_stack() - below it lies no record */
u64 gprof_arch_user_stack(struct pt_regs *regs);

#endif /* GPROF_FRAMES_H */
