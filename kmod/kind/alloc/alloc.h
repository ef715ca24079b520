/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * alloc: allocations for a target's tasks, and how they become samples.
 *
 *	alloc_probe.c	allocations that programs make themselves, as probes see them
 *	user_alloc.c	those that they tell, and their samples
 *	alloc.c		from the allocators to the sample, and to the end of live ones
 *	alloc_page.c	whose pages are part of something else that is told
 */
#ifndef GPROF_ALLOC_H
#define GPROF_ALLOC_H

#include "allocs.h"

struct gprof_request;
struct gprof_stats;

bool gprof_allocs_can_last(void);
u64 gprof_allocs_bytes(const struct gprof_request *req);
int gprof_allocs_setup(struct gprof_request *req, void **state);

/* These four fit struct gprof_source_ops, whose state is then struct gprof_allocs. */
int gprof_allocs_start(void *state, u32 *attached);
void gprof_allocs_stop(void *state);
void gprof_allocs_stats(void *state, struct gprof_stats *stats);
void gprof_allocs_destroy(void *state);

#endif /* GPROF_ALLOC_H */
