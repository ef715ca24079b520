// SPDX-License-Identifier: GPL-2.0-only
/*
 * source timer: kind cpu with the timer. Every period nanoseconds of the target's
 * CPU time are a sample.
 *
 * A clock of our own and not perf's, whose way to an overflow costs as much as all
 * that we do with it.
 */
#include "kind/source.h"
#include "target/target.h"
#include "timer.h"

#include <linux/gprof.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>

static bool is_alive(const struct gprof_target *t)
{
	struct task_struct *task;
	bool alive = false;

	if (t->type == GPROF_TARGET_THREAD)
		return !(t->task->flags & PF_EXITING);
	rcu_read_lock();
	for_each_thread(t->task, task)
		alive |= !(task->flags & PF_EXITING);
	rcu_read_unlock();
	return alive;
}

static u64 timer_bytes(const struct gprof_request *req)
{
	return gprof_timer_bytes(req->target);
}

static int setup_timer(struct gprof_request *req, void **state)
{
	const struct gprof_cpu_params *p = req->params;
	struct gprof_clock_spec spec = {
		.target = req->target,
		.sampler = req->sampler,
		.period = p->period,
		.with_idle = p->flags & GPROF_CPU_F_IDLE,
		.user_only = !(p->flags & GPROF_CPU_F_KERNEL),
	};

	if (gprof_target_is_tasks(req->target) && !is_alive(req->target)) {
		req->reason = GPROF_REASON_TASK_GONE;
		return -ESRCH;
	}
	*state = gprof_timer_new(&spec, req->charge);
	if (!*state)
		return -ENOMEM;
	req->weight = p->period;
	req->kernel = p->flags & GPROF_CPU_F_KERNEL;
	return 0;
}

const struct gprof_source_ops gprof_source_timer = {
	.kind = GPROF_KIND_CPU,
	.bytes = timer_bytes,
	.setup = setup_timer,
	.start = gprof_timer_start,
	.stop = gprof_timer_stop,
	.stats = gprof_timer_stats,
	.destroy = gprof_timer_destroy,
};
