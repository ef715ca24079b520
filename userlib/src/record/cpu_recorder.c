// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * cpu_recorder.c: recorders of CPU events.
 */
#include <errno.h>
#include <linux/gprof.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/opts.h"
#include "device/cpu_source.h"
#include "recorder.h"

#define EVENTS_MAX	64

static int make_source(const struct gprof_cpu_event *ev, struct gprof_cpu_source *s,
		       struct gprof_stream_source *out, struct gprof_error *e)
{
	int err = gprof_cpu_source_init(s, ev, e);

	if (err)
		return err;
	*out = (struct gprof_stream_source){
		.kind = GPROF_KIND_CPU,
		.stack = s->stack,
		.params = &s->params,
		.name = ev->name,
		.columns = {
			.count_type = "samples",
			.weight_type = s->type,
			.weight_unit = s->unit,
			.period = s->params.period,
			.latency = ev->flags & GPROF_EVENT_LATENCY,
		},
	};
	snprintf(out->detail, sizeof(out->detail), "perf type %u, config %#llx%s%s", s->params.type,
		 (unsigned long long)s->params.config,
		 ev->flags & GPROF_EVENT_KERNEL ? ", user and kernel" : ", user",
		 ev->precise ? ", precise" : "");
	return 0;
}

static struct gprof_recorder *make(const struct gprof_cpu_config *cfg, struct gprof_error *e)
{
	static const struct gprof_cpu_event timer = { .name = "timer" };
	const struct gprof_cpu_event *events = cfg->nr_events ? cfg->events : &timer;
	size_t nr = cfg->nr_events ? cfg->nr_events : 1, i, j;
	const struct gprof_stream_opts opts = {
		cfg->buffer_bytes, cfg->on_exec, cfg->flight, cfg->no_unwind_tables, false,
		cfg->python, cfg->slice_ns,
	};
	struct gprof_stream_source sources[EVENTS_MAX];
	struct gprof_cpu_source cpu[EVENTS_MAX];
	uint32_t pid = cfg->target.type == GPROF_PROCESS ? (uint32_t)cfg->target.id : 0;

	if (nr > EVENTS_MAX || !events) {
		gprof_error_set(e, EINVAL, "%zu events; at most %d", nr, EVENTS_MAX);
		return NULL;
	}
	for (i = 0; i < nr; i++) {
		if (make_source(&events[i], &cpu[i], &sources[i], e))
			return NULL;
		sources[i].columns.main_pid = pid;
		for (j = 0; j < i; j++) {
			if (!gprof_event_same(&cpu[i].event, &cpu[j].event))
				continue;
			gprof_error_set(e, EEXIST, "%s and %s are the same event; give each once",
					events[j].name, events[i].name);
			return NULL;
		}
	}
	return gprof_recorder_make(&cfg->target, sources, nr, &opts, e);
}

struct gprof_recorder *gprof_cpu_recorder_new(const struct gprof_cpu_config *config)
{
	const size_t least = GPROF_SIZE_WITH(struct gprof_cpu_config, on_exec);
	struct gprof_cpu_config cfg = { 0 };
	struct gprof_recorder *r = NULL;
	struct gprof_error e = { 0 };

	if (!gprof_opts_copy_in(&cfg, sizeof(cfg), least, config, "gprof_cpu_config", &e))
		r = make(&cfg, &e);
	if (!r)
		gprof_error_publish(&e);
	return r;
}
