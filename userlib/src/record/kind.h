/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * kind.h: the table of kinds of recorders.
 */
#ifndef GPROF_KIND_H
#define GPROF_KIND_H

#include <gprof/recorder.h>
#include <linux/gprof.h>

#include "device/cpu_source.h"
#include "stream.h"

/* The parameters of kinds that have no others; each has a struct like that in linux/gprof.h. */
struct gprof_period_params {
	uint32_t size;
	uint32_t flags;
	uint64_t period;
};

/* The parameters of a kind, while its source refers to them. */
union gprof_kind_params {
	struct gprof_cpu_source cpu;
	struct gprof_period_params period;
	struct gprof_alloc_params alloc;
};

/**
 * struct gprof_kind - a row of the table
 * @name: as in struct gprof_kind_config
 * @kind: GPROF_KIND_*
 * @flags: of the kind's parameters, for @source
 * @columns: columns of the values, but for the period
 * @source: fills in the rest of @out, from @cfg; 0 or -errno with a sentence
 */
struct gprof_kind {
	const char *name;
	uint32_t kind;
	uint32_t flags;
	struct gprof_columns columns;
	int (*source)(const struct gprof_kind *kind, const struct gprof_kind_config *cfg,
		      union gprof_kind_params *params, struct gprof_stream_source *out,
		      struct gprof_error *e);
};

/* The functions that base/kinds.def names. */
#define PROFILE(_name, _number, _flags, _source, ...)					\
	int _source(const struct gprof_kind *kind, const struct gprof_kind_config *cfg,	\
		    union gprof_kind_params *params, struct gprof_stream_source *out,	\
		    struct gprof_error *e);
#include "base/kinds.def"

/**
 * gprof_kind_columns() - columns of GPROF_KIND_*, but for the period and optional ones; NULL: they
 * depend on the event
 */
const struct gprof_columns *gprof_kind_columns(uint32_t kind);

#endif /* GPROF_KIND_H */
