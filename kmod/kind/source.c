// SPDX-License-Identifier: GPL-2.0-only
/*
 * source: the table of recorder kinds.
 */
#include "source.h"

#include <linux/bits.h>
#include <linux/kernel.h>

static const struct gprof_source_ops *const sources[] = {
	&gprof_source_cpu,
	&gprof_source_tracepoint,
	&gprof_source_sched,
	&gprof_source_trace,
	&gprof_source_task,
	&gprof_source_block,
	&gprof_source_mutex,
	&gprof_source_alloc,
	&gprof_source_heap,
};

/**
 * gprof_source_find() - the source of a kind
 * @kind: GPROF_KIND_*, from user space
 *
 * Return: source or NULL.
 */
const struct gprof_source_ops *gprof_source_find(u32 kind)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sources); i++) {
		if (sources[i]->kind == kind)
			return sources[i];
	}
	return NULL;
}

/**
 * gprof_source_kinds() - bit mask of all kinds, for INFO
 */
u64 gprof_source_kinds(void)
{
	u64 kinds = 0;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sources); i++)
		kinds |= BIT_ULL(sources[i]->kind);
	return kinds;
}

/**
 * gprof_source_features() - bit mask of the kinds' features, for INFO
 */
u64 gprof_source_features(void)
{
	u64 features = 0;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sources); i++) {
		if (sources[i]->features)
			features |= sources[i]->features();
	}
	return features;
}
