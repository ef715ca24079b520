// SPDX-License-Identifier: GPL-2.0-only
/*
 * source tracepoint: kind profile. Every period-th hit of a kernel tracepoint
 * is a sample with the stack that led there.
 *
 * It goes through perf's tracepoint events, which know the target's tasks and
 * what they fork, rather than through a probe of its own.
 */
#include "share.h"
#include "source.h"
#include "target.h"

#include <linux/gprof.h>
#include <linux/perf_event.h>
#include <linux/security.h>

static int check(const struct gprof_request *req, const struct gprof_profile_params *p,
		 u32 *reason)
{
	*reason = GPROF_REASON_FLAGS;
	if (p->flags)
		return -EOPNOTSUPP;
	*reason = GPROF_REASON_PERIOD;
	if (!p->period || p->period > GPROF_PERIOD_MAX)
		return -EINVAL;
	*reason = GPROF_REASON_KERNEL_DENIED;
	if (!req->target->privileged)
		return -EPERM;
	*reason = GPROF_REASON_LOCKDOWN;
	return security_locked_down(LOCKDOWN_PERF) ? -EPERM : 0;
}

static u64 bytes(const struct gprof_request *req)
{
	return gprof_counters_bytes(req->target);
}

static int setup(struct gprof_request *req, void **state)
{
	const struct gprof_profile_params *p = req->params;
	struct gprof_counter_spec spec = {
		.attr = {
			.size = sizeof(spec.attr),
			.type = PERF_TYPE_TRACEPOINT,
			.config = p->tracepoint,
			.sample_period = p->period,
			.sample_type = PERF_SAMPLE_IP,
		},
		.target = req->target,
		.sampler = req->sampler,
		.with_idle = true,
	};
	int err;

	err = check(req, p, &req->reason);
	if (err)
		return err;
	err = gprof_counter_try(&spec);
	if (err) {
		/* perf says EINVAL for a number that no tracepoint has. */
		req->reason = err == -ESRCH ? GPROF_REASON_TASK_GONE : GPROF_REASON_EVENT;
		return err == -EINVAL ? -ENOENT : err;
	}
	*state = gprof_counters_new(&spec, req->charge);
	if (!*state)
		return -ENOMEM;
	req->weight = p->period;
	req->kernel = true;
	return 0;
}

const struct gprof_source gprof_source_tracepoint = {
	.kind = GPROF_KIND_PROFILE,
	.name = "profile",
	.params_size = sizeof(struct gprof_profile_params),
	.params_min = GPROF_PROFILE_PARAMS_SIZE_VER0,
	.bytes = bytes,
	.setup = setup,
	.start = gprof_counters_start,
	.stop = gprof_counters_stop,
	.stats = gprof_counters_stats,
	.destroy = gprof_counters_destroy,
};
