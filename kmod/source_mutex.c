// SPDX-License-Identifier: GPL-2.0-only
/*
 * source mutex: kind mutex. Who releases the locks of user space that others wait for; or
 * who waits for them. As far as the kernel sees it: in futex calls.
 */
#include "source.h"
#include "target.h"
#include "wait.h"

#include <linux/gprof.h>
#include <linux/security.h>

static int check(const struct gprof_request *req, u32 *reason)
{
	const struct gprof_mutex_params *p = req->params;

	*reason = GPROF_REASON_FLAGS;
	if (p->flags & ~__GPROF_MUTEX_F_ALL)
		return -EOPNOTSUPP;
	*reason = GPROF_REASON_PERIOD;
	if (!p->period || p->period > GPROF_PERIOD_MAX)
		return -EINVAL;
	if (!req->kernel_frames)
		return 0;
	*reason = GPROF_REASON_KERNEL_DENIED;
	if (!req->target->privileged)
		return -EPERM;
	*reason = GPROF_REASON_LOCKDOWN;
	return security_locked_down(LOCKDOWN_PERF) ? -EPERM : 0;
}

static int setup(struct gprof_request *req, void **state)
{
	const struct gprof_mutex_params *p = req->params;
	const struct gprof_wait_spec spec = {
		.period = p->period,
		.by_waker = !(p->flags & GPROF_MUTEX_F_WAITER),
		.locks = true,
		.addr = p->flags & GPROF_MUTEX_F_ADDR,
	};
	int err;

	err = check(req, &req->reason);
	if (err)
		return err;
	req->reason = GPROF_REASON_NONE;
	*state = gprof_waits_new(req, &spec);
	return *state ? 0 : -ENOMEM;
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
