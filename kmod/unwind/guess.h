/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * guess: a rule for code that no table tells of, such as a program makes while it runs.
 *
 * Code that leaves a function undoes what the function did to its stack. So the next such
 * instructions behind an address say how large the frame is, and where its caller's registers
 * lie. They may be those of another function, and what lies behind an address is only likely
 * to be reached from it: a guess, and marked as such. So is one from before the code was changed.
 */
#ifndef GPROF_GUESS_H
#define GPROF_GUESS_H

#include <linux/gprof_unwind.h>
#include <linux/types.h>

#define GPROF_GUESS_BYTES	2048	/* of code, from an address on */

/**
 * gprof_arch_guess() - look for the way out of a function
 * @at: instruction, or the byte before a return address
 * @r: the guess, as stays what it was where there is none, or a frame record at the frame pointer.
 *	@how: a GPROF_UNWIND_RA_*; in words, @cfa: from the stack pointer; @ra: of the return
 *	address, and @fp, if not 0: of the caller's frame pointer, from the CFA
 *
 * Context: Any incl. NMI, preemption and page faults off, user memory closed.
 */
void gprof_arch_guess(u64 at, struct gprof_unwind_rule *r);

#endif /* GPROF_GUESS_H */
