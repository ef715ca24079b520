// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * kind.c: the table of kinds, and recorders of any of them.
 */
#include "kind.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "alloc_functions.h"
#include "base/opts.h"
#include "recorder.h"

#define KINDS_MAX	64

#define CONTENTIONS	.weight_type = "contentions", .weight_unit = "count",	\
			.value_type = "delay", .value_unit = "nanoseconds"

#define ALLOCATIONS	.weight_type = "alloc_objects", .weight_unit = "count",	\
			.value_type = "alloc_space", .value_unit = "bytes",	\
			.period_type = "space", .period_unit = "bytes"
#define LIVE		.live_weight_type = "inuse_objects", .live_value_type = "inuse_space"
#define OF_KERNEL	(GPROF_ALLOC_F_SLAB | GPROF_ALLOC_F_PAGES)

#define PROFILE(_name, _number, _flags, _source, _every, _title, ...)		\
	{ _name, GPROF_KIND_##_number, _flags, { __VA_ARGS__ }, _source },

static const struct gprof_kind table[] = {
#include "base/kinds.def"
};

#define PROFILE(_name, ...)	", " _name

static const char names[] =
#include "base/kinds.def"
	;

static const struct gprof_kind *find(const char *name)
{
	size_t i;

	for (i = 0; name && i < sizeof(table) / sizeof(table[0]); i++)
		if (!strcmp(name, table[i].name))
			return &table[i];
	return NULL;
}

const struct gprof_columns *gprof_kind_columns(uint32_t kind)
{
	size_t i;

	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (table[i].kind == kind && table[i].columns.value_type)
			return &table[i].columns;
	return NULL;
}

int gprof_period_kind_source(const struct gprof_kind *kind, const struct gprof_kind_config *cfg,
			     union gprof_kind_params *params, struct gprof_stream_source *out,
			     struct gprof_error *e)
{
	uint64_t period = cfg->rate ? cfg->rate : 1;

	if (period > GPROF_PERIOD_MAX)
		return gprof_error_set(e, EINVAL, "%s: %llu events per sample are too many; at most "
				       "%llu", kind->name, (unsigned long long)period,
				       (unsigned long long)GPROF_PERIOD_MAX);
	params->period = (struct gprof_period_params){
		.size = sizeof(params->period),
		.flags = kind->flags,
		.period = period,
	};
	out->params = &params->period;
	out->columns.period = period;
	return 0;
}

static int make_source(const struct gprof_kind_config *cfg, union gprof_kind_params *params,
		       struct gprof_stream_source *out, struct gprof_error *e)
{
	const struct gprof_kind *kind = find(cfg->kind);

	if (!kind)
		return gprof_error_set(e, ENOENT, "%.64s: no such kind of recorder; there are %s",
				       cfg->kind ? cfg->kind : "(none)", names + strlen(", "));
	if (cfg->reserved)
		return gprof_error_set(e, E2BIG, "%s: sets what this libgprof does not know; it is "
				       "older than the program", kind->name);
	if (cfg->flags & ~(GPROF_RECORD_KERNEL | GPROF_RECORD_ADDR | GPROF_RECORD_LATENCY |
			   GPROF_RECORD_OWNER | GPROF_RECORD_KEEP | GPROF_RECORD_PROBES |
			   GPROF_RECORD_OVER_TIME | GPROF_RECORD_TRY_OVER_TIME))
		return gprof_error_set(e, EINVAL, "%s: unknown flags %#x", kind->name, cfg->flags);
	*out = (struct gprof_stream_source){
		.kind = kind->kind,
		.stack = GPROF_STACK_F_IP | GPROF_STACK_F_USER |
			 (cfg->flags & GPROF_RECORD_KERNEL ? GPROF_STACK_F_KERNEL : 0),
		.columns = kind->columns,
		.name = kind->name,
	};
	return kind->source(kind, cfg, params, out, e);
}

static int add_functions(struct gprof_alloc_functions *f, const struct gprof_recorder_config *cfg,
			 union gprof_kind_params *params, const char *name, struct gprof_error *e)
{
	int err = f->nr ? 0 : gprof_alloc_functions_find(f, &cfg->target, name, e);

	params->alloc.functions = (uintptr_t)f->rows;
	params->alloc.nr_functions = (uint32_t)f->nr;
	return err;
}

static struct gprof_recorder *make(const struct gprof_recorder_config *cfg,
				   struct gprof_alloc_functions *functions, struct gprof_error *e)
{
	const struct gprof_stream_opts opts = {
		cfg->buffer_bytes, cfg->on_exec, cfg->flight, cfg->no_unwind_tables,
		cfg->service_names, cfg->python, cfg->slice_ns,
	};
	union gprof_kind_params params[KINDS_MAX];
	struct gprof_stream_source sources[KINDS_MAX];
	size_t i, j;

	if (!cfg->kinds || !cfg->nr_kinds || cfg->nr_kinds > KINDS_MAX) {
		gprof_error_set(e, EINVAL, "%zu kinds; 1 to %d can be recorded at once",
				cfg->kinds ? cfg->nr_kinds : 0, KINDS_MAX);
		return NULL;
	}
	for (i = 0; i < cfg->nr_kinds; i++) {
		if (make_source(&cfg->kinds[i], &params[i], &sources[i], e))
			return NULL;
		if (cfg->flight && sources[i].over_time_is_extra)
			sources[i].columns.over_time = false;
		if (cfg->flight && sources[i].columns.over_time) {
			gprof_error_set(e, EINVAL, "%s: a flight recorder has no memory over time",
					sources[i].name);
			return NULL;
		}
		if (cfg->kinds[i].flags & GPROF_RECORD_PROBES && sources[i].needs &&
		    add_functions(functions, cfg, &params[i], sources[i].name, e))
			return NULL;
		if (cfg->target.type == GPROF_PROCESS)
			sources[i].columns.main_pid = (uint32_t)cfg->target.id;
		for (j = 0; j < i; j++) {
			if (strcmp(sources[i].name, sources[j].name))
				continue;
			gprof_error_set(e, EEXIST, "%s is given twice; give each kind once",
					sources[i].name);
			return NULL;
		}
	}
	return gprof_recorder_make(&cfg->target, sources, cfg->nr_kinds, &opts, e);
}

struct gprof_recorder *gprof_recorder_new(const struct gprof_recorder_config *config)
{
	const size_t least = GPROF_SIZE_WITH(struct gprof_recorder_config, flight);
	struct gprof_alloc_functions functions = { .nr = 0 };
	struct gprof_recorder_config cfg = { 0 };
	struct gprof_recorder *r = NULL;
	struct gprof_error e = { 0 };

	if (!gprof_opts_copy_in(&cfg, sizeof(cfg), least, config, "gprof_recorder_config", &e))
		r = make(&cfg, &functions, &e);
	/* The module has references of its own by now. */
	gprof_alloc_functions_done(&functions);
	if (!r)
		gprof_error_publish(&e);
	return r;
}
