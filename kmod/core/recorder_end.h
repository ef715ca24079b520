/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * recorder_end: START, STOP and close, as far as they wait for others.
 */
#ifndef GPROF_RECORDER_END_H
#define GPROF_RECORDER_END_H

#include <linux/types.h>

struct gprof_recorder;
struct gprof_stats;

void gprof_recorder_end_init(struct gprof_recorder *r);
int gprof_recorder_begin_source(struct gprof_recorder *r, u32 *attached, u32 *reason);
bool gprof_recorder_end_source(struct gprof_recorder *r);
bool gprof_recorder_has_ended(struct gprof_recorder *r);
int gprof_recorder_await_end(struct gprof_recorder *r);
void gprof_recorder_end_stats(struct gprof_recorder *r, struct gprof_stats *stats);
void gprof_recorder_end(struct gprof_recorder *r, bool wait);

#endif /* GPROF_RECORDER_END_H */
