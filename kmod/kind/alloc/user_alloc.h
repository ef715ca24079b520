/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * user_alloc: allocations that programs make themselves, and tell.
 */
#ifndef GPROF_USER_ALLOC_H
#define GPROF_USER_ALLOC_H

#include <linux/types.h>

struct gprof_allocs;
struct gprof_alloc_report;
struct pt_regs;

int gprof_user_alloc_report(struct gprof_alloc_report *arg);

void gprof_alloc_listen(struct gprof_allocs *a);
void gprof_alloc_listen_no_more(struct gprof_allocs *a);

/* For alloc_probe.c, which learns of it otherwise. */
void gprof_alloc_begins(struct gprof_allocs *a, struct pt_regs *regs, unsigned long addr, u64 bytes,
			u64 weight);
bool gprof_alloc_ends(struct gprof_allocs *a, unsigned long addr);

#endif /* GPROF_USER_ALLOC_H */
