/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Nobody tells of what is unmapped on kernels without CONFIG_MMU_NOTIFIER: there
 * gprof_tables_features() has nothing, and this only lets the module be built.
 */
#ifndef GPROF_COMPAT_MMU_NOTIFIER_H
#define GPROF_COMPAT_MMU_NOTIFIER_H

#include <linux/errno.h>
#include <linux/mmu_notifier.h>

/* Is what lies in @range to go, and not only to be changed? */
static inline bool gprof_range_goes(const struct mmu_notifier_range *range)
{
#ifdef CONFIG_MMU_NOTIFIER
	return range->event == MMU_NOTIFY_UNMAP;
#else
	return true;
#endif
}

#ifndef CONFIG_MMU_NOTIFIER
static inline int __mmu_notifier_register(struct mmu_notifier *notifier, struct mm_struct *mm)
{
	return -EOPNOTSUPP;
}

static inline void mmu_notifier_put(struct mmu_notifier *notifier)
{
}
#endif

#endif /* GPROF_COMPAT_MMU_NOTIFIER_H */
