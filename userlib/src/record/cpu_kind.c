// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * cpu_kind.c: CPU time, among other kinds.
 */
#include "kind.h"

int gprof_cpu_kind_source(const struct gprof_kind *kind, const struct gprof_kind_config *cfg,
			  union gprof_kind_params *params, struct gprof_stream_source *out,
			  struct gprof_error *e)
{
	const struct gprof_cpu_event timer = {
		.name = "timer",
		.hz = cfg->rate,
		.flags = cfg->flags & GPROF_RECORD_KERNEL ? GPROF_EVENT_KERNEL : 0,
	};
	int err = gprof_cpu_source_init(&params->cpu, &timer, e);

	(void)kind;
	out->params = &params->cpu.params;
	out->columns.period = params->cpu.params.period;
	out->columns.latency = cfg->flags & GPROF_RECORD_LATENCY;
	return err;
}
