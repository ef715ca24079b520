// SPDX-License-Identifier: GPL-2.0-only
/*
 * stack on arm64: frame records everywhere.
 *
 * A frame record is { caller's x29, return address }; x29 points to the newest.
 * Return addresses may be signed (pointer authentication); the signature is
 * taken off. The kernel's own walker is not exported, so this is one, from
 * the interrupted registers, so that no frame of ours is in the way.
 *
 * In user space a call must stand before every return address, or the walk
 * ends: half a stack is better than a made-up one.
 */
#include "stack.h"
#include "compat/frame_arm64.h"

#include <asm/memory.h>
#include <asm/processor.h>
#include <linux/gprof.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/uaccess.h>

static u64 strip_kernel(u64 addr)
{
	return addr | ~(TASK_SIZE_64 - 1);
}

/* Bit 55 tells the halves of the address space apart; above it may be a tag. */
static u64 strip_user(u64 addr)
{
	return addr & (TASK_SIZE_64 - 1);
}

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
		if (!next && !pc && !gprof_cross_exception(fp, &pc, &next))
			break;
		if (!pc || next == fp)
			break;
		frames[n++] = pc;
		fp = next;
	}
	return n;
}

static __always_inline bool readable(u64 addr)
{
	return addr >= PAGE_SIZE && addr < TASK_SIZE_64 - 16;
}

#define SIGRETURN_INSN	0xd2801168	/* mov x8, #__NR_rt_sigreturn, in the vDSO */

static __always_inline bool is_call(u32 insn)
{
	return (insn & 0xfc000000) == 0x94000000 ||	/* bl */
	       (insn & 0xfefff000) == 0xd63f0000;	/* blr, blraa, blrab, ... */
}

u32 gprof_arch_user_frames(struct pt_regs *regs, u64 *frames, u32 max, u32 *flags)
{
	u64 fp = strip_user(regs->regs[29]), sp = strip_user(regs->sp);
	u64 caller = strip_user(regs->regs[30]);
	u64 record[2];
	u32 n = 1, insn;

	frames[0] = regs->pc;
	if (max == 1)
		return 1;
	/* 32-bit programs have other frames. */
	if (compat_user_mode(regs)) {
		*flags |= GPROF_STACK_REC_F_USER_CUT;
		return 1;
	}
	pagefault_disable();
	if (!user_access_begin((void __user *)fp, 16))
		goto out;
	/*
	 * A prologue may push the record some instructions before it links it
	 * to x29. The unwind table calls the caller saved then, hence no guess.
	 */
	if (readable(sp) && !(sp & 7)) {
		unsafe_get_user(record[0], (u64 __user *)sp, walk);
		unsafe_get_user(record[1], (u64 __user *)(sp + 8), walk);
		if (record[0] == regs->regs[29] && record[1] == regs->regs[30] && fp != sp) {
			fp = sp;
			goto walk;
		}
	}
	/*
	 * A leaf function needs no frame record: its caller is in the link
	 * register alone. A call must stand before what it points to, since
	 * code may use the register for other things.
	 */
	if (readable(caller) && !(caller & 3)) {
		unsafe_get_user(insn, (u32 __user *)(caller - 4), walk);
		if (is_call(insn)) {
			frames[n++] = caller;
			max++;
			*flags |= GPROF_STACK_REC_F_CALLER;
		}
	}
walk:
	while (n < max) {
		/* The stack grows down: frames that do not go up are not frames. */
		if (!readable(fp) || fp & 7 || fp < sp)
			break;
		unsafe_get_user(record[0], (u64 __user *)fp, cut);
		unsafe_get_user(record[1], (u64 __user *)(fp + 8), cut);
		record[1] = strip_user(record[1]);
		if (!record[1])
			break;
		if (!readable(record[1]) || record[1] & 3)
			goto cut;
		unsafe_get_user(insn, (u32 __user *)(record[1] - 4), cut);
		if (!is_call(insn)) {
			unsafe_get_user(insn, (u32 __user *)record[1], cut);
			if (insn != SIGRETURN_INSN)
				goto cut;
		}
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
