/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * user_x86.h: what user addresses and code look like on amd64.
 *
 * What reads is for use between user_access_begin() and user_access_end(), with
 * page faults disabled; hence inline.
 */
#ifndef GPROF_USER_X86_H
#define GPROF_USER_X86_H

#include "compat/uaccess.h"

#include <linux/mm.h>

static __always_inline u64 gprof_user_strip(u64 addr)
{
	return addr;
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

#endif /* GPROF_USER_X86_H */
