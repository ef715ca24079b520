/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * user_x86.h: the form of user addresses and code on amd64, and its clock.
 *
 * Functions that read are for use between user_access_begin() and user_access_end(), with
 * page faults disabled; hence inline.
 */
#ifndef GPROF_USER_X86_H
#define GPROF_USER_X86_H

#include "compat/uaccess.h"

#include <asm/sigcontext.h>
#include <asm/syscall.h>
#include <asm/tsc.h>
#include <asm/ucontext.h>
#include <linux/clocksource.h>
#include <linux/elf-em.h>
#include <linux/mm.h>
#include <linux/ptrace.h>
#include <linux/signal.h>

#define GPROF_MACHINE	EM_X86_64
#define GPROF_UNWINDS_BY_TABLE	true
#define GPROF_BREAKPOINT_IS_ATOMIC	true

static __always_inline u64 gprof_user_strip(u64 addr)
{
	return addr;
}

/* Where the record lies that a saved frame pointer leads to. */
static __always_inline u64 gprof_user_record(u64 fp)
{
	return fp;
}

static __always_inline bool gprof_user_readable(u64 addr)
{
	return addr - PAGE_SIZE < TASK_SIZE_MAX - 16 - PAGE_SIZE;
}

/*
 * Do the 8 bytes before an address, read as a word, end in a call instruction?
 * Either call rel32 (e8), five bytes before the end, or a call through a register
 * or memory, two to seven before: ff, then a byte whose bits 3 to 5 are 2. All
 * six places are looked at in one go: a byte of @places is 0 where both hold.
 */
static __always_inline bool gprof_user_after_call(u64 text)
{
	u64 places = ~text | ((text >> 8 ^ 0x1010101010101010) & 0x3838383838383838) |
		     0xff000000000000ff;

	return (u8)(text >> 24) == 0xe8 ||
	       (places - 0x0101010101010101) & ~places & 0x8080808080808080;
}

/* Does a call of at most so many bytes before @at stand before the return address @addr? */
static __always_inline bool gprof_user_called(u64 at, u64 addr, u64 bytes)
{
	u64 text;

	return gprof_user_readable(addr) && gprof_user_u64(&text, addr - 8) &&
	       (u8)(text >> 24) == 0xe8 && at - (addr + (s32)(text >> 32)) < bytes;
}

/* The address that a signal handler returns to: nobody called from there. */
static __always_inline bool gprof_user_is_sigreturn(u64 text)
{
	return (text & 0xffffffffffffff) == 0x0fc0c748;	/* mov $15,%rax */
}

/* May control return to @addr? No, too, where the code cannot be read. */
static __always_inline bool gprof_user_is_return(u64 addr)
{
	u64 text;

	if (!gprof_user_readable(addr))
		return false;
	if (!gprof_user_u64(&text, addr - 8))
		return false;
	return gprof_user_after_call(text) ||
	       (gprof_user_u64(&text, addr) && gprof_user_is_sigreturn(text));
}

/*
 * Does @addr lie behind a nop and at a call? Go starts a goroutine as if the nop at the begin of
 * goexit had called it, with a frame pointer of 0.
 */
static __always_inline bool gprof_user_is_goexit(u64 addr)
{
	u64 text;

	return gprof_user_readable(addr) && gprof_user_u64(&text, addr - 1) &&
	       (text & 0xffff) == 0xe890;
}

static __always_inline bool gprof_user_returns_from_signal(u64 addr)
{
	u64 text;

	return gprof_user_readable(addr) && gprof_user_u64(&text, addr) &&
	       gprof_user_is_sigreturn(text);
}

/* Registers by their numbers in DWARF, below 16. */
#define GPROF_KEPT_REGISTER	3	/* rbx */
#define GPROF_FP_REGISTER	6
#define GPROF_LR_REGISTER	0	/* there is none, and a rule that says so finds nothing */

static inline u64 gprof_user_register(const struct pt_regs *regs, u32 nr)
{
	static const u8 places[16] = {
		offsetof(struct pt_regs, ax), offsetof(struct pt_regs, dx),
		offsetof(struct pt_regs, cx), offsetof(struct pt_regs, bx),
		offsetof(struct pt_regs, si), offsetof(struct pt_regs, di),
		offsetof(struct pt_regs, bp), offsetof(struct pt_regs, sp),
		offsetof(struct pt_regs, r8), offsetof(struct pt_regs, r9),
		offsetof(struct pt_regs, r10), offsetof(struct pt_regs, r11),
		offsetof(struct pt_regs, r12), offsetof(struct pt_regs, r13),
		offsetof(struct pt_regs, r14), offsetof(struct pt_regs, r15),
	};

	return *(const u64 *)((const char *)regs + places[nr & 15]);
}

static inline u64 gprof_user_frame_pointer(const struct pt_regs *regs)
{
	return regs->bp;
}

/* As registers are behind a call from code of which only these are known. */
static inline void gprof_user_set_call(struct pt_regs *regs, u64 sp, u64 fp)
{
	regs->sp = sp;
	regs->bp = fp;
	regs->bx = 0;
}

/*
 * Where a signal's registers lie, from the stack pointer on as the handler returns: that
 * is behind the address that it returns to.
 */
#define SIGCONTEXT(member) \
	(offsetof(struct ucontext, uc_mcontext) + offsetof(struct sigcontext, member))
#define GPROF_SIGNAL_PC	SIGCONTEXT(ip)
#define GPROF_SIGNAL_SP	SIGCONTEXT(sp)
#define GPROF_SIGNAL_FRAME	0	/* there is no record above it */

static inline u64 gprof_signal_register(u32 nr)
{
	static const u8 places[16] = {
		SIGCONTEXT(ax), SIGCONTEXT(dx), SIGCONTEXT(cx), SIGCONTEXT(bx),
		SIGCONTEXT(si), SIGCONTEXT(di), SIGCONTEXT(bp), SIGCONTEXT(sp),
		SIGCONTEXT(r8), SIGCONTEXT(r9), SIGCONTEXT(r10), SIGCONTEXT(r11),
		SIGCONTEXT(r12), SIGCONTEXT(r13), SIGCONTEXT(r14), SIGCONTEXT(r15),
	};

	return places[nr & 15];
}

/* 0: not to be trusted. */
static inline u64 gprof_counter_hz(void)
{
	return check_tsc_unstable() ? 0 : tsc_khz * 1000ULL;
}

/* The counter, where the kernel's clock and a program's are told by it (gprof_counter_is()). */
static __always_inline u64 gprof_counter(void)
{
	return rdtsc_ordered();
}

static inline bool gprof_counter_is(enum vdso_clock_mode mode)
{
	return mode == VDSO_CLOCKMODE_TSC;
}

/* The system call that a program is in, or -1. */
static __always_inline int gprof_user_call(struct task_struct *task, struct pt_regs *regs)
{
	return syscall_get_nr(task, regs);
}

/* The first argument of that call. */
static __always_inline unsigned long gprof_user_call_arg(const struct pt_regs *regs)
{
	return regs->di;
}

#endif /* GPROF_USER_X86_H */
