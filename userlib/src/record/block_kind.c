// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * block_kind.c: waits, and the tasks that end them.
 */
#include "kind.h"

#include <errno.h>

int gprof_block_kind_source(const struct gprof_kind *kind, const struct gprof_kind_config *cfg,
			    union gprof_kind_params *params, struct gprof_stream_source *out,
			    struct gprof_error *e)
{
	uint64_t period = gprof_kind_period(kind, cfg, e);

	if (!period)
		return -e->err;
	params->block = (struct gprof_block_params){
		.size = sizeof(params->block),
		.flags = kind->flags,
		.period = period,
	};
	out->params = &params->block;
	out->columns.period = period;
	return 0;
}
