/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Locking the mappings of a process.
 *
 * mmap_write_trylock(): removed in some 7.x; RHEL's 5.14 and 6.12 have none either.
 * A writer that locks without it begins a write of the sequence count for readers without a lock,
 * if the kernel has one (6.14). Every function that unlocks ends that write.
 */
#ifndef GPROF_COMPAT_MMAP_LOCK_H
#define GPROF_COMPAT_MMAP_LOCK_H

#include <linux/mm.h>

static inline bool gprof_mmap_write_trylock(struct mm_struct *mm)
{
#ifdef GPROF_HAVE_MMAP_WRITE_TRYLOCK
	return mmap_write_trylock(mm);
#else
	if (!down_write_trylock(&mm->mmap_lock))
		return false;
#ifdef GPROF_HAVE_MM_LOCK_SEQCOUNT
	mm_lock_seqcount_begin(mm);
#endif
	return true;
#endif
}

#endif /* GPROF_COMPAT_MMAP_LOCK_H */
