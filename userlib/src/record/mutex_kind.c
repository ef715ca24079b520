// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * mutex_kind.c: tasks that release locks that others wait for, and the waiters.
 */
#include "kind.h"

#include <errno.h>

int gprof_mutex_kind_source(const struct gprof_kind *kind, const struct gprof_kind_config *cfg,
			    union gprof_kind_params *params, struct gprof_stream_source *out,
			    struct gprof_error *e)
{
	uint64_t period = gprof_kind_period(kind, cfg, e);

	if (!period)
		return -e->err;
	params->mutex = (struct gprof_mutex_params){
		.size = sizeof(params->mutex),
		.flags = kind->flags |
			 (cfg->flags & GPROF_RECORD_ADDR ? GPROF_MUTEX_F_ADDR : 0) |
			 (cfg->flags & GPROF_RECORD_OWNER && kind->flags & GPROF_MUTEX_F_KERNEL ?
			  GPROF_MUTEX_F_OWNER : 0),
		.period = period,
	};
	out->params = &params->mutex;
	out->columns.period = period;
	return 0;
}
