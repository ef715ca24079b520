// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * task_recorder.c: states and stacks of all tasks now.
 */
#include <gprof/task.h>

#include <errno.h>
#include <linux/gprof.h>

#include "base/opts.h"
#include "recorder.h"

static struct gprof_profile *snapshot(const struct gprof_task_config *cfg, struct gprof_error *e)
{
	struct gprof_task_params params = { .size = sizeof(params) };
	struct gprof_stream_source source = {
		.kind = GPROF_KIND_TASK,
		.stack = GPROF_STACK_F_IP | GPROF_STACK_F_USER |
			 (cfg->kernel_frames ? GPROF_STACK_F_KERNEL : 0),
		.params = &params,
		.name = "task",
		.columns = { .weight_type = "tasks", .weight_unit = "count", .period = 1 },
	};
	const struct gprof_stream_opts opts = {
		.buffer_bytes = cfg->buffer_bytes,
		.python = cfg->python,
	};
	struct gprof_profile *p = NULL;
	struct gprof_recorder *r;
	int err;

	if (cfg->target.type == GPROF_PROCESS)
		source.columns.main_pid = (uint32_t)cfg->target.id;
	r = gprof_recorder_make(&cfg->target, &source, 1, &opts, e);
	if (!r)
		return NULL;
	err = gprof_recorder_start_events(r, NULL, 1);
	if (!err)
		err = gprof_recorder_stop_profiles(r, &p, 1);
	if (err) {
		gprof_error_set(e, -err, "%s", gprof_error());
		gprof_profile_free(p);
		p = NULL;
	}
	gprof_recorder_free(r);
	return p;
}

struct gprof_profile *gprof_task_snapshot(const struct gprof_task_config *config)
{
	const size_t least = GPROF_SIZE_WITH(struct gprof_task_config, kernel_frames);
	struct gprof_task_config cfg = { 0 };
	struct gprof_profile *p = NULL;
	struct gprof_error e = { 0 };

	if (!gprof_opts_copy_in(&cfg, sizeof(cfg), least, config, "gprof_task_config", &e))
		p = snapshot(&cfg, &e);
	if (!p)
		gprof_error_publish(&e);
	return p;
}
