// SPDX-License-Identifier: GPL-2.0-only
/*
 * counter: one kernel counter of perf, whose overflows become samples.
 */
#include "counter.h"
#include "sampler.h"
#include "target.h"
#include "compat/perf.h"

#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/math64.h>
#include <linux/ptrace.h>
#include <linux/sched.h>

/*
 * How many events does this overflow stand for? A period, usually. More when
 * the interrupt came late by a period or more: perf forgets those. The count
 * itself, which perf has just brought up to date, forgets nothing, so the sum
 * over samples follows it.
 *
 * The answer is a multiple of the period, so that a sample of the usual weight
 * need not carry it; what is left over waits, for perf too makes the next
 * period shorter by it. The first overflow of a counter with a random phase
 * comes early and is a sample all the same.
 */
static u64 take_weight(struct perf_event *event, u64 period)
{
	u64 *stamp = gprof_counter_stamp(event);
	s64 waiting = local64_read(&event->count) - *stamp;
	u64 weight = period;

	if (waiting >= (s64)(2 * period))
		weight = div64_u64(waiting, period) * period;
	*stamp += weight;
	return weight;
}

/* NMI, interrupt or task context, preemption off: perf's overflow handler. */
static void overflow(struct perf_event *event, struct perf_sample_data *data,
		     struct pt_regs *regs)
{
	const struct gprof_counter_spec *c = event->overflow_handler_context;
	u64 weight = take_weight(event, c->attr.sample_period);
	struct gprof_capture capture __uninitialized;

	if (!c->with_idle && is_idle_task(current))
		return;
	if (c->user_only && !user_mode(regs))
		return;
	if (!gprof_target_has_current(c->target))
		return;
	gprof_capture(&capture, regs, 0);
	capture.chain = gprof_driver_callchain(event, data);
	if (gprof_counter_throttled(event))
		capture.flags = GPROF_SAMPLE_REC_F_THROTTLED;
	if (c->addr && data->addr) {
		capture.flags |= GPROF_SAMPLE_REC_F_ADDR;
		capture.addr = data->addr;
	}
	gprof_emit(&capture, c->sampler, weight);
	gprof_captured(&capture);
}

/**
 * gprof_counter_create() - make a counter
 * @c: what it counts; outlives it
 * @cpu: where, or -1 for wherever @task runs
 * @task: whom, or NULL for everything on @cpu
 * @enable: when it begins
 *
 * Context: Task.
 * Return: counter for perf_event_release_kernel(), or perf's errno.
 */
struct perf_event *gprof_counter_create(struct gprof_counter_spec *c, int cpu,
					struct task_struct *task, enum gprof_enable enable)
{
	struct perf_event_attr attr = c->attr;

	attr.inherit = c->target->type == GPROF_TARGET_PROCESS;
	attr.enable_on_exec = enable == GPROF_ON_EXEC;
	attr.disabled = enable != GPROF_NOW;
	return perf_event_create_kernel_counter(&attr, cpu, task, overflow, c);
}

/*
 * Some PMUs cannot leave a mode out; then the handler does, from the registers. The
 * count, and when it overflows, still tell of the kernel: not for everybody.
 */
static void exclude_nothing(struct gprof_counter_spec *c)
{
	c->user_only = c->attr.exclude_kernel;
	c->attr.exclude_kernel = 0;
	c->attr.exclude_hv = 0;
	c->attr.exclude_guest = 0;
}

static int try_once(struct gprof_counter_spec *c)
{
	struct task_struct *task = gprof_target_is_tasks(c->target) ? c->target->task : NULL;
	int cpu = task ? -1 : cpumask_any_and(c->target->cpus, cpu_online_mask);
	struct perf_event *event = gprof_counter_create(c, cpu, task, GPROF_NEVER);

	if (IS_ERR(event))
		return PTR_ERR(event);
	perf_event_release_kernel(event);
	return 0;
}

/**
 * gprof_counter_try() - find out whether the event exists here
 * @c: what to count; what the PMU cannot leave out is left to the handler
 *
 * Context: Task, in SETUP.
 * Return: 0; perf's errno: -ENOENT, -EOPNOTSUPP, -EINVAL, ...; -EACCES for who may
 * not count the kernel, where the PMU cannot but do so.
 */
int gprof_counter_try(struct gprof_counter_spec *c)
{
	struct gprof_counter_spec saved = *c;
	int err = try_once(c);

	if (err != -EINVAL || !(c->attr.exclude_hv | c->attr.exclude_kernel))
		return err;
	exclude_nothing(c);
	if (!try_once(c)) {
		if (c->target->privileged)
			return 0;
		err = -EACCES;
	}
	c->attr = saved.attr;
	c->user_only = saved.user_only;
	return err;
}
