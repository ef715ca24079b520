// SPDX-License-Identifier: GPL-2.0-only
/*
 * source pmu: kind cpu. A hardware or software counter of perf overflows every
 * period events, and each overflow is a sample that stands for the period.
 *
 * After cpuProfileConfig in the proposal golang/go 36821.
 */
#include "attach.h"
#include "sampler.h"
#include "source.h"
#include "target.h"

#include <linux/gprof.h>
#include <linux/perf_event.h>
#include <linux/security.h>

static bool is_timer(const struct gprof_cpu_params *p)
{
	return p->type == PERF_TYPE_SOFTWARE && (p->config == PERF_COUNT_SW_CPU_CLOCK ||
						 p->config == PERF_COUNT_SW_TASK_CLOCK);
}

/* Software events and arm64's PMUs take any precise_ip, and know none. */
static bool can_be_precise(const struct gprof_cpu_params *p)
{
	return p->type != PERF_TYPE_SOFTWARE && !IS_ENABLED(CONFIG_ARM64);
}

static int check_params(const struct gprof_cpu_params *p, u32 *reason)
{
	*reason = GPROF_REASON_FLAGS;
	if (p->flags & ~__GPROF_CPU_F_ALL)
		return -EOPNOTSUPP;
	*reason = GPROF_REASON_PRECISE;
	if (p->precise > 3)
		return -EINVAL;
	if (p->precise && !can_be_precise(p))
		return -EOPNOTSUPP;
	*reason = GPROF_REASON_PERIOD;
	if (p->period < (is_timer(p) ? GPROF_CPU_TIMER_MIN : GPROF_CPU_PERIOD_MIN) ||
	    p->period > GPROF_PERIOD_MAX)
		return -EINVAL;
	/* Tracepoints are another kind, with other rules; breakpoints carry addresses. */
	*reason = GPROF_REASON_EVENT;
	if (p->type == PERF_TYPE_TRACEPOINT || p->type == PERF_TYPE_BREAKPOINT)
		return -EOPNOTSUPP;
	return 0;
}

static int check_privilege(const struct gprof_request *req, const struct gprof_cpu_params *p,
			   u32 *reason)
{
	if (!req->kernel_frames && !(p->flags & (GPROF_CPU_F_KERNEL | GPROF_CPU_F_HV)))
		return 0;
	*reason = GPROF_REASON_KERNEL_DENIED;
	if (!req->target->privileged)
		return -EPERM;
	*reason = GPROF_REASON_LOCKDOWN;
	return security_locked_down(LOCKDOWN_PERF) ? -EPERM : 0;
}

static void fill_attr(struct perf_event_attr *attr, const struct gprof_cpu_params *p)
{
	attr->size = sizeof(*attr);
	attr->type = p->type;
	attr->config = p->config;
	attr->config1 = p->config1;
	attr->config2 = p->config2;
	attr->sample_period = p->period;
	attr->precise_ip = p->precise;
	attr->exclude_kernel = !(p->flags & GPROF_CPU_F_KERNEL);
	attr->exclude_hv = !(p->flags & GPROF_CPU_F_HV);
	attr->exclude_guest = 1;
	attr->sample_type = PERF_SAMPLE_IP;
	attr->sample_max_stack = GPROF_MAX_FRAMES;
	if (p->flags & GPROF_CPU_F_ADDR)
		attr->sample_type |= PERF_SAMPLE_ADDR;
	/*
	 * A precise event brings the registers of another instruction than the
	 * stack's; its driver walks the stack. It also keeps PEBS from handing
	 * over several samples at once, all but one of which would be lost.
	 */
	if (p->precise)
		attr->sample_type |= PERF_SAMPLE_CALLCHAIN;
}

/* Which argument does perf's errno speak of? */
static u32 reason_of(int err, const struct gprof_cpu_params *p)
{
	switch (err) {
	case -ESRCH:
		return GPROF_REASON_TASK_GONE;
	case -ENODEV:
		return GPROF_REASON_CPU;
	case -EOPNOTSUPP:
	case -EINVAL:
		return p->precise ? GPROF_REASON_PRECISE : GPROF_REASON_EVENT;
	case -EPERM:
	case -EACCES:
		return GPROF_REASON_EXCLUDE;
	default:
		return GPROF_REASON_EVENT;
	}
}

static int setup(struct gprof_request *req, void **state)
{
	const struct gprof_cpu_params *p = req->params;
	struct gprof_counter_spec spec = {
		.target = req->target,
		.sampler = req->sampler,
		.with_idle = p->flags & GPROF_CPU_F_IDLE,
		.addr = p->flags & GPROF_CPU_F_ADDR,
	};
	int err;

	err = check_params(p, &req->reason) ?: check_privilege(req, p, &req->reason);
	if (err)
		return err;
	fill_attr(&spec.attr, p);
	/* A clock runs in every mode; the handler tells them apart as well as perf would. */
	if (is_timer(p) && spec.attr.exclude_kernel) {
		spec.user_only = true;
		spec.attr.exclude_kernel = 0;
	}
	err = gprof_counter_try(&spec);
	if (err) {
		req->reason = reason_of(err, p);
		return err;
	}
	*state = gprof_counters_new(&spec);
	if (!*state)
		return -ENOMEM;
	req->weight = p->period;
	req->kernel = p->flags & GPROF_CPU_F_KERNEL;
	return 0;
}

const struct gprof_source gprof_source_pmu = {
	.kind = GPROF_KIND_CPU,
	.name = "cpu",
	.params_size = sizeof(struct gprof_cpu_params),
	.params_min = GPROF_CPU_PARAMS_SIZE_VER0,
	.setup = setup,
	.start = gprof_counters_start,
	.stop = gprof_counters_stop,
	.stats = gprof_counters_stats,
	.destroy = gprof_counters_destroy,
};
