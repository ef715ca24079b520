/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * user_arm64.h: the form of user addresses and code on arm64, and its clock.
 *
 * Functions that read are for use between user_access_begin() and user_access_end(), with
 * page faults disabled; hence inline.
 */
#ifndef GPROF_USER_ARM64_H
#define GPROF_USER_ARM64_H

#include "compat/uaccess.h"

#include <asm/arch_timer.h>
#include <asm/memory.h>
#include <asm/processor.h>
#include <asm/sigcontext.h>
#include <asm/syscall.h>
#include <asm/ucontext.h>
#include <asm/virt.h>
#include <linux/clocksource.h>
#include <linux/elf-em.h>
#include <linux/kallsyms.h>
#include <linux/ptrace.h>
#include <linux/signal.h>

#define GPROF_MACHINE	EM_AARCH64
#define GPROF_UNWINDS_BY_TABLE	true
#define GPROF_BREAKPOINT_IS_ATOMIC	false	/* since 6.17; one may be preempted */

/*
 * Takes a tag or a signature (pointer authentication) off. Bit 55 tells the
 * halves of the address space apart; above it may be a tag.
 */
static __always_inline u64 gprof_user_strip(u64 addr)
{
	return addr & (TASK_SIZE_64 - 1);
}

/* Where the record lies that a saved frame pointer leads to. */
static __always_inline u64 gprof_user_record(u64 fp)
{
	return gprof_user_strip(fp);
}

static __always_inline bool gprof_user_readable(u64 addr)
{
	return addr - PAGE_SIZE < TASK_SIZE_64 - 16 - PAGE_SIZE;
}

static __always_inline bool gprof_user_is_call(u32 insn)
{
	return (insn & 0xfc000000) == 0x94000000 ||	/* bl */
	       (insn & 0xfefff000) == 0xd63f0000;	/* blr, blraa, blrab, ... */
}

#define GPROF_SIGRETURN_INSN	0xd2801168	/* mov x8, #__NR_rt_sigreturn, in the vDSO */

/* May control return to @addr? No, too, where the code cannot be read. */
static __always_inline bool gprof_user_is_return(u64 addr)
{
	u32 insn;

	if (!gprof_user_readable(addr) || addr & 3)
		return false;
	if (!gprof_user_u32(&insn, addr - 4))
		return false;
	return gprof_user_is_call(insn) ||
	       (gprof_user_u32(&insn, addr) && insn == GPROF_SIGRETURN_INSN);
}

/* A call leaves nothing on the stack. */
static __always_inline bool gprof_user_called(u64 at, u64 addr, u64 bytes)
{
	return false;
}

#define GPROF_GO_NOP	0xaa0003e0	/* mov x0, x0, as Go writes a nop */

/*
 * Does @addr lie behind a nop and at a call? Go starts a goroutine as if the nop at the begin of
 * goexit had called it, with a frame pointer of 0.
 */
static __always_inline bool gprof_user_is_goexit(u64 addr)
{
	u32 nop, call;

	return gprof_user_readable(addr) && !(addr & 3) && gprof_user_u32(&nop, addr - 4) &&
	       nop == GPROF_GO_NOP && gprof_user_u32(&call, addr) && gprof_user_is_call(call);
}

static __always_inline bool gprof_user_returns_from_signal(u64 addr)
{
	u32 insn;

	return gprof_user_readable(addr) && !(addr & 3) && gprof_user_u32(&insn, addr) &&
	       insn == GPROF_SIGRETURN_INSN;
}

/* Registers by their numbers in DWARF. */
#define GPROF_KEPT_REGISTER	19	/* no rule asks for it */
#define GPROF_FP_REGISTER	29
#define GPROF_LR_REGISTER	30

static inline u64 gprof_user_register(const struct pt_regs *regs, u32 nr)
{
	return regs->regs[min(nr, 30U)];
}

static inline u64 gprof_user_frame_pointer(const struct pt_regs *regs)
{
	return regs->regs[29];
}

/* As registers are behind a call from code of which only these are known. */
static inline void gprof_user_set_call(struct pt_regs *regs, u64 sp, u64 fp)
{
	regs->sp = sp;
	regs->regs[29] = fp;
	regs->regs[30] = 0;
}

/* Where a signal's registers lie, from the stack pointer on as the handler returns. */
#define SIGCONTEXT(member)						\
	(sizeof(struct siginfo) + offsetof(struct ucontext, uc_mcontext) +	\
	 offsetof(struct sigcontext, member))
#define GPROF_SIGNAL_PC	SIGCONTEXT(pc)
#define GPROF_SIGNAL_SP	SIGCONTEXT(sp)
/* All of it, below a frame record. */
#define GPROF_SIGNAL_FRAME	ALIGN(sizeof(struct siginfo) + sizeof(struct ucontext), 16)

static inline u64 gprof_signal_register(u32 nr)
{
	return SIGCONTEXT(regs) + 8 * min(nr, 30U);
}

static inline u64 gprof_counter_hz(void)
{
	return arch_timer_get_cntfrq();
}

/* The counter, where the kernel's clock and a program's are told by it (gprof_counter_is()). */
static __always_inline u64 gprof_counter(void)
{
	return __arch_counter_get_cntvct();
}

/*
 * A kernel that has given EL2 to KVM alone keeps its clock by CNTPCT, for CNTVCT is a reader's,
 * by an offset which that chooses, from where its vCPU is loaded until it is put. Only the name
 * of the function that reads it says which one it is.
 */
static inline bool gprof_counter_is(enum vdso_clock_mode mode)
{
	char reads[KSYM_NAME_LEN];

	if (mode != VDSO_CLOCKMODE_ARCHTIMER)
		return false;
	if (is_kernel_in_hyp_mode())
		return true;
	snprintf(reads, sizeof(reads), "%ps", arch_timer_read_counter);
	return !strcmp(reads, "arch_counter_get_cntvct");
}

/* The system call that a program is in, or -1. */
static __always_inline int gprof_user_call(struct task_struct *task, struct pt_regs *regs)
{
	return syscall_get_nr(task, regs);
}

/* The first argument of that call. */
static __always_inline unsigned long gprof_user_call_arg(const struct pt_regs *regs)
{
	return regs->orig_x0;
}

#endif /* GPROF_USER_ARM64_H */
