/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * alloc_owners: the slots of a table that each address space has, so that its end costs what
 * it has, and not what the table has.
 *
 * Slots of address spaces whose numbers end in the same bits share a ring. Numbers are given in
 * turn, and there are as many rings as the table has buckets: few share one.
 *
 * One lock of the caller's protects all of it.
 */
#ifndef GPROF_ALLOC_OWNERS_H
#define GPROF_ALLOC_OWNERS_H

#include <linux/types.h>

struct gprof_alloc_owners;

u64 gprof_alloc_owners_bytes(u32 slots);
struct gprof_alloc_owners *gprof_alloc_owners_new(u32 slots);
void gprof_alloc_owners_free(struct gprof_alloc_owners *o);
void gprof_alloc_owners_begin(struct gprof_alloc_owners *o);

void gprof_alloc_owners_set(struct gprof_alloc_owners *o, u32 at, u32 space);
u32 gprof_alloc_owners_count(const struct gprof_alloc_owners *o, u32 space);
int gprof_alloc_owners_take(struct gprof_alloc_owners *o, u32 space);

#endif /* GPROF_ALLOC_OWNERS_H */
