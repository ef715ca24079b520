// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * alloc_kind.c: memory that the kernel allocates, and what of it is live.
 */
#include "kind.h"

#include <errno.h>

#define DEFAULT_BYTES	(512ULL << 10)

int gprof_alloc_kind_source(const struct gprof_kind *kind, const struct gprof_kind_config *cfg,
			    union gprof_kind_params *params, struct gprof_source *out,
			    struct gprof_error *e)
{
	uint64_t period = cfg->rate ? cfg->rate : DEFAULT_BYTES;

	if (period > GPROF_ALLOC_PERIOD_MAX)
		return gprof_error_set(e, EINVAL, "%s: %llu bytes per sample are too many; at most "
				       "%llu", kind->name, (unsigned long long)period,
				       (unsigned long long)GPROF_ALLOC_PERIOD_MAX);
	params->alloc = (struct gprof_alloc_params){
		.size = sizeof(params->alloc),
		.flags = kind->flags,
		.period = period,
	};
	out->params = &params->alloc;
	out->columns.period = period;
	return 0;
}
