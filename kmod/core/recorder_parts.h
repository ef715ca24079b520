/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * recorder_parts: the parts of a recorder.
 */
#ifndef GPROF_RECORDER_PARTS_H
#define GPROF_RECORDER_PARTS_H

struct gprof_percpu_buffer;
struct gprof_recorder;
struct gprof_setup;
struct gprof_source_ops;

int gprof_recorder_build(struct gprof_recorder *r, struct gprof_setup *setup,
			 const struct gprof_source_ops *source, const void *params,
			 const unsigned long *cpus, struct gprof_percpu_buffer ***made);
void gprof_recorder_tear_down(struct gprof_recorder *r);

#endif /* GPROF_RECORDER_PARTS_H */
