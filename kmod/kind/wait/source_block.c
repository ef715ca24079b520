// SPDX-License-Identifier: GPL-2.0-only
/*
 * source block: kind block. Where tasks wait, for what and for how long; or the wakers that
 * end their waits.
 */
#include "kind/source.h"
#include "wait.h"

#include <linux/gprof.h>

static int block_setup(struct gprof_request *req, void **state)
{
	const struct gprof_block_params *p = req->params;
	const struct gprof_wait_spec spec = {
		.period = p->period,
		.by_waker = p->flags & GPROF_BLOCK_F_WAKER,
	};

	req->reason = GPROF_REASON_FLAGS;
	if (p->flags & ~__GPROF_BLOCK_F_ALL)
		return -EOPNOTSUPP;
	return gprof_waits_setup(req, &spec, state);
}

const struct gprof_source_ops gprof_source_block = {
	.kind = GPROF_KIND_BLOCK,
	.params_size = sizeof(struct gprof_block_params),
	.params_min = GPROF_BLOCK_PARAMS_SIZE_VER0,
	.bytes = gprof_waits_bytes,
	.setup = block_setup,
	.start = gprof_waits_start,
	.last = gprof_waits_last,
	.stop = gprof_waits_stop,
	.stats = gprof_waits_stats,
	.destroy = gprof_waits_destroy,
};
