/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * source_sched: read the counts of the kind sched.
 */
#ifndef GPROF_SOURCE_SCHED_H
#define GPROF_SOURCE_SCHED_H

#include <linux/types.h>

struct gprof_sched_reading;

bool gprof_source_sched_read(void *state, struct gprof_sched_reading *r);

#endif /* GPROF_SOURCE_SCHED_H */
