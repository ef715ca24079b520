/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Probes of user space.
 *
 * uprobe_unregister_nosync(): 6.12, and with it a handle. Before, file and offset
 * identified a probe, and uprobe_unregister() waited for its handlers.
 * enum uprobe_filter_ctx: until 6.11, a filter had the reason of the call as an argument.
 * __u64 *data: 6.13, an argument of handlers.
 */
#ifndef GPROF_COMPAT_UPROBES_H
#define GPROF_COMPAT_UPROBES_H

#include <linux/err.h>
#include <linux/fs.h>
#include <linux/uprobes.h>

#ifdef GPROF_HAVE_UPROBE_DATA
#define GPROF_UPROBE_ENTRY_ARGS	struct uprobe_consumer *uc, struct pt_regs *regs, __u64 *data
#define GPROF_UPROBE_RETURN_ARGS \
	struct uprobe_consumer *uc, unsigned long func, struct pt_regs *regs, __u64 *data
#else
#define GPROF_UPROBE_ENTRY_ARGS	struct uprobe_consumer *uc, struct pt_regs *regs
#define GPROF_UPROBE_RETURN_ARGS \
	struct uprobe_consumer *uc, unsigned long func, struct pt_regs *regs
#endif

#ifdef GPROF_HAVE_UPROBE_FILTER_CTX
#define GPROF_UPROBE_FILTER_ARGS \
	struct uprobe_consumer *uc, enum uprobe_filter_ctx ctx, struct mm_struct *mm
#else
#define GPROF_UPROBE_FILTER_ARGS	struct uprobe_consumer *uc, struct mm_struct *mm
#endif

#ifdef GPROF_HAVE_UPROBE_NOSYNC
/* Returns the handle for gprof_uprobe_unregister(), or an error. */
static inline struct uprobe *gprof_uprobe_register(struct inode *inode, loff_t offset,
						   struct uprobe_consumer *uc)
{
	return uprobe_register(inode, offset, 0, uc);
}

/* A handler may still run, until gprof_uprobes_settle(). */
static inline void gprof_uprobe_unregister(struct uprobe *uprobe, struct inode *inode,
					   loff_t offset, struct uprobe_consumer *uc)
{
	uprobe_unregister_nosync(uprobe, uc);
}

static inline void gprof_uprobes_settle(void)
{
	uprobe_unregister_sync();
}
#else
static inline struct uprobe *gprof_uprobe_register(struct inode *inode, loff_t offset,
						   struct uprobe_consumer *uc)
{
	int err = uprobe_register(inode, offset, uc);

	return err ? ERR_PTR(err) : NULL;
}

static inline void gprof_uprobe_unregister(struct uprobe *uprobe, struct inode *inode,
					   loff_t offset, struct uprobe_consumer *uc)
{
	uprobe_unregister(inode, offset, uc);
}

static inline void gprof_uprobes_settle(void)
{
}
#endif

#endif /* GPROF_COMPAT_UPROBES_H */
