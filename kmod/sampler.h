/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sampler: the way of one recorder's samples from an event into the buffers.
 */
#ifndef GPROF_SAMPLER_H
#define GPROF_SAMPLER_H

#include "mapping.h"
#include "stack.h"

#include <linux/percpu.h>

struct perf_callchain_entry;
struct pt_regs;

/**
 * struct gprof_sampler - what a source needs in order to record
 * @options: what to capture of a stack; fixed after SETUP
 * @channels: one per CPU, NULL for CPUs without a buffer; fixed after SETUP
 * @maps: reader of the mappings of sampled processes
 * @no_buffer: samples on CPUs without a buffer
 */
struct gprof_sampler {
	struct gprof_stack_options options;
	struct gprof_channel **channels;
	struct gprof_maps maps;
	atomic64_t no_buffer;
};

/**
 * struct gprof_event - one event that becomes a sample
 * @regs: registers at the event
 * @chain: call chain that the driver has walked already, or NULL
 * @time: CLOCK_MONOTONIC, or 0: now
 * @weight: how many events it stands for
 * @addr: data address, or 0
 * @throttled: the source was stopped for coming too often
 */
struct gprof_event {
	struct pt_regs *regs;
	const struct perf_callchain_entry *chain;
	u64 time;
	u64 weight;
	u64 addr;
	bool throttled;
};

int gprof_samplers_init(void);
void gprof_samplers_exit(void);

void gprof_sampler_sample(struct gprof_sampler *s, const struct gprof_event *e);

#endif /* GPROF_SAMPLER_H */
