// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * mutex_kind.c: tasks that release locks that others wait for, and the waiters.
 */
#include "kind.h"

int gprof_mutex_kind_source(const struct gprof_kind *kind, const struct gprof_kind_config *cfg,
			    union gprof_kind_params *params, struct gprof_stream_source *out,
			    struct gprof_error *e)
{
	int err = gprof_period_kind_source(kind, cfg, params, out, e);

	/* Releases are charged with the waits for their own lock. */
	out->columns.by_release = !(kind->flags & GPROF_MUTEX_F_WAITER);
	out->columns.addr = cfg->flags & GPROF_RECORD_ADDR;
	if (out->columns.addr || out->columns.by_release)
		params->period.flags |= GPROF_MUTEX_F_ADDR;
	if (cfg->flags & GPROF_RECORD_OWNER && kind->flags & GPROF_MUTEX_F_KERNEL)
		params->period.flags |= GPROF_MUTEX_F_OWNER;
	return err;
}
