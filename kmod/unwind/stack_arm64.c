// SPDX-License-Identifier: GPL-2.0-only
/*
 * stack on arm64: frame records everywhere; those of user space in user_fp.c.
 *
 * Return addresses may be signed (pointer authentication); the signature is
 * taken off. The kernel's own walker is not exported, so this is one, from
 * the interrupted registers, so that no frame of ours is in the way.
 */
#include "arch/user_arm64.h"
#include "compat/frame_arm64.h"
#include "compat/uaccess.h"
#include "frames.h"

#include <asm/memory.h>
#include <asm/processor.h>
#include <linux/compiler.h>
#include <linux/gprof.h>
#include <linux/module.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>

#define SVC_0	0xd4000001U	/* svc #0 */

static u64 strip_kernel(u64 addr)
{
	return addr | ~(TASK_SIZE_64 - 1);
}

/* A record on the task's own stack is there; another's may be anything. */
static __always_inline bool read_record(u64 *record, u64 fp, u64 stack)
{
	if (likely(fp - stack <= THREAD_SIZE - 16)) {
		record[0] = READ_ONCE_NOCHECK(*(u64 *)fp);
		record[1] = READ_ONCE_NOCHECK(*(u64 *)(fp + 8));
		return true;
	}
	return !copy_from_kernel_nofault(record, (void *)fp, 16);
}

void gprof_arch_caller_regs(struct pt_regs *regs)
{
	u64 stack = (unsigned long)task_stack_page(current);
	u64 record[2];

	/* The record of the function that fetched them has the same address as @regs. */
	do {
		if (!read_record(record, regs->regs[29], stack))
			return;
		regs->regs[29] = record[0];
		regs->pc = strip_kernel(record[1]);
	} while (within_module_core(regs->pc, THIS_MODULE));
}

void gprof_arch_sleeper_regs(struct pt_regs *regs, struct task_struct *task)
{
	u64 record[2] = { 0 };

	/* The record of __switch_to(). */
	read_record(record, thread_saved_fp(task), (unsigned long)task_stack_page(task));
	regs->regs[29] = record[0];
	regs->sp = record[0];
	regs->pc = strip_kernel(record[1]);
	regs->pstate = PSR_MODE_EL1h;
}

/* From the second frame on. */
static __always_inline u32 unwind(u64 fp, u64 stack, u64 *frames, u32 max)
{
	u64 record[2];
	u32 n = 1;

	while (n < max && fp && !(fp & 7)) {
		u64 next, pc;

		if (!read_record(record, fp, stack))
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

u32 gprof_arch_kernel_frames(struct pt_regs *regs, u64 *frames, u32 max)
{
	u64 stack = (unsigned long)task_stack_page(current);
	u64 fp = regs->regs[29];
	u64 record[2];

	frames[0] = regs->pc;
	/* From perf_fetch_caller_regs(): the record of its caller has the same address. */
	if (regs->pstate == PSR_MODE_EL1h && read_record(record, fp, stack) &&
	    strip_kernel(record[1]) == regs->pc)
		fp = record[0];
	return unwind(fp, stack, frames, max);
}

u32 gprof_arch_task_frames(struct task_struct *task, u64 *frames, u32 max)
{
	frames[0] = strip_kernel(READ_ONCE(task->thread.cpu_context.pc));
	return unwind(READ_ONCE(task->thread.cpu_context.fp), (unsigned long)task_stack_page(task),
		      frames, max);
}

/*
 * Finds where the records begin. A prologue may push one some instructions
 * before it links it to x29; the unwind table calls the caller saved then,
 * hence no guess. A leaf function needs no record: its caller is in the link
 * register alone. A call must stand before the address in it, since code may
 * use the register for other things.
 */
u64 gprof_arch_first_record(struct pt_regs *regs, struct gprof_top *top)
{
	u64 sp = gprof_user_strip(regs->sp);
	u64 x29 = regs->regs[29], x30 = regs->regs[30];
	u64 fp = gprof_user_strip(x29), caller = gprof_user_strip(x30);
	u64 *place = &top->frames[top->nr_kernel + top->nr_user];
	u64 next, addr;
	u32 insn;

	if (!user_access_begin((void __user *)PAGE_SIZE, 16))
		return fp;
	if (gprof_user_readable(sp) && !(sp & 7)) {
		if (!gprof_user_pair(&next, &addr, sp))
			goto out;
		if (next == x29 && addr == x30 && fp != sp) {
			fp = sp;
			goto out;
		}
	}
	if (gprof_user_readable(caller) && !(caller & 3) &&
	    gprof_user_u32(&insn, caller - 4) && gprof_user_is_call(insn)) {
		*place = caller;
		top->nr_user++;
		top->flags |= GPROF_STACK_REC_F_CALLER;
	}
out:
	user_access_end();
	return fp;
}

/* Before its first instruction a new thread has the registers of the one that called clone(). */
bool gprof_arch_begins_thread(struct pt_regs *regs)
{
	bool ok;
	u32 insn;

	if ((regs->regs[8] != __NR_clone || regs->regs[1] != regs->sp) &&
	    regs->regs[8] != __NR_clone3)
		return false;
	if (!gprof_user_readable(regs->pc - 4) || !user_access_begin((void __user *)PAGE_SIZE, 16))
		return false;
	ok = gprof_user_u32(&insn, regs->pc - 4) && insn == SVC_0;
	user_access_end();
	return ok;
}

bool gprof_arch_user_reads(struct pt_regs *regs, bool interrupted)
{
	/* 32-bit programs have other frames. */
	return !compat_user_mode(regs);
}

u64 gprof_arch_user_stack(struct pt_regs *regs)
{
	return gprof_user_strip(regs->sp);
}
