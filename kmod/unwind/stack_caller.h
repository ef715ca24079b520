/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * stack_caller: registers of the module's caller, for a walk to begin with.
 */
#ifndef GPROF_STACK_CALLER_H
#define GPROF_STACK_CALLER_H

#include "stack.h"

#include <linux/perf_event.h>
#include <linux/ptrace.h>

/*
 * Registers that are no interrupt's set none of the CPU's flags. Here: ip, sp and bp are the
 * caller's, and of one moment.
 */
#define GPROF_REGS_OF_CALL	1UL	/* the carry flag alone, which is not possible */
#define GPROF_REGS_OF_SLEEPER	4UL	/* of the switch, and its caller is to be told */

/**
 * gprof_caller_regs() - perf_fetch_caller_regs(), but with all that a walk can begin with
 * @regs: gets the registers of the caller of the function that this is in, or of the jump to it
 *
 * Context: Any incl. NMI, preemption off.
 */
static __always_inline void gprof_caller_regs(struct pt_regs *regs)
{
#ifdef CONFIG_X86_64
	const unsigned long *frame = __builtin_frame_address(0);

	regs->bp = frame[0];
	regs->ip = frame[1];
	regs->sp = (unsigned long)(frame + 2);
	regs->cs = __KERNEL_CS;
	regs->flags = GPROF_REGS_OF_CALL;
#else
	perf_fetch_caller_regs(regs);
	gprof_arch_caller_regs(regs);
#endif
}

#endif /* GPROF_STACK_CALLER_H */
