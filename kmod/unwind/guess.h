/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * guess: a rule for code without a table, such as a program makes while it runs.
 *
 * Code that leaves a function undoes what the function did to its stack. So the next such
 * instructions behind an address say how large the frame is, and where its caller's registers
 * lie. They may be those of another function, and code behind an address is only likely
 * to run after it: a guess, and marked as such. So is one from before the code was changed.
 */
#ifndef GPROF_GUESS_H
#define GPROF_GUESS_H

#include "clock/clock.h"
#include "compat/uaccess.h"

#include <linux/gprof_unwind.h>
#include <linux/types.h>

#define GPROF_GUESS_BYTES	2048	/* of code, from an address on */
#define GPROF_GUESS_PART	256	/* of them, between looks at the clock */

/* Between two parts: is there time for the next, which user memory is open for then? */
static inline bool gprof_guess_goes_on(u64 until)
{
	user_access_end();
	return gprof_clock_ns() < until && user_access_begin((void __user *)PAGE_SIZE, 16);
}

/**
 * gprof_arch_guess() - look for the way out of a function
 * @at: instruction, or the byte before a return address
 * @until: as of struct gprof_stack
 * @r: the guess; unchanged if there is none, or if a frame record is at the frame pointer.
 *	@how: a GPROF_UNWIND_RA_*; in words, @cfa: from the stack pointer; @ra: of the return
 *	address, and @fp, if not 0: of the caller's frame pointer, from the CFA
 *
 * Context: Any incl. NMI, preemption and page faults off, user memory closed.
 * Return: false: it is too late, and not known.
 */
bool gprof_arch_guess(u64 at, u64 until, struct gprof_unwind_rule *r);

#endif /* GPROF_GUESS_H */
