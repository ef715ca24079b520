// SPDX-License-Identifier: GPL-2.0-only
/*
 * source mutex: kind mutex. Who releases the locks of user space that others wait for; or
 * who waits for them. As far as the kernel sees it: in futex calls.
 */
#include "source.h"
#include "wait.h"

#include <linux/gprof.h>

static int setup(struct gprof_request *req, void **state)
{
	const struct gprof_mutex_params *p = req->params;
	const struct gprof_wait_spec spec = {
		.period = p->period,
		.by_waker = !(p->flags & GPROF_MUTEX_F_WAITER),
		.locks = true,
		.addr = p->flags & GPROF_MUTEX_F_ADDR,
	};

	req->reason = GPROF_REASON_FLAGS;
	if (p->flags & ~__GPROF_MUTEX_F_ALL)
		return -EOPNOTSUPP;
	return gprof_waits_setup(req, &spec, state);
}

const struct gprof_source gprof_source_mutex = {
	.kind = GPROF_KIND_MUTEX,
	.name = "mutex",
	.params_size = sizeof(struct gprof_mutex_params),
	.params_min = GPROF_MUTEX_PARAMS_SIZE_VER0,
	.bytes = gprof_waits_bytes,
	.setup = setup,
	.start = gprof_waits_start,
	.stop = gprof_waits_stop,
	.stats = gprof_waits_stats,
	.destroy = gprof_waits_destroy,
};
