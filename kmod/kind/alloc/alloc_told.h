/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * alloc_told: allocations that programs make themselves, and tell.
 */
#ifndef GPROF_ALLOC_TOLD_H
#define GPROF_ALLOC_TOLD_H

#include <linux/types.h>

struct gprof_allocs;
struct gprof_memory;
struct pt_regs;

int gprof_alloc_told(struct gprof_memory *arg);

void gprof_alloc_listen(struct gprof_allocs *a);
void gprof_alloc_listen_no_more(struct gprof_allocs *a);

/* For alloc_probe.c, which learns of it otherwise. */
void gprof_alloc_begins(struct gprof_allocs *a, struct pt_regs *regs, unsigned long addr, u64 bytes,
			u64 weight);
bool gprof_alloc_ends(struct gprof_allocs *a, unsigned long addr);

#endif /* GPROF_ALLOC_TOLD_H */
