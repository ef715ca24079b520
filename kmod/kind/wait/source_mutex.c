// SPDX-License-Identifier: GPL-2.0-only
/*
 * source mutex: kind mutex. The tasks that release the locks of user space that others wait
 * for; or their waiters. As far as the kernel sees it: in futex calls. Or the waiters for the
 * kernel's own.
 */
#include "kind/source.h"
#include "wait.h"

#include <linux/gprof.h>

static u64 features(void)
{
	return gprof_tp_exists(GPROF_TP_LOCK_BEGIN) && gprof_tp_exists(GPROF_TP_LOCK_END) ?
		       GPROF_FEAT_KERNEL_LOCKS :
		       0;
}

/* Places of the kernel's locks, and tasks at them, are for users that may see the kernel. */
static int check_kernel(const struct gprof_request *req, u32 *reason)
{
	const struct gprof_mutex_params *p = req->params;

	*reason = GPROF_REASON_FLAGS;
	if (!(p->flags & GPROF_MUTEX_F_WAITER))
		return -EOPNOTSUPP;
	*reason = GPROF_REASON_EVENT;
	if (!features())
		return -EOPNOTSUPP;
	return gprof_source_check_kernel(req, true, reason);
}

static u64 bytes(const struct gprof_request *req)
{
	const struct gprof_mutex_params *p = req->params;

	return gprof_waits_bytes(req) +
	       (p->flags & GPROF_MUTEX_F_OWNER ? gprof_waits_owner_bytes(req) : 0);
}

static int mutex_setup(struct gprof_request *req, void **state)
{
	const struct gprof_mutex_params *p = req->params;
	bool in_kernel = p->flags & GPROF_MUTEX_F_KERNEL;
	const struct gprof_wait_spec spec = {
		.period = p->period,
		.by_waker = !(p->flags & GPROF_MUTEX_F_WAITER),
		.locks = !in_kernel,
		.addr = p->flags & GPROF_MUTEX_F_ADDR,
		.in_kernel = in_kernel,
		.owner = p->flags & GPROF_MUTEX_F_OWNER,
	};
	int err;

	req->reason = GPROF_REASON_FLAGS;
	if (p->flags & ~__GPROF_MUTEX_F_ALL)
		return -EOPNOTSUPP;
	/* The owner of a lock of user space is the task that releases it. */
	if (p->flags & GPROF_MUTEX_F_OWNER && !in_kernel)
		return -EINVAL;
	err = in_kernel ? check_kernel(req, &req->reason) : 0;
	return err ?: gprof_waits_setup(req, &spec, state);
}

const struct gprof_source_ops gprof_source_mutex = {
	.kind = GPROF_KIND_MUTEX,
	.params_size = sizeof(struct gprof_mutex_params),
	.params_min = GPROF_MUTEX_PARAMS_SIZE_VER0,
	.features = features,
	.bytes = bytes,
	.setup = mutex_setup,
	.start = gprof_waits_start,
	.last = gprof_waits_last,
	.stop = gprof_waits_stop,
	.stats = gprof_waits_stats,
	.destroy = gprof_waits_destroy,
};
