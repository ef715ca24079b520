// SPDX-License-Identifier: GPL-2.0-only
/*
 * source pmu: kind cpu with a counter. A hardware or software counter of perf
 * overflows every period events, and each overflow is a sample that stands for the
 * period.
 *
 * The right to count is checked as for all recorders (target.c), and no looser than perf
 * checks it: not where the administrator has closed perf to users, and of user mode
 * alone where the counter itself can leave out the kernel.
 */
#include "kind/source.h"
#include "sample/sampler.h"
#include "counter_share.h"
#include "target/target.h"
#include "user/paranoid.h"
#include "user/turn.h"

#include <linux/gprof.h>
#include <linux/perf_event.h>

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
	case -EAGAIN:
		return GPROF_REASON_GRACE;
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

static u64 pmu_bytes(const struct gprof_request *req)
{
	return gprof_counters_bytes(req->target);
}

static int wait_for_turn(const struct gprof_target *target, u32 type, struct task_struct *caller)
{
	return target->privileged || type != PERF_TYPE_SOFTWARE ? 0 : gprof_turn_wait(caller);
}

static int pmu_setup(struct gprof_request *req, void **state)
{
	const struct gprof_cpu_params *p = req->params;
	struct gprof_counter_spec spec = {
		.target = req->target,
		.sampler = req->sampler,
		.with_idle = p->flags & GPROF_CPU_F_IDLE,
	};
	int err;

	if (!req->target->privileged && !gprof_perf_is_for_all()) {
		req->reason = GPROF_REASON_PARANOID;
		return -EPERM;
	}
	err = wait_for_turn(req->target, p->type, current);
	if (err) {
		req->reason = GPROF_REASON_TURN;
		return err;
	}
	fill_attr(&spec.attr, p);
	err = gprof_counter_try(&spec);
	if (err) {
		req->reason = reason_of(err, p);
		/* Dynamic probes have this for EPERM. */
		return err == -EACCES ? -EPERM : err;
	}
	*state = gprof_counters_new(&spec, req->charge);
	if (!*state)
		return -ENOMEM;
	req->weight = p->period;
	req->kernel = p->flags & GPROF_CPU_F_KERNEL;
	return 0;
}

static int pmu_start(void *state, u32 *attached)
{
	struct gprof_counters *c = state;
	const struct gprof_counter_spec *spec = &c->consumer.spec;

	return wait_for_turn(spec->target, spec->attr.type, spec->target->caller) ?:
		       gprof_counters_start(c, attached);
}

const struct gprof_source_ops gprof_source_pmu = {
	.kind = GPROF_KIND_CPU,
	.bytes = pmu_bytes,
	.setup = pmu_setup,
	.start = pmu_start,
	.stop = gprof_counters_stop,
	.stats = gprof_counters_stats,
	.destroy = gprof_counters_destroy,
};
