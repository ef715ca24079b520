/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * recorder_parts: the parts of a recorder.
 */
#ifndef GPROF_RECORDER_PARTS_H
#define GPROF_RECORDER_PARTS_H

struct gprof_channel;
struct gprof_recorder;
struct gprof_setup;
struct gprof_source;

int gprof_recorder_build(struct gprof_recorder *r, struct gprof_setup *setup,
			 const struct gprof_source *source, const void *params,
			 const unsigned long *cpus, struct gprof_channel ***made);
void gprof_recorder_take_apart(struct gprof_recorder *r);

#endif /* GPROF_RECORDER_PARTS_H */
