// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * tracepoint_recorder.c: recorders of kernel tracepoints, and of what else the kernel
 * counts itself.
 */
#include <errno.h>
#include <linux/gprof.h>
#include <linux/perf_event.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/opts.h"
#include "cpu_source.h"
#include "recorder.h"
#include "device/tracepoint.h"

#define EVENTS_MAX	64

/**
 * struct happening - an event, and what the kernel is to be told of it
 * @tracepoint: of a tracepoint
 * @software: of any other
 */
struct happening {
	struct gprof_profile_params tracepoint;
	struct gprof_cpu_source software;
};

static int find_tracepoint(const char *name, uint64_t period, struct happening *h,
			   struct gprof_source *out, struct gprof_error *e)
{
	uint64_t id = 0;
	int err = gprof_tracepoint_find(NULL, name, &id, e);

	if (err)
		return err;
	h->tracepoint = (struct gprof_profile_params){
		.size = sizeof(h->tracepoint), .tracepoint = id, .period = period,
	};
	out->kind = GPROF_KIND_PROFILE;
	out->params = &h->tracepoint;
	snprintf(out->detail, sizeof(out->detail), "tracepoint %llu", (unsigned long long)id);
	return 0;
}

static int find_software(const char *name, uint64_t period, struct happening *h,
			 struct gprof_source *out, struct gprof_error *e)
{
	const struct gprof_cpu_event ev = { .name = name, .flags = GPROF_EVENT_KERNEL };
	int err = gprof_cpu_source_init(&h->software, &ev, e);

	if (!err && (h->software.event.timer || h->software.params.type != PERF_TYPE_SOFTWARE))
		err = -ENOENT;
	if (err)
		return gprof_error_set(e, EINVAL,
				       "%.128s: neither a tracepoint, which is written CATEGORY:NAME, "
				       "such as sched:sched_process_fork, nor what the kernel counts "
				       "itself, such as page-faults", name);
	h->software.params.period = period;
	out->kind = GPROF_KIND_CPU;
	out->params = &h->software.params;
	snprintf(out->detail, sizeof(out->detail), "perf type %u, config %#llx",
		 h->software.params.type, (unsigned long long)h->software.params.config);
	return 0;
}

static int make_source(const struct gprof_tracepoint_config *cfg, const char *name,
		       struct happening *h, struct gprof_source *out, struct gprof_error *e)
{
	uint64_t period = cfg->period ? cfg->period : 1;

	if (!name)
		return gprof_error_set(e, EINVAL, "no tracepoint is named");
	if (period > GPROF_PERIOD_MAX)
		return gprof_error_set(e, EINVAL, "%s: a period of %llu is too long; at most %llu",
				       name, (unsigned long long)period, GPROF_PERIOD_MAX);
	*out = (struct gprof_source){
		.stack = GPROF_STACK_F_IP | GPROF_STACK_F_USER |
			 (cfg->kernel_frames ? GPROF_STACK_F_KERNEL : 0),
		.name = name,
		.columns = {
			.weight_type = "events",
			.weight_unit = "count",
			.period = period,
		},
	};
	if (cfg->target.type == GPROF_PROCESS)
		out->columns.main_pid = (uint32_t)cfg->target.id;
	if (strchr(name, ':'))
		return find_tracepoint(name, period, h, out, e);
	return find_software(name, period, h, out, e);
}

static struct gprof_recorder *make(const struct gprof_tracepoint_config *cfg, struct gprof_error *e)
{
	const struct gprof_stream_opts opts = {
		cfg->buffer_bytes, cfg->on_exec, cfg->flight, cfg->no_unwind_tables,
	};
	const char *const *names = cfg->nr_events ? cfg->events : &cfg->event;
	size_t nr = cfg->nr_events ? cfg->nr_events : 1, i, j;
	struct gprof_source sources[EVENTS_MAX];
	struct happening happenings[EVENTS_MAX];

	if (nr > EVENTS_MAX || !names || (cfg->nr_events && cfg->event)) {
		gprof_error_set(e, EINVAL, "%zu events; at most %d, and either one or several", nr,
				EVENTS_MAX);
		return NULL;
	}
	for (i = 0; i < nr; i++) {
		if (make_source(cfg, names[i], &happenings[i], &sources[i], e))
			return NULL;
		for (j = 0; j < i; j++) {
			if (strcmp(names[i], names[j]))
				continue;
			gprof_error_set(e, EEXIST, "%s is given twice; give each event once",
					names[i]);
			return NULL;
		}
	}
	return gprof_recorder_make(&cfg->target, sources, nr, &opts, e);
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
