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

static const struct gprof_kind table[] = {
	{ "cpu", GPROF_KIND_CPU, 0, {
		.count_type = "samples", .weight_type = "cpu", .weight_unit = "nanoseconds",
	  }, gprof_cpu_kind_source },
	{ "block", GPROF_KIND_BLOCK, 0, {
		CONTENTIONS, .runnable_type = "runnable",
	  }, gprof_block_kind_source },
	{ "block-waker", GPROF_KIND_BLOCK, GPROF_BLOCK_F_WAKER, {
		CONTENTIONS,
	  }, gprof_block_kind_source },
	{ "mutex", GPROF_KIND_MUTEX, 0, {
		CONTENTIONS,
	  }, gprof_mutex_kind_source },
	{ "mutex-waiter", GPROF_KIND_MUTEX, GPROF_MUTEX_F_WAITER, {
		CONTENTIONS, .runnable_type = "runnable",
	  }, gprof_mutex_kind_source },
	{ "kernel-lock", GPROF_KIND_MUTEX, GPROF_MUTEX_F_WAITER | GPROF_MUTEX_F_KERNEL, {
		CONTENTIONS,
	  }, gprof_mutex_kind_source },
	{ "alloc", GPROF_KIND_ALLOC, OF_KERNEL, {
		ALLOCATIONS,
	  }, gprof_alloc_kind_source },
	{ "heap", GPROF_KIND_HEAP, OF_KERNEL, {
		ALLOCATIONS, LIVE,
	  }, gprof_alloc_kind_source },
	{ "user-alloc", GPROF_KIND_ALLOC, GPROF_ALLOC_F_PROGRAM, {
		ALLOCATIONS,
	  }, gprof_alloc_kind_source },
	{ "user-heap", GPROF_KIND_HEAP, GPROF_ALLOC_F_PROGRAM, {
		ALLOCATIONS, LIVE,
	  }, gprof_alloc_kind_source },
};

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

uint64_t gprof_kind_period(const struct gprof_kind *kind, const struct gprof_kind_config *cfg,
			   struct gprof_error *e)
{
	if (cfg->rate <= GPROF_PERIOD_MAX)
		return cfg->rate ? cfg->rate : 1;
	gprof_error_set(e, EINVAL, "%s: %llu events per sample are too many; at most %llu",
			kind->name, (unsigned long long)cfg->rate,
			(unsigned long long)GPROF_PERIOD_MAX);
	return 0;
}

static int make_source(const struct gprof_kind_config *cfg, union gprof_kind_params *params,
		       struct gprof_stream_source *out, struct gprof_error *e)
{
	const struct gprof_kind *kind = find(cfg->kind);

	if (!kind)
		return gprof_error_set(e, ENOENT, "%.64s: no such kind of recorder; there are cpu, "
				       "block, block-waker, mutex, mutex-waiter, kernel-lock, "
				       "alloc, heap, user-alloc and user-heap",
				       cfg->kind ? cfg->kind : "(none)");
	if (cfg->reserved[0] || cfg->reserved[1])
		return gprof_error_set(e, E2BIG, "%s: sets what this libgprof does not know; it is "
				       "older than the program", kind->name);
	if (cfg->flags & ~(GPROF_RECORD_KERNEL | GPROF_RECORD_ADDR | GPROF_RECORD_LATENCY |
			   GPROF_RECORD_OWNER | GPROF_RECORD_KEEP | GPROF_RECORD_PROBES))
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
		cfg->service_names, cfg->python,
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
