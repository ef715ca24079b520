/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * memlock: memory that user space makes the kernel pin, charged to its user.
 */
#ifndef GPROF_MEMLOCK_H
#define GPROF_MEMLOCK_H

#include <linux/types.h>

struct cred;

/**
 * struct gprof_charge - what a recorder is charged
 * @cred: whose user pays; a reference is held
 * @pages: how much
 */
struct gprof_charge {
	const struct cred *cred;
	u64 pages;
};

int gprof_charge(struct gprof_charge *c, u64 bytes, bool unlimited);
void gprof_uncharge(struct gprof_charge *c);

#endif /* GPROF_MEMLOCK_H */
