/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * walk_arch.h: what following a program step by step has to know of the machine: its
 * registers, what a call is, where a signal has saved what it interrupted.
 *
 * Registers go by their numbers in DWARF.
 */
#ifndef GPROF_WALK_ARCH_H
#define GPROF_WALK_ARCH_H

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <ucontext.h>

#include "unwind/table_layout.h"

struct frame_regs {
	uint64_t pc, sp;
	uint64_t reg[32];
};

#if defined(__x86_64__)

#define ARCH_FP			6
#define ARCH_KEPT		3	/* rbx, which is known in callers too */
#define ARCH_RETURNS_IN_REGISTER	false
#define ARCH_SIGNAL_FRAME	(40 + 17 * 8)

static const uint64_t arch_address_mask = ~0ULL;

static inline bool arch_get_regs(pid_t pid, struct frame_regs *r)
{
	struct user_regs_struct u;
	struct iovec io = { &u, sizeof(u) };

	if (ptrace(PTRACE_GETREGSET, pid, NT_PRSTATUS, &io))
		return false;
	*r = (struct frame_regs){ u.rip, u.rsp, {
		u.rax, u.rdx, u.rcx, u.rbx, u.rsi, u.rdi, u.rbp, u.rsp,
		u.r8, u.r9, u.r10, u.r11, u.r12, u.r13, u.r14, u.r15,
	} };
	return true;
}

/* From what lies at the stack pointer as the handler returns. */
static inline void arch_signal_regs(const unsigned char *frame, struct frame_regs *r)
{
	/* r8..r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip */
	static const unsigned char number[] = { 8, 9, 10, 11, 12, 13, 14, 15, 5, 4, 6, 3, 1, 0, 2 };
	uint64_t g[17];

	memcpy(g, frame + 40, sizeof(g));
	for (size_t i = 0; i < sizeof(number); i++)
		r->reg[number[i]] = g[i];
	r->sp = g[15];
	r->pc = g[16];
}

/* Near, direct or not. */
static inline bool arch_is_call(const unsigned char *p, size_t len)
{
	size_t i = 0;

	while (i + 2 < len && (p[i] == 0xf2 || p[i] == 0x3e || p[i] == 0x66 || p[i] == 0x67 ||
			       (p[i] & 0xf0) == 0x40))
		i++;
	return i + 2 < len && (p[i] == 0xe8 || (p[i] == 0xff && (p[i + 1] & 0x38) == 0x10));
}

static inline bool arch_was_called(const struct frame_regs *before, const struct frame_regs *after)
{
	return after->sp == before->sp - 8;
}

/* It is told by the stack alone who has returned. */
static inline bool arch_jumps(const unsigned char *p)
{
	return false;
}

static inline size_t arch_whole(const unsigned char *p, size_t len)
{
	return 0;
}

static inline uint64_t arch_return_place(const struct gprof_unwind_rule *rule, uint64_t cfa)
{
	return cfa - 8;
}

/* The offset from the CFA, in words, of the kept register; 0: it is in it still. */
static inline int arch_kept_at(const struct gprof_unwind_rule *rule)
{
	return rule->kind <= GPROF_UNWIND_CFA_FP ? rule->ra : 0;
}

#elif defined(__aarch64__)

#define ARCH_FP			29
#define ARCH_LR			30
#define ARCH_KEPT		(-1)	/* no such register */
#define ARCH_RETURNS_IN_REGISTER	true
#define ARCH_SIGNAL_FRAME	(128 + sizeof(ucontext_t))

/* Above it are signatures and tags. */
static const uint64_t arch_address_mask = (1ULL << 48) - 1;

static inline bool arch_get_regs(pid_t pid, struct frame_regs *r)
{
	struct user_regs_struct u;
	struct iovec io = { &u, sizeof(u) };

	if (ptrace(PTRACE_GETREGSET, pid, NT_PRSTATUS, &io))
		return false;
	r->pc = u.pc;
	r->sp = u.sp;
	memcpy(r->reg, u.regs, sizeof(u.regs));
	r->reg[31] = u.sp;
	return true;
}

/* Behind a siginfo. */
static inline void arch_signal_regs(const unsigned char *frame, struct frame_regs *r)
{
	ucontext_t u;

	memcpy(&u, frame + 128, sizeof(u));
	memcpy(r->reg, u.uc_mcontext.regs, sizeof(u.uc_mcontext.regs));
	r->sp = u.uc_mcontext.sp;
	r->pc = u.uc_mcontext.pc;
}

static inline uint32_t arch_insn(const unsigned char *p)
{
	uint32_t insn;

	memcpy(&insn, p, sizeof(insn));
	return insn;
}

/* bl; blr, blraa, blrab, blraaz, blrabz */
static inline bool arch_is_call(const unsigned char *p, size_t len)
{
	uint32_t insn;

	if (len < 4)
		return false;
	insn = arch_insn(p);
	return (insn & 0xfc000000) == 0x94000000 || (insn & 0xfefff000) == 0xd63f0000;
}

static inline bool arch_was_called(const struct frame_regs *before, const struct frame_regs *after)
{
	return after->reg[ARCH_LR] == before->pc + 4;
}

/* br and ret, and theirs with signatures */
static inline bool arch_jumps(const unsigned char *p)
{
	uint32_t insn = arch_insn(p);

	return (insn & 0xfefff000) == 0xd61f0000 || (insn & 0xfffff000) == 0xd65f0000;
}

/*
 * Bytes of what cannot be done in steps, because each takes the reservation away that the
 * next needs: from a load up to what looks whether the store was done; or 0.
 */
static inline size_t arch_whole(const unsigned char *p, size_t len)
{
	uint32_t insn = len >= 4 ? arch_insn(p) : 0;

	if ((insn & 0x3fe00000) != 0x08400000 && (insn & 0xbfe00000) != 0x88600000)
		return 0;
	for (size_t i = 4; i + 12 <= len && i < 64; i += 4) {
		insn = arch_insn(p + i);
		if ((insn & 0x3fe00000) != 0x08000000 && (insn & 0xbfe00000) != 0x88200000)
			continue;
		/* cbnz, of what the store says */
		return (arch_insn(p + i + 4) & 0x7f000000) == 0x35000000 ? i + 8 : i + 4;
	}
	return 0;
}

static inline uint64_t arch_return_place(const struct gprof_unwind_rule *rule, uint64_t cfa)
{
	return rule->kind == GPROF_UNWIND_CFA_DEREF ? cfa - 8 : cfa + (int64_t)rule->ra * 8;
}

static inline int arch_kept_at(const struct gprof_unwind_rule *rule)
{
	return 0;
}

#endif

#endif /* GPROF_WALK_ARCH_H */
