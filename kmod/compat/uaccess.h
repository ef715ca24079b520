/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reading words of user memory inside user_access_begin(), with page faults off.
 *
 * gprof_user_u64(), gprof_user_u32(), gprof_user_u16(): read a word at an address of
 * user space; the last is for riscv64, whose instructions have any even address.
 * gprof_user_pair(): reads that, and the word behind it. gprof_user_known_pair():
 * likewise, at an address from the module's own memory. They return false if it cannot be read.
 *
 * arm64 has an unsafe_get_user() of its own since 6.11. Before, the generic one
 * checked every address anew, with a dozen instructions for each word.
 *
 * The user may have chosen the address. Whether it was checked is a branch that
 * the CPU may predict wrongly (Spectre, variant 1). So these functions also mask the address, which
 * makes any value a canonical address of the user's half. unsafe_get_user() does not do
 * that, and access is open for the whole walk, not for this address alone. On arm64 and riscv64
 * every address has been through gprof_user_strip(), which is such a mask. An address from the
 * module's own memory was checked before it was stored there, and no user can change it now.
 */
#ifndef GPROF_COMPAT_UACCESS_H
#define GPROF_COMPAT_UACCESS_H

#include <linux/types.h>
#include <linux/uaccess.h>

#if defined(CONFIG_ARM64) && !defined(GPROF_HAVE_USER_ACCESS)
static __always_inline bool gprof_user_u64(u64 *to, u64 addr)
{
	const u64 __user *p = uaccess_mask_ptr((const u64 __user *)addr);
	int err = 0;

	__raw_get_user(*to, p, err);
	return !err;
}

static __always_inline bool gprof_user_u32(u32 *to, u64 addr)
{
	const u32 __user *p = uaccess_mask_ptr((const u32 __user *)addr);
	int err = 0;

	__raw_get_user(*to, p, err);
	return !err;
}

static __always_inline bool gprof_user_known_pair(u64 *first, u64 *second, u64 addr)
{
	const u64 __user *p = (const u64 __user *)addr;
	int err = 0;

	__raw_get_user(*first, p, err);
	__raw_get_user(*second, p + 1, err);
	return !err;
}

static __always_inline bool gprof_user_pair(u64 *first, u64 *second, u64 addr)
{
	const u64 __user *p = uaccess_mask_ptr((const u64 __user *)addr);

	return gprof_user_known_pair(first, second, (unsigned long)p);
}
#else
#ifdef CONFIG_X86_64
extern u64 gprof_user_bits;	/* user_fp.c; in memory, for one instruction */

static __always_inline u64 gprof_user_masked(u64 addr)
{
	return addr & gprof_user_bits;
}
#else
static __always_inline u64 gprof_user_masked(u64 addr)
{
	return addr;
}
#endif

static __always_inline bool gprof_user_u64(u64 *to, u64 addr)
{
	addr = gprof_user_masked(addr);
	unsafe_get_user(*to, (const u64 __user *)addr, no);
	return true;
no:
	return false;
}

static __always_inline bool gprof_user_u32(u32 *to, u64 addr)
{
	addr = gprof_user_masked(addr);
	unsafe_get_user(*to, (const u32 __user *)addr, no);
	return true;
no:
	return false;
}

static __always_inline bool gprof_user_u16(u16 *to, u64 addr)
{
	addr = gprof_user_masked(addr);
	unsafe_get_user(*to, (const u16 __user *)addr, no);
	return true;
no:
	return false;
}

static __always_inline bool gprof_user_known_pair(u64 *first, u64 *second, u64 addr)
{
	unsafe_get_user(*first, (const u64 __user *)addr, no);
	unsafe_get_user(*second, (const u64 __user *)addr + 1, no);
	return true;
no:
	return false;
}

static __always_inline bool gprof_user_pair(u64 *first, u64 *second, u64 addr)
{
	return gprof_user_known_pair(first, second, gprof_user_masked(addr));
}
#endif

#endif /* GPROF_COMPAT_UACCESS_H */
