/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * user_riscv.h: the form of user addresses and code on riscv64, and its clock.
 *
 * Functions that read are for use between user_access_begin() and user_access_end(), with
 * page faults disabled; hence inline.
 */
#ifndef GPROF_USER_RISCV_H
#define GPROF_USER_RISCV_H

#include "compat/uaccess.h"

#include <asm/delay.h>
#include <asm/pgtable.h>
#include <asm/ptrace.h>
#include <asm/sigcontext.h>
#include <asm/syscall.h>
#include <asm/ucontext.h>
#include <linux/bits.h>
#include <linux/clocksource.h>
#include <linux/elf-em.h>
#include <linux/signal.h>

#define GPROF_MACHINE	EM_RISCV

/* No compiler of unwind tables knows this one's code yet. */
#define GPROF_UNWINDS_BY_TABLE	false
#define GPROF_BREAKPOINT_IS_ATOMIC	false	/* one may be preempted */

/* The top bit tells the halves of the address space apart. */
static __always_inline u64 gprof_user_strip(u64 addr)
{
	return addr & LONG_MAX;
}

static __always_inline bool gprof_user_readable(u64 addr)
{
	return addr - PAGE_SIZE < TASK_SIZE_64 - 16 - PAGE_SIZE;
}

/* The frame pointer is where the frame ends, and the record the last of it. */
static __always_inline u64 gprof_user_record(u64 fp)
{
	return gprof_user_strip(fp) - 16;
}

/* Instructions are two bytes long or four, at even addresses. */
static __always_inline bool gprof_user_insn(u32 *insn, u64 addr)
{
	u16 low, high = 0;

	if (!gprof_user_u16(&low, addr) ||
	    ((low & 3) == 3 && !gprof_user_u16(&high, addr + 2)))
		return false;
	*insn = low | (u32)high << 16;
	return true;
}

/* addi a7, zero, __NR_rt_sigreturn, in the vDSO */
#define GPROF_SIGRETURN_INSN	0x08b00893

static __always_inline bool gprof_user_returns_from_signal(u64 addr)
{
	u32 insn;

	return gprof_user_readable(addr) && !(addr & 1) && gprof_user_insn(&insn, addr) &&
	       insn == GPROF_SIGRETURN_INSN;
}

/* May control return to @addr? No, too, where the code cannot be read. */
static __always_inline bool gprof_user_is_return(u64 addr)
{
	u16 last, first;

	if (!gprof_user_readable(addr) || addr & 1 || !gprof_user_u16(&last, addr - 2))
		return false;
	if ((last & 0xf07f) == 0x9002 && last & 0xf80)			/* c.jalr */
		return true;
	return (gprof_user_u16(&first, addr - 4) &&
		((first & 0x0fff) == 0x00ef ||				/* jal ra */
		 (first & 0x7fff) == 0x00e7)) ||			/* jalr ra */
	       gprof_user_returns_from_signal(addr);
}

/* Not looked for: a goroutine's stack is cut at its end. */
static __always_inline bool gprof_user_is_goexit(u64 addr)
{
	return false;
}

/* A call leaves nothing on the stack. */
static __always_inline bool gprof_user_called(u64 at, u64 addr, u64 bytes)
{
	return false;
}

/* Registers by their numbers in DWARF. */
#define GPROF_KEPT_REGISTER	9	/* no rule asks for it */
#define GPROF_FP_REGISTER	8
#define GPROF_LR_REGISTER	1

static inline u64 gprof_user_register(const struct pt_regs *regs, u32 nr)
{
	/* They are in order, with the program counter in place of register 0. */
	return ((const unsigned long *)regs)[nr & 31];
}

static inline u64 gprof_user_frame_pointer(const struct pt_regs *regs)
{
	return regs->s0;
}

/* As registers are behind a call from code of which only these are known. */
static inline void gprof_user_set_call(struct pt_regs *regs, u64 sp, u64 fp)
{
	regs->sp = sp;
	regs->s0 = fp;
	regs->ra = 0;
}

/* Where a signal's registers lie, from the stack pointer on as the handler returns. */
#define SIGCONTEXT(member)						\
	(sizeof(struct siginfo) + offsetof(struct ucontext, uc_mcontext) +	\
	 offsetof(struct sigcontext, member))
#define GPROF_SIGNAL_PC	SIGCONTEXT(sc_regs.pc)
#define GPROF_SIGNAL_SP	SIGCONTEXT(sc_regs.sp)
#define GPROF_SIGNAL_FRAME	0	/* there is no record above it */

static inline u64 gprof_signal_register(u32 nr)
{
	return SIGCONTEXT(sc_regs) + 8 * (nr & 31);
}

/* The kernel's clock is this counter as well; it always runs. */
static inline u64 gprof_counter_hz(void)
{
	return riscv_timebase;
}

/* The counter, where the kernel's clock and a program's are told by it (gprof_counter_is()). */
static __always_inline u64 gprof_counter(void)
{
	return get_cycles();
}

static inline bool gprof_counter_is(enum vdso_clock_mode mode)
{
	return mode == VDSO_CLOCKMODE_ARCHTIMER;
}

/* The system call that a program is in, or -1: its register holds anything in other traps. */
static __always_inline int gprof_user_call(struct task_struct *task, struct pt_regs *regs)
{
	return regs->cause == EXC_SYSCALL ? syscall_get_nr(task, regs) : -1;
}

/* The first argument of that call. */
static __always_inline unsigned long gprof_user_call_arg(const struct pt_regs *regs)
{
	return regs->orig_a0;
}

#endif /* GPROF_USER_RISCV_H */
