// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * tracepoint_recorder.c: recorders of a kernel tracepoint.
 */
#include <errno.h>
#include <linux/gprof.h>
#include <stddef.h>
#include <stdio.h>

#include "base/opts.h"
#include "recorder.h"
#include "device/tracepoint.h"

static struct gprof_recorder *make(const struct gprof_tracepoint_config *cfg, struct gprof_error *e)
{
	struct gprof_profile_params params = {
		.size = sizeof(params),
		.period = cfg->period ? cfg->period : 1,
	};
	struct gprof_source source = {
		.kind = GPROF_KIND_PROFILE,
		.stack = GPROF_STACK_F_IP | GPROF_STACK_F_USER |
			 (cfg->kernel_frames ? GPROF_STACK_F_KERNEL : 0),
		.params = &params,
		.name = cfg->event,
		.columns = {
			.weight_type = "events",
			.weight_unit = "count",
			.period = params.period,
		},
	};
	const struct gprof_stream_opts opts = { cfg->buffer_bytes, cfg->on_exec, cfg->flight };
	uint64_t id = 0;

	if (!cfg->event) {
		gprof_error_set(e, EINVAL, "no tracepoint is named");
		return NULL;
	}
	if (params.period > GPROF_PERIOD_MAX) {
		gprof_error_set(e, EINVAL, "%s: a period of %llu is too long; at most %llu",
				cfg->event, (unsigned long long)params.period, GPROF_PERIOD_MAX);
		return NULL;
	}
	if (gprof_tracepoint_find(NULL, cfg->event, &id, e))
		return NULL;
	params.tracepoint = id;
	if (cfg->target.type == GPROF_PROCESS)
		source.columns.main_pid = (uint32_t)cfg->target.id;
	snprintf(source.detail, sizeof(source.detail), "tracepoint %llu", (unsigned long long)id);
	return gprof_recorder_make(&cfg->target, &source, 1, &opts, e);
}

struct gprof_recorder *gprof_tracepoint_recorder_new(const struct gprof_tracepoint_config *config)
{
	const size_t least = GPROF_SIZE_WITH(struct gprof_tracepoint_config, on_exec);
	struct gprof_tracepoint_config cfg = { 0 };
	struct gprof_recorder *r = NULL;
	struct gprof_error e = { 0 };

	if (!gprof_opts_take(&cfg, sizeof(cfg), least, config, "gprof_tracepoint_config", &e))
		r = make(&cfg, &e);
	if (!r)
		gprof_error_publish(&e);
	return r;
}
