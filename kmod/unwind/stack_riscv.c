// SPDX-License-Identifier: GPL-2.0-only
/*
 * stack on riscv64: frame records everywhere; those of user space in user_fp.c.
 *
 * The frame pointer, s0, is where the stack pointer was before the call. Below it lie the
 * return address and, below that, the caller's s0; a function that calls nobody may save
 * s0 alone, where others have the address, and has that in ra.
 *
 * No instruction saves both and links them. So an interrupt may come while the frame is
 * half made or half gone, and the instructions that follow say which: one that links s0 or
 * returns comes next where s0 is the caller's, one that restores it where it is not.
 *
 * The kernel's own walker is not exported, so this is one. Entry code may not begin a
 * new chain: the first record of the kernel may lead to user space's frame pointer, which
 * may be anything. It is never followed, as it is known where the kernel's stack ends.
 */
#include "arch/insn_riscv.h"
#include "arch/user_riscv.h"
#include "frames.h"

#include <asm/csr.h>
#include <asm/processor.h>
#include <linux/compiler.h>
#include <linux/gprof.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/uaccess.h>

#define LOOKS	24	/* most instructions to look at */

enum place {
	IN_BODY,	/* s0 is of this frame, if it has one */
	IN_FRAME,	/* s0 is of this frame */
	IN_CALLERS,	/* s0 is the caller's, and ra the return address */
};

static __always_inline bool kernel_insn(u32 *insn, u64 addr)
{
	u16 low, high = 0;

	if (copy_from_kernel_nofault(&low, (void *)addr, 2) ||
	    ((low & 3) == 3 && copy_from_kernel_nofault(&high, (void *)(addr + 2), 2)))
		return false;
	*insn = low | (u32)high << 16;
	return true;
}

static __always_inline bool read_word(u64 *to, u64 addr, bool user)
{
	if (addr & 7)
		return false;
	if (user)
		return gprof_user_readable(addr) && gprof_user_u64(to, addr);
	return !copy_from_kernel_nofault(to, (void *)addr, 8);
}

/* Is, or will be, the s0 of now saved at either place below @cfa? Others use s0 otherwise. */
static __always_inline bool saves_fp(u64 cfa, u64 fp, u64 saved_at, bool user)
{
	u64 word;

	if (saved_at)
		return saved_at == cfa - 16 || saved_at == cfa - 8;
	return (read_word(&word, cfa - 16, user) && word == fp) ||
	       (read_word(&word, cfa - 8, user) && word == fp);
}

/*
 * Code of the kernel is compiled with frame pointers: the code behind a branch belongs to
 * the same function then, and a caller has a frame. Of a user's nothing is known.
 */
static __always_inline enum place find_place(const struct pt_regs *regs, bool user)
{
	u64 at = regs->epc, sp = regs->sp, saved_at = 0;
	u32 insn, n;
	int imm;

	for (n = 0; n < LOOKS; n++, at += (insn & 3) == 3 ? 4 : 2) {
		if (user ? !gprof_user_readable(at) || !gprof_user_insn(&insn, at) :
			   !kernel_insn(&insn, at))
			return IN_BODY;
		switch (gprof_insn_of(insn, &imm)) {
		case GPROF_INSN_OTHER:
			break;
		case GPROF_INSN_SP:
			sp += imm;
			break;
		case GPROF_INSN_SP_OF_FP:
			sp = regs->s0 + imm;
			break;
		case GPROF_INSN_SAVE:
			saved_at = sp + imm;
			break;
		case GPROF_INSN_LINK:
			if (saves_fp(sp + imm, regs->s0, saved_at, user))
				return IN_CALLERS;
			return IN_BODY;
		case GPROF_INSN_RESTORE:
			sp += imm;
			return sp == regs->s0 - 16 || sp == regs->s0 - 8 ? IN_FRAME : IN_BODY;
		case GPROF_INSN_RETURN:
			return IN_CALLERS;
		case GPROF_INSN_BRANCH:
			if (user)
				return IN_BODY;
			break;
		case GPROF_INSN_CALL:
			return user ? IN_BODY : IN_FRAME;
		case GPROF_INSN_ELSEWHERE:
			return IN_BODY;
		}
	}
	return IN_BODY;
}

/* ---- the kernel's half ---- */

/**
 * struct chain - a walk
 * @low: the task's stack
 * @top: its end: registers of user mode, which nothing of the kernel's lies above
 * @frames: where to
 * @n: how many there are
 * @max: most
 */
struct chain {
	u64 low;
	u64 top;
	u64 *frames;
	u32 n;
	u32 max;
};

static void begin(struct chain *c, struct task_struct *task, u64 *frames, u32 max)
{
	c->low = (unsigned long)task_stack_page(task);
	c->top = (unsigned long)task_pt_regs(task);
	c->frames = frames;
	c->n = 0;
	c->max = max;
}

static __always_inline bool on_task(const struct chain *c, u64 fp)
{
	return fp - 16 - c->low <= c->top - 16 - c->low;
}

/* A record on the task's own stack is there; another's may be anything. */
static __always_inline bool read_record(const struct chain *c, u64 fp, u64 *next, u64 *pc)
{
	u64 record[2];

	if (fp & 7 || (s64)fp >= 0)
		return false;
	if (likely(on_task(c, fp))) {
		*next = READ_ONCE_NOCHECK(*(u64 *)(fp - 16));
		*pc = READ_ONCE_NOCHECK(*(u64 *)(fp - 8));
		return true;
	}
	if (copy_from_kernel_nofault(record, (void *)(fp - 16), 16))
		return false;
	*next = record[0];
	*pc = record[1];
	return true;
}

static __always_inline void add(struct chain *c, u64 pc)
{
	if (c->n < c->max)
		c->frames[c->n++] = pc;
}

/* Where a call saved the registers that it was called with: s0 in the place of the address. */
static __always_inline bool saves_no_address(u64 fp, u64 pc)
{
	return pc > fp && !(pc & 7) && pc - fp < THREAD_SIZE;
}

/* The registers that were interrupted; returns the frame pointer that is followed next. */
static u64 add_interrupted(struct chain *c, const struct pt_regs *regs)
{
	u64 next, pc;

	add(c, regs->epc);
	switch (find_place(regs, false)) {
	case IN_CALLERS:
		add(c, regs->ra);
		return regs->s0;
	case IN_BODY:
	case IN_FRAME:
		break;
	}
	if (!read_record(c, regs->s0, &next, &pc) || !saves_no_address(regs->s0, pc))
		return regs->s0;
	add(c, regs->ra);
	return pc;
}

/*
 * Registers that entry code has put above the frame of a handler, if @fp is where that
 * ends and they are of the kernel. It calls the handler with s0 as it was, or with where
 * the registers end; nothing else ends there.
 */
static const struct pt_regs *interrupted(const struct chain *c, u64 fp, u64 next)
{
	const struct pt_regs *regs = (void *)fp;
	u64 end = fp + ALIGN(sizeof(*regs), 16);

	if (!on_task(c, fp) || c->top - fp < sizeof(*regs))
		return NULL;
	if (READ_ONCE_NOCHECK(regs->sp) != end || !(READ_ONCE_NOCHECK(regs->status) & SR_PP) ||
	    (next != end && READ_ONCE_NOCHECK(regs->s0) != next))
		return NULL;
	return regs;
}

/* Stacks are left for the task's, and that never. */
static void follow(struct chain *c, u64 fp)
{
	const struct pt_regs *regs;
	u64 next, pc;

	while (c->n < c->max && read_record(c, fp, &next, &pc) && (s64)pc < 0) {
		c->frames[c->n++] = pc;
		if (fp == c->top)
			break;
		regs = interrupted(c, fp, next);
		if (regs)
			next = add_interrupted(c, regs);
		if (!on_task(c, next) && (on_task(c, fp) || next - fp > THREAD_SIZE))
			break;
		if (on_task(c, fp) == on_task(c, next) && next <= fp)
			break;
		fp = next;
	}
}

static bool is_caller(const struct pt_regs *regs)
{
	/* From perf_fetch_caller_regs(): an interrupt sets more. */
	return regs->status == SR_PP;
}

u32 gprof_arch_kernel_frames(struct pt_regs *regs, u64 *frames, u32 max)
{
	u64 fp = regs->s0, next, pc;
	struct chain c;

	begin(&c, current, frames, max);
	if (!is_caller(regs)) {
		fp = add_interrupted(&c, regs);
	} else {
		add(&c, regs->epc);
		/* The record of its caller has the same address. */
		if (read_record(&c, fp, &next, &pc) && pc == regs->epc)
			fp = next;
	}
	follow(&c, fp);
	return c.n;
}

u32 gprof_arch_task_frames(struct task_struct *task, u64 *frames, u32 max)
{
	struct chain c;

	begin(&c, task, frames, max);
	add(&c, READ_ONCE(task->thread.ra));
	follow(&c, READ_ONCE(task->thread.s[0]));
	return c.n;
}

void gprof_arch_caller_regs(struct pt_regs *regs)
{
	struct chain c;
	u64 next, pc;

	begin(&c, current, NULL, 0);
	/* The record of the function that fetched them has the same address as @regs. */
	do {
		if (!read_record(&c, regs->s0, &next, &pc))
			return;
		regs->s0 = next;
		regs->epc = pc;
	} while (within_module_core(regs->epc, THIS_MODULE));
}

void gprof_arch_sleeper_regs(struct pt_regs *regs, struct task_struct *task)
{
	/* Of __schedule(): __switch_to() has no frame. */
	regs->epc = READ_ONCE(task->thread.ra);
	regs->s0 = READ_ONCE(task->thread.s[0]);
	regs->sp = READ_ONCE(task->thread.sp);
	regs->status = SR_PP;
}

/* ---- user space's half ---- */

/*
 * A search that finds the place beyond doubt tells so, since the unwind table may call the
 * caller saved while the frame that it is saved in is not linked yet.
 */
u64 gprof_arch_first_record(struct pt_regs *regs, struct gprof_top *top)
{
	u64 *guess = &top->frames[top->nr_kernel + top->nr_user];
	u64 fp = regs->s0, record = gprof_user_record(fp);
	u32 flags = GPROF_STACK_REC_F_CALLER;
	enum place place;
	u64 next, addr;

	if (!user_access_begin((void __user *)PAGE_SIZE, 16))
		return record;
	place = find_place(regs, true);
	if (place == IN_CALLERS) {
		flags |= GPROF_STACK_REC_F_CALLER_PUSHED;
	} else if (gprof_user_readable(record) && !(record & 7) && record >= regs->sp) {
		if (!gprof_user_pair(&next, &addr, record))
			goto out;
		if (addr >= fp && !(addr & 7) && gprof_user_readable(addr) &&
		    !gprof_user_is_return(addr))
			record = gprof_user_record(addr);
		else if (place == IN_FRAME)
			goto out;
	}
	if (gprof_user_is_return(regs->ra)) {
		*guess = regs->ra;
		top->nr_user++;
		top->flags |= flags;
	}
out:
	user_access_end();
	return record;
}

bool gprof_arch_user_reads(struct pt_regs *regs, bool interrupted)
{
	/* 32-bit programs have other frames. */
	return !IS_ENABLED(CONFIG_COMPAT) || (regs->status & SR_UXL) == SR_UXL_64;
}

u64 gprof_arch_user_stack(struct pt_regs *regs)
{
	return regs->sp;
}
