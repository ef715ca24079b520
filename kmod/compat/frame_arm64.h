/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Kernel frame records at an exception boundary, arm64.
 *
 * Since 6.13 such a record is { 0, 0, type }, and the unwinder goes on from the
 * registers around it. Before, a boundary looks like any other frame and
 * { 0, 0 } is the end of the stack.
 */
#ifndef GPROF_COMPAT_FRAME_ARM64_H
#define GPROF_COMPAT_FRAME_ARM64_H

#include <asm/ptrace.h>
#include <linux/uaccess.h>

#ifdef GPROF_HAVE_FRAME_META
#include <asm/stacktrace/frame.h>

/*
 * @fp is at a record of two zeros. Sets the frame from which the unwinder goes on, or returns
 * false at the end of the stack.
 */
static inline bool gprof_cross_exception(u64 fp, u64 *pc, u64 *next)
{
	struct pt_regs *regs;
	u64 type;

	if (copy_from_kernel_nofault(&type, (void *)(fp + 16), sizeof(type)) ||
	    type != FRAME_META_TYPE_PT_REGS)
		return false;
	regs = (struct pt_regs *)(fp - offsetof(struct pt_regs, stackframe));
	return !copy_from_kernel_nofault(pc, &regs->pc, sizeof(*pc)) &&
	       !copy_from_kernel_nofault(next, &regs->regs[29], sizeof(*next));
}
#else
static inline bool gprof_cross_exception(u64 fp, u64 *pc, u64 *next)
{
	return false;
}
#endif

#endif /* GPROF_COMPAT_FRAME_ARM64_H */
