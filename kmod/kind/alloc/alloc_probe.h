/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * alloc_probe: allocations that programs make themselves, by probes of the functions that they
 * call for it.
 */
#ifndef GPROF_ALLOC_PROBE_H
#define GPROF_ALLOC_PROBE_H

#include <linux/types.h>

struct gprof_alloc_params;
struct gprof_alloc_probes;
struct gprof_allocs;
struct gprof_target;

bool gprof_alloc_probes_exist(void);
u64 gprof_alloc_probes_bytes(u32 nr);
int gprof_alloc_probes_new(struct gprof_alloc_probes **probes,
			   const struct gprof_alloc_params *params,
			   const struct gprof_target *target, u32 *reason);
void gprof_alloc_probes_free(struct gprof_alloc_probes *p);

int gprof_alloc_probes_start(struct gprof_alloc_probes *p, struct gprof_allocs *a, u32 *pid);
void gprof_alloc_probes_stop(struct gprof_alloc_probes *p);
void gprof_alloc_probes_exit(void);

#endif /* GPROF_ALLOC_PROBE_H */
