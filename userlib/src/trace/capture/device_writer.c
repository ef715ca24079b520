// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * device_writer.c: a writer for the records of a device.
 */
#include "device_writer.h"

#include "device/syscall_name.h"

static const char *syscall_name(void *ctx, uint64_t nr)
{
	(void)ctx;
	return gprof_syscall_name(nr);
}

struct gprof_trace_writer *
gprof_trace_device_writer(const struct gprof_trace_device *d, const struct gprof_trace_config *cfg,
			  int fd, const struct gprof_trace_writer_opts *opts)
{
	const struct gprof_trace_writer_opts all = {
		.sz = sizeof(all),
		.version = cfg->version,
		.index = cfg->index,
		.syscall = syscall_name,
		.generation = opts->generation,
		.trigger = opts->trigger,
		.ctx = opts->ctx,
		.sample_period = d->setup.source.params.period,
		.sample_type = d->sample_type,
		.sample_unit = d->setup.source.unit,
		.recorded = true,
		.groups = cfg->groups,
		.stacks = cfg->stacks,
		.kernel_frames = cfg->stacks && cfg->kernel_frames,
		.min_duration_ns = cfg->min_duration_ns,
		.cpus_only = cfg->target.type == GPROF_CPUS,
		.whole_host = cfg->target.type == GPROF_SYSTEM,
	};

	return gprof_trace_writer_new(fd, &all);
}
