/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Notifiers of unmappings. Kernels without CONFIG_MMU_NOTIFIER have none: there
 * gprof_table_set_features() returns 0, and these stubs only let the module be built.
 */
#ifndef GPROF_COMPAT_MMU_NOTIFIER_H
#define GPROF_COMPAT_MMU_NOTIFIER_H

#include <linux/errno.h>
#include <linux/mmu_notifier.h>

#ifdef CONFIG_MMU_NOTIFIER
/* Does the notification announce that @range is unmapped, not only changed? */
static inline bool gprof_range_is_unmapped(const struct mmu_notifier_range *range)
{
	return range->event == MMU_NOTIFY_UNMAP;
}

/* Has the last task left the address space? */
static inline bool gprof_range_is_released(const struct mmu_notifier_range *range)
{
	return range->event == MMU_NOTIFY_RELEASE;
}
#else
static inline bool gprof_range_is_unmapped(const struct mmu_notifier_range *range)
{
	return false;
}

static inline bool gprof_range_is_released(const struct mmu_notifier_range *range)
{
	return false;
}

static inline int
mmu_interval_notifier_insert_locked(struct mmu_interval_notifier *notifier, struct mm_struct *mm,
				    unsigned long start, unsigned long length,
				    const struct mmu_interval_notifier_ops *ops)
{
	return -EOPNOTSUPP;
}

static inline void mmu_interval_notifier_remove(struct mmu_interval_notifier *notifier)
{
}
#endif

#endif /* GPROF_COMPAT_MMU_NOTIFIER_H */
