// SPDX-License-Identifier: GPL-2.0-only
/*
 * stack on amd64: ORC for the kernel, frame pointers for user space (user_fp.c).
 *
 * In an interrupt of user mode the page tables that are loaded are those of
 * current. Elsewhere they may not be: an NMI or a tracepoint may come while the
 * kernel switches them or works in a temporary mm. copy_from_user_nmi() alone
 * knows; so there the first read goes through it.
 */
#include "arch/user_x86.h"
#include "compat/uaccess.h"
#include "orc_steps.h"
#include "frames.h"
#include "stack_caller.h"

#include <asm/segment.h>
#include <asm/stacktrace.h>
#include <asm/switch_to.h>
#include <asm/unwind.h>
#include <linux/gprof.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>

/* A fault, or a caller's registers from perf_fetch_caller_regs(), which sets no flags? */
static bool regs_are_real(struct pt_regs *regs)
{
	return regs->flags & X86_EFLAGS_FIXED;
}

/* Frames that were walked without the unwinder must be those that it would have found. */
static void check_frames(struct unwind_state *state, const u64 *frames, u32 nr)
{
	u32 n;

	if (!IS_ENABLED(CONFIG_PROVE_LOCKING))
		return;
	for (n = 0; n < nr; n++) {
		unwind_next_frame(state);
		if (WARN_ON_ONCE(unwind_get_return_address(state) != frames[n]))
			return;
	}
}

/* Nothing to do: calls of ours are left out where the stack is walked. */
void gprof_arch_caller_regs(struct pt_regs *regs)
{
}

void gprof_arch_sleeper_regs(struct pt_regs *regs, struct task_struct *task)
{
	const struct inactive_task_frame *frame = (void *)READ_ONCE(task->thread.sp);

	regs->ip = READ_ONCE_NOCHECK(frame->ret_addr);
	regs->bp = READ_ONCE_NOCHECK(frame->bp);
	regs->sp = (unsigned long)(frame + 1);
	regs->cs = __KERNEL_CS;
	regs->flags = GPROF_REGS_OF_SLEEPER;
}

/* The unwinder finds the address of @regs itself first, and perhaps calls of ours. */
static u64 begin_at_caller(struct unwind_state *state, struct pt_regs *regs)
{
	unsigned long addr = regs->ip;

	for (unwind_start(state, current, NULL, (void *)regs->sp); !unwind_done(state);) {
		addr = unwind_get_return_address(state);
		if (!addr)
			return regs->ip;
		unwind_next_frame(state);
		if (!within_module_core(addr, THIS_MODULE))
			break;
	}
	return addr;
}

/* It stops above the address that it is given. It knows the addresses that tracers put there. */
static void start_at(struct unwind_state *state, const struct pt_regs *regs)
{
	if (regs->flags == GPROF_REGS_OF_SLEEPER)
		gprof_orc_start(state, regs->ip, regs->sp, regs->bp);
	else
		unwind_start(state, current, NULL, (void *)(regs->sp - sizeof(long)));
}

/* The unwinder's way there, through all that was called since; the steps from there are learnt. */
static u32 call_frames_slow(const struct pt_regs *regs, u64 *frames, u32 max)
{
	struct unwind_state state;
	unsigned long addr;
	u32 n = 0;

	start_at(&state, regs);
	if (regs->flags == GPROF_REGS_OF_SLEEPER)
		gprof_orc_step(&state);
	for (; n < max && !unwind_done(&state); gprof_orc_step(&state)) {
		addr = unwind_get_return_address(&state);
		if (!addr)
			break;
		if (n || !within_module_core(addr, THIS_MODULE))
			frames[n++] = addr;
	}
	if (!n)
		frames[n++] = regs->ip;
	return n;
}

/* Registers of a call say where its frame is: no unwinder has to find the way there. */
static u32 call_frames(const struct pt_regs *regs, u64 *frames, u32 max)
{
	struct unwind_state state;
	u32 n = 0;
	int rest;

	/* Of a sleeper the caller of the switch is told. */
	if (regs->flags != GPROF_REGS_OF_SLEEPER)
		frames[n++] = regs->ip;
	rest = gprof_orc_unwind_from(regs->ip, regs->sp, regs->bp, frames + n, max - n);
	if (rest < 0 || !(n + rest))
		return call_frames_slow(regs, frames, max);
	if (IS_ENABLED(CONFIG_PROVE_LOCKING)) {
		start_at(&state, regs);
		check_frames(&state, frames + n, rest);
	}
	return n + rest;
}

u32 gprof_arch_kernel_frames(struct pt_regs *regs, u64 *frames, u32 max)
{
	struct unwind_state state;
	unsigned long addr;
	u32 n = 0;
	int rest;

	if (regs->flags == GPROF_REGS_OF_CALL || regs->flags == GPROF_REGS_OF_SLEEPER)
		return call_frames(regs, frames, max);
	frames[n++] = regs->ip;
	if (regs_are_real(regs)) {
		unwind_start(&state, current, regs, NULL);
		if (!unwind_get_return_address(&state))
			return n;
		unwind_next_frame(&state);
	} else {
		frames[0] = begin_at_caller(&state, regs);
	}
	for (; n < max && !unwind_done(&state); gprof_orc_step(&state)) {
		addr = unwind_get_return_address(&state);
		if (!addr)
			break;
		frames[n++] = addr;
		if (n != 2)
			continue;
		rest = gprof_orc_unwind(&state, frames + n, max - n);
		if (rest >= 0) {
			check_frames(&state, frames + n, rest);
			return n + rest;
		}
	}
	return n;
}

u32 gprof_arch_task_frames(struct task_struct *task, u64 *frames, u32 max)
{
	struct unwind_state state;
	unsigned long addr;
	u32 n = 0;

	for (unwind_start(&state, task, NULL, NULL); n < max && !unwind_done(&state);
	     unwind_next_frame(&state)) {
		addr = unwind_get_return_address(&state);
		if (!addr)
			break;
		frames[n++] = addr;
	}
	return n;
}

#define MOV_RSP_RBP	0xe58948	/* mov %rsp,%rbp: push %rbp went before */

/*
 * The compiler spares leaf functions the frame even where it is asked for one,
 * and no function has it in its first instructions; then the return address is
 * at the top of the stack, or below the word just pushed. Whether this is such a
 * place only the unwind table knows; here it is enough that the word could be one.
 */
static __always_inline void guess_caller(struct gprof_top *top, u64 ip, u64 sp, u64 lowest)
{
	u64 *place = &top->frames[top->nr_kernel + top->nr_user];
	u32 guess = GPROF_STACK_REC_F_CALLER;
	u64 addr, text;

	if (!user_access_begin((void __user *)sp, 16))
		return;
	if (gprof_user_readable(ip)) {
		if (!gprof_user_u64(&text, ip))
			goto out;
		if ((text & 0xffffff) == MOV_RSP_RBP) {
			sp += 8;
			guess |= GPROF_STACK_REC_F_CALLER_PUSHED;
		}
	}
	if (!gprof_user_u64(&addr, sp) || addr < lowest || !gprof_user_readable(addr))
		goto out;
	if (gprof_user_u64(&text, addr - 8) && gprof_user_after_call(text)) {
		*place = addr;
		top->nr_user++;
		top->flags |= guess;
	}
out:
	user_access_end();
}

u64 gprof_arch_first_record(struct pt_regs *regs, struct gprof_top *top)
{
	guess_caller(top, regs->ip, regs->sp, current->mm->start_code);
	return regs->bp;
}

static noinline bool page_tables_are_ours(u64 addr)
{
	u64 word;

	return !copy_from_user_nmi(&word, (void __user *)addr, sizeof(word));
}

bool gprof_arch_user_reads(struct pt_regs *regs, bool interrupted)
{
	/* 32-bit programs have other frames. */
	if (!user_64bit_mode(regs) || !gprof_user_readable(regs->sp))
		return false;
	/* A stack that has just grown may have no page there, but running code has one. */
	return interrupted || page_tables_are_ours(regs->sp) || page_tables_are_ours(regs->ip);
}

u64 gprof_arch_user_stack(struct pt_regs *regs)
{
	return regs->sp;
}
