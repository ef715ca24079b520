/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * user_probe: a place in a file's code where threads that run it come by, and where they
 * return from there.
 */
#ifndef GPROF_USER_PROBE_H
#define GPROF_USER_PROBE_H

#include "compat/uprobes.h"

#include <linux/types.h>

struct file;
struct gprof_user_probe;
struct mm_struct;
struct pt_regs;

/**
 * struct gprof_user_probe_ops - the use of a probe
 * @wants: is it for this address space? All others' code stays as it is. Called under that
 *	mmap_lock
 * @entered: current has come by, with these registers of user mode; it may sleep. Returns
 *	false when the probe is not for its address space
 * @returned: it has returned to where it was called from, in the same way
 */
struct gprof_user_probe_ops {
	bool (*wants)(struct gprof_user_probe *p, struct mm_struct *mm);
	bool (*entered)(struct gprof_user_probe *p, struct pt_regs *regs);
	void (*returned)(struct gprof_user_probe *p, struct pt_regs *regs);
};

/**
 * struct gprof_user_probe - a probe
 * @ops: its use
 * @returns: @ops->returned is wanted
 * @file: whose code; a reference is held
 * @inode: the part of it that the kernel maps
 * @offset: where
 * @consumer: the kernel's
 * @handle: likewise
 * @is_set: between gprof_user_probe_set() and gprof_user_probe_unset()
 * @holder: the kernel's, of the holder
 * @held: likewise
 * @is_held: between gprof_user_probe_hold() and gprof_user_probe_put()
 *
 * The maker sets the first two.
 */
struct gprof_user_probe {
	const struct gprof_user_probe_ops *ops;
	bool returns;
	struct file *file;
	struct inode *inode;
	loff_t offset;
	struct uprobe_consumer consumer;
	struct uprobe *handle;
	bool is_set;
	struct uprobe_consumer holder;
	struct uprobe *held;
	bool is_held;
};

bool gprof_user_probes_exist(void);

int gprof_user_probe_open(struct gprof_user_probe *p, int fd, u64 offset);
bool gprof_user_probe_is_code(const struct gprof_user_probe *p, struct mm_struct *mm);
void gprof_user_probe_close(struct gprof_user_probe *p);

unsigned long gprof_user_mm_holder(const struct mm_struct *mm);
int gprof_user_probe_await(const struct gprof_user_probe *p,
			   void (*waits)(void *data, struct mm_struct *mm, u32 pid), void *data);
int gprof_user_probe_set(struct gprof_user_probe *p);
void gprof_user_probe_unset(struct gprof_user_probe *p);
void gprof_user_probe_hold(struct gprof_user_probe *p);
void gprof_user_probe_put(struct gprof_user_probe *p);
void gprof_user_probes_pass(void);
void gprof_user_probes_settle(void);

#endif /* GPROF_USER_PROBE_H */
