// SPDX-License-Identifier: GPL-2.0-only
/*
 * source tracepoint: kind profile. Every period-th hit of a kernel tracepoint, or one
 * in so many of those that pass a filter, is a sample with the stack that led there.
 *
 * It goes through perf's tracepoint events, which know the target's tasks and
 * the tasks that they fork, rather than through a probe of its own.
 */
#include "kind/source.h"
#include "probe/filter.h"
#include "counter_share.h"

#include <linux/err.h>
#include <linux/gprof.h>
#include <linux/perf_event.h>
#include <linux/slab.h>

static int check(const struct gprof_request *req, const struct gprof_tracepoint_params *p,
		 u32 *reason)
{
	*reason = GPROF_REASON_FLAGS;
	if (p->flags)
		return -EOPNOTSUPP;
	*reason = GPROF_REASON_PERIOD;
	if (!p->period || p->period > GPROF_PERIOD_MAX)
		return -EINVAL;
	return gprof_source_check_kernel(req, true, reason);
}

/**
 * struct profile - state of a recorder of kind profile
 * @counters: of the tracepoint
 * @filter: which hits are events, or NULL: all
 */
struct tracepoint_source {
	struct gprof_counters *counters;
	struct gprof_filter *filter;
};

static u64 features(void)
{
	return GPROF_FEAT_FILTERS;
}

static u64 tracepoint_bytes(const struct gprof_request *req)
{
	const struct gprof_tracepoint_params *p = req->params;

	return gprof_counters_bytes(req->target) +
	       gprof_filter_bytes(min_t(u32, p->filter_steps, GPROF_FILTER_STEPS_MAX),
				  min_t(u32, p->filter_text_size, GPROF_FILTER_TEXT_MAX));
}

static int copy_filter(const struct gprof_tracepoint_params *p, struct tracepoint_source *s,
		       u32 *reason)
{
	struct gprof_filter *f;

	*reason = GPROF_REASON_PARAMS;
	if (!p->filter)
		return p->filter_steps || p->filter_text || p->filter_text_size ? -EINVAL : 0;
	f = gprof_filter_new(u64_to_user_ptr(p->filter), p->filter_steps,
			     u64_to_user_ptr(p->filter_text), p->filter_text_size);
	if (IS_ERR(f))
		return PTR_ERR(f);
	s->filter = f;
	return 0;
}

static int make_counters(struct gprof_request *req, struct tracepoint_source *s)
{
	const struct gprof_tracepoint_params *p = req->params;
	struct gprof_counter_spec spec = {
		.attr = {
			.size = sizeof(spec.attr),
			.type = PERF_TYPE_TRACEPOINT,
			.config = p->tracepoint,
			.sample_period = p->period,
			.sample_type = PERF_SAMPLE_IP | (s->filter ? PERF_SAMPLE_RAW : 0),
		},
		.target = req->target,
		.sampler = req->sampler,
		.filter = s->filter,
		.with_idle = true,
	};
	int err = gprof_counter_try(&spec);

	if (err) {
		/* perf says EINVAL for a number that no tracepoint has. */
		req->reason = err == -ESRCH ? GPROF_REASON_TASK_GONE :
			      err == -EAGAIN ? GPROF_REASON_GRACE : GPROF_REASON_EVENT;
		return err == -EINVAL ? -ENOENT : err;
	}
	req->reason = GPROF_REASON_NONE;
	s->counters = gprof_counters_new(&spec, req->charge);
	return s->counters ? 0 : -ENOMEM;
}

static void destroy(void *state)
{
	struct tracepoint_source *s = state;

	if (s->counters)
		gprof_counters_destroy(s->counters);
	gprof_filter_free(s->filter);
	kfree(s);
}

static int tracepoint_setup(struct gprof_request *req, void **state)
{
	const struct gprof_tracepoint_params *p = req->params;
	int err = check(req, p, &req->reason);
	struct tracepoint_source *s;

	if (err)
		return err;
	req->reason = GPROF_REASON_NONE;
	s = kzalloc(sizeof(*s), GFP_KERNEL_ACCOUNT);
	if (!s)
		return -ENOMEM;
	err = copy_filter(p, s, &req->reason) ?: make_counters(req, s);
	if (err) {
		destroy(s);
		return err;
	}
	*state = s;
	req->weight = p->period;
	req->kernel = true;
	return 0;
}

static int tracepoint_start(void *state, u32 *attached)
{
	return gprof_counters_start(((struct tracepoint_source *)state)->counters, attached);
}

static void stop(void *state)
{
	gprof_counters_stop(((struct tracepoint_source *)state)->counters);
}

static void stats(void *state, struct gprof_stats *stats)
{
	gprof_counters_stats(((struct tracepoint_source *)state)->counters, stats);
}

const struct gprof_source_ops gprof_source_tracepoint = {
	.kind = GPROF_KIND_TRACEPOINT,
	.parallelism = true,
	.params_size = sizeof(struct gprof_tracepoint_params),
	.params_min = GPROF_TRACEPOINT_PARAMS_SIZE_VER0,
	.features = features,
	.bytes = tracepoint_bytes,
	.setup = tracepoint_setup,
	.start = tracepoint_start,
	.stop = stop,
	.stats = stats,
	.destroy = destroy,
};
