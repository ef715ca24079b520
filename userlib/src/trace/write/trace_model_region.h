/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * trace_model_region.h: the regions that a task is in, by its annotations.
 */
#ifndef GPROF_TRACE_MODEL_REGION_H
#define GPROF_TRACE_MODEL_REGION_H

#include "trace_model.h"

/* Within each other; with one more all are ended first. */
#define GPROF_TRACE_REGIONS_MAX	64

/**
 * struct gprof_trace_model_region - a region
 * @task: task of the program that it names, or 0
 * @name: its name
 */
struct gprof_trace_model_region {
	uint64_t task;
	char *name;
};

/**
 * struct gprof_trace_model_regions - the regions that a task is in
 * @nr: how many
 * @v: they, the outermost first
 */
struct gprof_trace_model_regions {
	size_t nr;
	struct gprof_trace_model_region v[GPROF_TRACE_REGIONS_MAX];
};

/** gprof_model_in_region() - is a task in a region of its annotations? */
static inline bool gprof_model_in_region(const struct gprof_trace_model_task *t)
{
	return t->regions && t->regions->nr;
}

/** gprof_model_regions_free() - a task is forgotten */
void gprof_model_regions_free(struct gprof_trace_model_task *t);

#endif /* GPROF_TRACE_MODEL_REGION_H */
