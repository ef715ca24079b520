/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reading words of user memory inside user_access_begin(), with page faults off.
 *
 * gprof_user_u64(), gprof_user_u32(): a word at an address that is known to be a
 * user's. gprof_user_pair(): that, and the word behind it. False: it cannot be read.
 *
 * arm64 has an unsafe_get_user() of its own since 6.11. Before, the generic one
 * checked every address anew, with a dozen instructions for each word.
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

static __always_inline bool gprof_user_pair(u64 *first, u64 *second, u64 addr)
{
	const u64 __user *p = uaccess_mask_ptr((const u64 __user *)addr);
	int err = 0;

	__raw_get_user(*first, p, err);
	__raw_get_user(*second, p + 1, err);
	return !err;
}
#else
static __always_inline bool gprof_user_u64(u64 *to, u64 addr)
{
	unsafe_get_user(*to, (const u64 __user *)addr, no);
	return true;
no:
	return false;
}

static __always_inline bool gprof_user_u32(u32 *to, u64 addr)
{
	unsafe_get_user(*to, (const u32 __user *)addr, no);
	return true;
no:
	return false;
}

static __always_inline bool gprof_user_pair(u64 *first, u64 *second, u64 addr)
{
	return gprof_user_u64(first, addr) && gprof_user_u64(second, addr + 8);
}
#endif

#endif /* GPROF_COMPAT_UACCESS_H */
