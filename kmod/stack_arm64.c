// SPDX-License-Identifier: GPL-2.0-only
/*
 * stack on arm64: frame records everywhere.
 *
 * A frame record is { caller's x29, return address }; x29 points to the newest.
 * Return addresses may be signed (pointer authentication); the signature is
 * taken off. The kernel's own walker is not exported, so this is one, from
 * the interrupted registers, so that no frame of ours is in the way.
 *
 * Since 6.13 the record at an exception boundary is { 0, 0, type } and the walk
 * goes on from the registers that surround it; before, the boundary looks like
 * any other frame.
 */
#include "stack.h"

#include <asm/memory.h>
#include <asm/processor.h>
#include <linux/gprof.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/uaccess.h>

#if __has_include(<asm/stacktrace/frame.h>)
#include <asm/stacktrace/frame.h>
#endif

static u64 strip_kernel(u64 addr)
{
	return addr | ~(TASK_SIZE_64 - 1);
}

/* Bit 55 tells the halves of the address space apart; above it may be a tag. */
static u64 strip_user(u64 addr)
{
	return addr & (TASK_SIZE_64 - 1);
}

#ifdef FRAME_META_TYPE_PT_REGS
/* Goes on behind an exception. Returns false at the end of the stack. */
static bool cross_exception(u64 fp, u64 *pc, u64 *next)
{
	u64 type;
	struct pt_regs *regs;
	u64 pair[2];

	if (copy_from_kernel_nofault(&type, (void *)(fp + 16), sizeof(type)) ||
	    type != FRAME_META_TYPE_PT_REGS)
		return false;
	regs = (struct pt_regs *)(fp - offsetof(struct pt_regs, stackframe));
	if (copy_from_kernel_nofault(&pair[0], &regs->pc, sizeof(u64)) ||
	    copy_from_kernel_nofault(&pair[1], &regs->regs[29], sizeof(u64)))
		return false;
	*pc = pair[0];
	*next = pair[1];
	return true;
}
#else
static bool cross_exception(u64 fp, u64 *pc, u64 *next)
{
	return false;
}
#endif

u32 gprof_arch_kernel_frames(struct pt_regs *regs, u64 *frames, u32 max)
{
	u64 fp = regs->regs[29];
	u64 record[2];
	u32 n = 0;

	frames[n++] = regs->pc;
	while (n < max && fp && !(fp & 7)) {
		u64 next, pc;

		if (copy_from_kernel_nofault(record, (void *)fp, sizeof(record)))
			break;
		next = record[0];
		pc = record[1] ? strip_kernel(record[1]) : 0;
		if (!next && !pc && !cross_exception(fp, &pc, &next))
			break;
		if (!pc || next == fp)
			break;
		frames[n++] = pc;
		fp = next;
	}
	return n;
}

static bool readable(u64 addr)
{
	return addr >= PAGE_SIZE && addr < TASK_SIZE_64 - 16;
}

u32 gprof_arch_user_frames(struct pt_regs *regs, bool in_syscall, u64 *frames, u32 max,
			   u32 *flags)
{
	u64 fp = strip_user(regs->regs[29]), sp = strip_user(regs->sp);
	u64 caller = strip_user(regs->regs[30]);
	u64 record[2];
	u32 n = 1;

	frames[0] = regs->pc;
	if (max == 1)
		return 1;
	/* 32-bit programs have other frames. */
	if (compat_user_mode(regs)) {
		*flags |= GPROF_STACK_REC_F_USER_CUT;
		return 1;
	}
	/* A leaf function needs no frame record: its caller is in the link register alone. */
	if (readable(caller)) {
		frames[n++] = caller;
		max++;
		*flags |= GPROF_STACK_REC_F_CALLER;
	}

	pagefault_disable();
	if (!user_access_begin((void __user *)fp, 16))
		goto out;
	while (n < max) {
		/* The stack grows down: frames that do not go up are not frames. */
		if (!readable(fp) || fp & 7 || fp < sp)
			break;
		unsafe_get_user(record[0], (u64 __user *)fp, cut);
		unsafe_get_user(record[1], (u64 __user *)(fp + 8), cut);
		record[1] = strip_user(record[1]);
		if (!readable(record[1]))
			break;
		frames[n++] = record[1];
		sp = fp + 16;
		fp = strip_user(record[0]);
	}
	if (n == max)
		goto cut;
	goto end;
cut:
	*flags |= GPROF_STACK_REC_F_USER_CUT;
end:
	user_access_end();
out:
	pagefault_enable();
	return n;
}
