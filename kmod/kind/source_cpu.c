// SPDX-License-Identifier: GPL-2.0-only
/*
 * source cpu: kind cpu. Checks the request, and hands it to the timer or to
 * a counter of perf.
 *
 * After cpuProfileConfig in the proposal golang/go 36821.
 */
#include "sample/sampler.h"
#include "source.h"

#include <linux/gprof.h>
#include <linux/perf_event.h>
#include <linux/slab.h>

/**
 * struct cpu_source - state of a recorder of kind cpu
 * @way: the source that does it
 * @state: its state
 */
struct cpu_source {
	const struct gprof_source_ops *way;
	void *state;
};

/* Of a task both of perf's clocks are the time that it runs. */
static bool is_timer(const struct gprof_cpu_params *p)
{
	return p->type == PERF_TYPE_SOFTWARE && (p->config == PERF_COUNT_SW_CPU_CLOCK ||
						 p->config == PERF_COUNT_SW_TASK_CLOCK);
}

/* Software events and PMUs of other architectures take any precise_ip, and know none. */
static bool can_be_precise(const struct gprof_cpu_params *p)
{
	return p->type != PERF_TYPE_SOFTWARE && IS_ENABLED(CONFIG_X86_64);
}

/* The kernel's own events are no interrupts: a recorder that takes each pays for each. */
static u64 shortest_period(const struct gprof_cpu_params *p)
{
	if (is_timer(p))
		return GPROF_CPU_TIMER_MIN;
	return p->type == PERF_TYPE_SOFTWARE ? 1 : GPROF_CPU_PERIOD_MIN;
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
	if (p->period < shortest_period(p) || p->period > GPROF_PERIOD_MAX)
		return -EINVAL;
	/* Tracepoints are another kind, with other rules; breakpoints carry addresses. */
	*reason = GPROF_REASON_EVENT;
	if (p->type == PERF_TYPE_TRACEPOINT || p->type == PERF_TYPE_BREAKPOINT)
		return -EOPNOTSUPP;
	return 0;
}

static u64 bytes(const struct gprof_request *req)
{
	return (is_timer(req->params) ? &gprof_source_timer : &gprof_source_pmu)->bytes(req);
}

static int setup(struct gprof_request *req, void **state)
{
	const struct gprof_cpu_params *p = req->params;
	struct cpu_source *s;
	int err;

	err = check_params(p, &req->reason) ?:
	      gprof_source_check_kernel(req, req->kernel_frames ||
					p->flags & (GPROF_CPU_F_KERNEL | GPROF_CPU_F_HV),
					&req->reason);
	if (err)
		return err;
	/* An idle CPU runs nobody: its time is not shared among the tasks that run. */
	req->reason = GPROF_REASON_FLAGS;
	if (p->flags & GPROF_CPU_F_IDLE && req->sampler->oncpu)
		return -EINVAL;
	req->reason = GPROF_REASON_NONE;
	s = kzalloc(sizeof(*s), GFP_KERNEL_ACCOUNT);
	if (!s)
		return -ENOMEM;
	s->way = is_timer(p) ? &gprof_source_timer : &gprof_source_pmu;
	err = s->way->setup(req, &s->state);
	if (err) {
		kfree(s);
		return err;
	}
	*state = s;
	return 0;
}

static int start(void *state, u32 *attached)
{
	struct cpu_source *s = state;

	return s->way->start(s->state, attached);
}

static void stop(void *state)
{
	struct cpu_source *s = state;

	s->way->stop(s->state);
}

static void stats(void *state, struct gprof_stats *stats)
{
	struct cpu_source *s = state;

	s->way->stats(s->state, stats);
}

static void destroy(void *state)
{
	struct cpu_source *s = state;

	s->way->destroy(s->state);
	kfree(s);
}

const struct gprof_source_ops gprof_source_cpu = {
	.kind = GPROF_KIND_CPU,
	.parallelism = true,
	.params_size = sizeof(struct gprof_cpu_params),
	.params_min = GPROF_CPU_PARAMS_SIZE_VER0,
	.bytes = bytes,
	.setup = setup,
	.start = start,
	.stop = stop,
	.stats = stats,
	.destroy = destroy,
};
