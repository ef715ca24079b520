// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * tracepoint_recorder.c: recorders of kernel tracepoints, of probes, and of software events.
 */
#include <errno.h>
#include <linux/gprof.h>
#include <linux/perf_event.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/opts.h"
#include "device/cpu_source.h"
#include "device/tracepoint.h"
#include "probe_source.h"
#include "recorder.h"

#define EVENTS_MAX	64

/**
 * struct happening - an event, and its parameters for the kernel
 * @tracepoint: of a tracepoint
 * @filter: on that, or NULL
 * @probe: which that is, where it was made for this
 * @software: of any other
 */
struct happening {
	struct gprof_tracepoint_params tracepoint;
	struct gprof_filter *filter;
	struct gprof_probe probe;
	struct gprof_cpu_source software;
};

/* The probes of a recorder, which go with it. */
struct probes {
	size_t nr;
	struct gprof_probe v[];
};

static int add_filter(const char *name, const char *text, struct happening *h,
		      struct gprof_error *e)
{
	int err;

	if (!text)
		return 0;
	h->filter = malloc(sizeof(*h->filter));
	if (!h->filter)
		return gprof_error_set(e, ENOMEM, "%s: no memory for its filter", name);
	err = gprof_tracepoint_filter(NULL, name, text, h->filter, e);
	if (err)
		return err;
	h->tracepoint.filter = (uintptr_t)h->filter->steps;
	h->tracepoint.filter_steps = h->filter->nr;
	h->tracepoint.filter_text = (uintptr_t)h->filter->text;
	h->tracepoint.filter_text_size = h->filter->text_size;
	return 0;
}

static int find_tracepoint(const char *name, const char *filter, uint64_t period,
			   struct happening *h, struct gprof_stream_source *out,
			   struct gprof_error *e)
{
	uint64_t id = 0;
	int err = 0;

	if (gprof_probe_is_meant(name)) {
		err = gprof_probe_source_init(&h->probe, name, e);
		name = h->probe.event;
	}
	if (!err)
		err = gprof_tracepoint_find(NULL, name, &id, e);
	if (err)
		return err;
	h->tracepoint = (struct gprof_tracepoint_params){
		.size = sizeof(h->tracepoint), .tracepoint = id, .period = period,
	};
	out->kind = GPROF_KIND_TRACEPOINT;
	out->params = &h->tracepoint;
	snprintf(out->detail, sizeof(out->detail), "tracepoint %llu%s%.80s",
		 (unsigned long long)id, filter ? ", filter " : "", filter ? filter : "");
	return add_filter(name, filter, h, e);
}

static int find_software(const char *name, uint64_t period, struct happening *h,
			 struct gprof_stream_source *out, struct gprof_error *e)
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
		       const char *filter, struct happening *h, struct gprof_stream_source *out,
		       struct gprof_error *e)
{
	uint64_t period = cfg->period ? cfg->period : 1;

	if (!name)
		return gprof_error_set(e, EINVAL, "no tracepoint is named");
	if (period > GPROF_PERIOD_MAX)
		return gprof_error_set(e, EINVAL, "%s: a period of %llu is too long; at most %llu",
				       name, (unsigned long long)period, GPROF_PERIOD_MAX);
	*out = (struct gprof_stream_source){
		.stack = GPROF_STACK_F_IP | GPROF_STACK_F_USER |
			 (cfg->kernel_frames ? GPROF_STACK_F_KERNEL : 0),
		.name = name,
		.columns = {
			.weight_type = "events",
			.weight_unit = "count",
			.period = period,
			.latency = cfg->latency,
		},
	};
	if (cfg->target.type == GPROF_PROCESS)
		out->columns.main_pid = (uint32_t)cfg->target.id;
	if (strchr(name, ':'))
		return find_tracepoint(name, filter, period, h, out, e);
	if (filter)
		return gprof_error_set(e, EINVAL, "%.128s: a filter is for tracepoints, whose fields "
				       "it is about", name);
	return find_software(name, period, h, out, e);
}

static int make_sources(const struct gprof_tracepoint_config *cfg, const char *const *names,
			const char *const *filters, size_t nr, struct happening *happenings,
			struct gprof_stream_source *sources, struct gprof_error *e)
{
	size_t i, j;
	int err;

	for (i = 0; i < nr; i++) {
		err = make_source(cfg, names[i], filters ? filters[i] : NULL, &happenings[i],
				  &sources[i], e);
		if (err)
			return err;
		for (j = 0; j < i; j++)
			if (!strcmp(names[i], names[j]))
				return gprof_error_set(e, EEXIST, "%s is given twice; give each "
						       "event once", names[i]);
	}
	return 0;
}

static void remove_probes(void *what)
{
	struct probes *p = what;
	size_t i;

	for (i = 0; i < p->nr; i++)
		gprof_probe_remove(&p->v[i]);
	free(p);
}

/* Those that there are: of a recorder, until it is freed; without one, no longer. */
static void hand_over(struct gprof_recorder *r, struct probes *probes,
		      const struct happening *happenings, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++)
		if (happenings[i].probe.made)
			probes->v[probes->nr++] = happenings[i].probe;
	if (r)
		gprof_recorder_keep(r, probes, remove_probes);
	else
		remove_probes(probes);
}

static struct gprof_recorder *make(const struct gprof_tracepoint_config *cfg, struct gprof_error *e)
{
	const struct gprof_stream_opts opts = {
		cfg->buffer_bytes, cfg->on_exec, cfg->flight, cfg->no_unwind_tables, false,
		cfg->python, cfg->slice_ns,
	};
	const char *const *names = cfg->nr_events ? cfg->events : &cfg->event;
	const char *const *filters = cfg->nr_events ? cfg->filters : &cfg->filter;
	size_t nr = cfg->nr_events ? cfg->nr_events : 1, i;
	struct happening happenings[EVENTS_MAX] = { 0 };
	struct gprof_stream_source sources[EVENTS_MAX] = { 0 };
	struct gprof_recorder *r = NULL;
	struct probes *probes;

	if (nr > EVENTS_MAX || !names || (cfg->nr_events && (cfg->event || cfg->filter))) {
		gprof_error_set(e, EINVAL, "%zu events; at most %d, and either one or several", nr,
				EVENTS_MAX);
		return NULL;
	}
	probes = calloc(1, sizeof(*probes) + nr * sizeof(probes->v[0]));
	if (!probes) {
		gprof_error_set(e, ENOMEM, "no memory for a recorder");
		return NULL;
	}
	if (!make_sources(cfg, names, filters, nr, happenings, sources, e))
		r = gprof_recorder_make(&cfg->target, sources, nr, &opts, e);
	hand_over(r, probes, happenings, nr);
	for (i = 0; i < nr; i++)
		free(happenings[i].filter);
	return r;
}

struct gprof_recorder *gprof_tracepoint_recorder_new(const struct gprof_tracepoint_config *config)
{
	const size_t least = GPROF_SIZE_WITH(struct gprof_tracepoint_config, on_exec);
	struct gprof_tracepoint_config cfg = { 0 };
	struct gprof_recorder *r = NULL;
	struct gprof_error e = { 0 };

	if (!gprof_opts_copy_in(&cfg, sizeof(cfg), least, config, "gprof_tracepoint_config", &e))
		r = make(&cfg, &e);
	if (!r)
		gprof_error_publish(&e);
	return r;
}
