// SPDX-License-Identifier: GPL-2.0-only
/*
 * stack on amd64: ORC for the kernel, frame pointers for user space.
 *
 * User frames are [rbp] = caller's rbp, [rbp + 8] = return address. Code that
 * was compiled without frame pointers uses rbp for anything; so a call must
 * stand before every return address, or the walk ends: half a stack is better
 * than a made-up one, and what is made up differs every time.
 *
 * User memory is read with page faults disabled, under one user_access_begin()
 * for the whole walk (a tenth of the cost of one nofault copy for each frame).
 * The first read goes through copy_from_user_nmi(), which alone knows whether
 * the page tables that are loaded are those of current (an NMI may come while
 * the kernel switches them or works in a temporary mm).
 */
#include "stack.h"

#include <asm/stacktrace.h>
#include <asm/unwind.h>
#include <linux/gprof.h>
#include <linux/perf_event.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/uaccess.h>

/* A fault, or a caller's registers from perf_fetch_caller_regs(), which sets no flags? */
static bool regs_are_real(struct pt_regs *regs)
{
	return regs->flags & X86_EFLAGS_FIXED;
}

u32 gprof_arch_kernel_frames(struct pt_regs *regs, u64 *frames, u32 max)
{
	struct unwind_state state;
	u32 n = 0;

	if (regs_are_real(regs)) {
		unwind_start(&state, current, regs, NULL);
	} else {
		frames[n++] = regs->ip;
		unwind_start(&state, current, NULL, (void *)regs->sp);
	}
	for (; n < max && !unwind_done(&state); unwind_next_frame(&state)) {
		unsigned long addr = unwind_get_return_address(&state);

		if (!addr)
			break;
		frames[n++] = addr;
	}
	if (!n)
		frames[n++] = regs->ip;
	return n;
}

#define MOV_RSP_RBP	0xe58948	/* mov %rsp,%rbp: push %rbp went before */

static __always_inline bool readable(u64 addr)
{
	return addr >= PAGE_SIZE && addr < TASK_SIZE_MAX - 16;
}

/* Do the 8 bytes before an address end in a call instruction? */
static __always_inline bool after_call(u64 text)
{
	const u8 *end = (const u8 *)&text + sizeof(text);
	int i;

	if (end[-5] == 0xe8)			/* call rel32 */
		return true;
	for (i = 2; i <= 7; i++) {		/* call through a register or memory */
		if (end[-i] == 0xff && (end[1 - i] & 0x38) == 0x10)
			return true;
	}
	return false;
}

/* The address that a signal handler returns to; nobody called from there. */
static __always_inline bool is_sigreturn(u64 text)
{
	return (text & 0xffffffffffffff) == 0x0fc0c748;	/* mov $15,%rax */
}

u32 gprof_arch_user_frames(struct pt_regs *regs, u64 *frames, u32 max, u32 *flags)
{
	u64 ip = regs->ip, sp = regs->sp, fp = regs->bp;
	u64 record[2], text;
	u32 n = 1, guess = GPROF_STACK_REC_F_CALLER;

	frames[0] = ip;
	if (max == 1)
		return 1;
	/* 32-bit programs have other frames. */
	if (!user_64bit_mode(regs)) {
		*flags |= GPROF_STACK_REC_F_USER_CUT;
		return 1;
	}
	if (!readable(sp) || copy_from_user_nmi(record, (void __user *)sp, 8)) {
		*flags |= GPROF_STACK_REC_F_USER_CUT;
		return 1;
	}

	pagefault_disable();
	if (!user_access_begin((void __user *)sp, 16))
		goto out;
	/*
	 * The compiler spares leaf functions the frame even where it is asked
	 * for one, and no function has it in its first instructions; then the
	 * return address is at the top of the stack, or below what was just
	 * pushed. Whether this is such a place only the unwind table knows;
	 * here it is enough that the word could be one.
	 */
	if (readable(ip)) {
		unsafe_get_user(text, (u64 __user *)ip, walk);
		if ((text & 0xffffff) == MOV_RSP_RBP) {
			unsafe_get_user(record[0], (u64 __user *)(sp + 8), walk);
			guess |= GPROF_STACK_REC_F_CALLER_PUSHED;
		}
	}
	if (readable(record[0]) && record[0] >= current->mm->start_code) {
		unsafe_get_user(text, (u64 __user *)(record[0] - 8), walk);
		if (after_call(text)) {
			frames[n++] = record[0];
			max++;
			*flags |= guess;
		}
	}
walk:
	while (n < max) {
		/* The stack grows down: frames that do not go up are not frames. */
		if (!readable(fp) || fp & 7 || fp < sp)
			break;
		unsafe_get_user(record[0], (u64 __user *)fp, cut);
		unsafe_get_user(record[1], (u64 __user *)(fp + 8), cut);
		if (!record[1])
			break;
		if (!readable(record[1]))
			goto cut;
		unsafe_get_user(text, (u64 __user *)(record[1] - 8), cut);
		if (!after_call(text)) {
			unsafe_get_user(text, (u64 __user *)record[1], cut);
			if (!is_sigreturn(text))
				goto cut;
		}
		frames[n++] = record[1];
		sp = fp + 16;
		fp = record[0];
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
