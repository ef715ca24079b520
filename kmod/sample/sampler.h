/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sampler: the way of samples from an event into the buffers of its recorders.
 */
#ifndef GPROF_SAMPLER_H
#define GPROF_SAMPLER_H

#include "capture.h"
#include "mapping.h"

struct gprof_oncpu;
struct pid_namespace;

/**
 * struct gprof_sampler - the things that a source needs in order to record
 * @options: parts of a stack to capture; fixed after SETUP
 * @running: tasks that are counted for samples to tell it, or NULL; fixed after SETUP
 * @pid_ns: in which records have ids of tasks; NULL: the initial one. Fixed by open(), which
 *	took a reference
 * @buffers: one per CPU, NULL for CPUs without a buffer; fixed after SETUP
 * @maps: reader of the mappings of sampled processes
 * @no_buffer: samples on CPUs without a buffer
 */
struct gprof_sampler {
	struct gprof_stack_options options;
	struct gprof_oncpu *oncpu;
	struct pid_namespace *pid_ns;
	struct gprof_percpu_buffer **buffers;
	struct gprof_maps maps;
	atomic64_t no_buffer;
};

bool gprof_capture_stack(struct gprof_capture *c, const struct gprof_sampler *s);
void gprof_emit(struct gprof_capture *c, struct gprof_sampler *s, u64 weight);
void gprof_sampler_throttled(struct gprof_sampler *s);

#endif /* GPROF_SAMPLER_H */
