// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * count.c: how often events happened, without a sample of them.
 *
 * The module's counters, of recorders whose period is too long for a sample: they check the
 * caller's rights, and follow the forks of a process. Only those of a cgroup are perf's own.
 */
#include <gprof/count.h>

#include <errno.h>
#include <linux/gprof.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "base/opts.h"
#include "device/cpu_source.h"
#include "device/device.h"
#include "device/perf_counter.h"
#include "device/target.h"
#include "device/tracepoint.h"

#define EVENTS_MAX	64
#define FLAGS_ALL	(GPROF_COUNT_USER | GPROF_COUNT_KERNEL | GPROF_COUNT_PARTIAL)
#define BUFFER		4096	/* the shortest; nothing comes into it */

/**
 * struct counter - one event
 * @name: name
 * @event: its numbers; of a tracepoint as perf has them
 * @dev: recorder of the module, or none
 * @perf: counters of a cgroup, where @dev is none
 * @base: the recorder's count at the start
 * @perf_base: likewise
 * @user_only: the kernel is left out
 * @doubtful: 0 may mean that the module cannot tell
 * @cpu_time: the time that it counted is the count
 * @error: why it is not counted, or none
 */
struct counter {
	char *name;
	struct gprof_event event;
	struct gprof_own_fd dev;
	struct gprof_perf_counter perf;
	struct gprof_stats base;
	struct gprof_perf_count perf_base;
	bool user_only;
	bool doubtful;
	bool cpu_time;
	struct gprof_error error;
};

/**
 * struct gprof_counting - counters of one target
 * @kernel_target: the target
 * @flags: GPROF_COUNT_*
 * @on_exec: from the next exec on
 * @started: between start and stop
 * @counters: one for each event
 * @nr: how many
 * @error: last failure
 */
struct gprof_counting {
	struct gprof_kernel_target kernel_target;
	unsigned int flags;
	bool on_exec;
	bool started;
	struct counter *counters;
	size_t nr;
	struct gprof_error error;
};

static bool is_tasks(const struct gprof_kernel_target *a)
{
	return a->target == GPROF_TARGET_THREAD || a->target == GPROF_TARGET_PROCESS;
}

static bool is_tracepoint(const char *name)
{
	return strchr(name, ':') && !strchr(name, '/');
}

static int setup(struct counter *c, const struct gprof_counting *all, uint32_t kind,
		 const void *params, struct gprof_error *e)
{
	struct gprof_setup setup = {
		.flags = all->on_exec ? GPROF_SETUP_F_ON_EXEC : 0,
		.kind = kind,
		.target = all->kernel_target.target,
		.id = all->kernel_target.id,
		.cpus = (uintptr_t)all->kernel_target.cpus,
		.cpus_size = (uint32_t)all->kernel_target.cpus_size,
		.params = (uintptr_t)params,
		.buffer_size = BUFFER,
	};
	struct gprof_info info;
	int err;

	err = gprof_device_open(&c->dev, e);
	if (err)
		return err;
	err = gprof_device_info(&c->dev, &info, e);
	if (!err)
		err = gprof_device_setup(&c->dev, &setup, c->name, e);
	if (!err)
		return 0;
	gprof_own_fd_close(&c->dev);
	return err;
}

static int open_tracepoint(struct counter *c, const struct gprof_counting *all,
			   struct gprof_error *e)
{
	struct gprof_tracepoint_params params = {
		.size = sizeof(params),
		.period = GPROF_PERIOD_MAX,
	};
	uint64_t id = 0;
	int err;

	if (all->flags & GPROF_COUNT_USER)
		return gprof_error_set(e, EINVAL,
				       "%s: a tracepoint happens in the kernel alone, which is left "
				       "out", c->name);
	err = gprof_tracepoint_find(NULL, c->name, &id, e);
	if (err)
		return err;
	params.tracepoint = id;
	c->event.pmu.type = PERF_TYPE_TRACEPOINT;
	c->event.pmu.config[0] = id;
	if (all->kernel_target.target == GPROF_TARGET_CGROUP)
		return gprof_perf_counter_open(&c->perf, &c->event.pmu, all->kernel_target.cgroup,
					       true, c->name, e);
	return setup(c, all, GPROF_KIND_TRACEPOINT, &params, e);
}

/* CPUs count the idle task too, as perf stat has it. */
static unsigned int flags_for(const struct gprof_counting *all, bool kernel)
{
	return (kernel ? GPROF_EVENT_KERNEL : 0) |
	       (is_tasks(&all->kernel_target) ? 0 : GPROF_EVENT_IDLE);
}

static int open_in_modes(struct counter *c, const struct gprof_counting *all, bool kernel,
			 struct gprof_error *e)
{
	const struct gprof_cpu_event ev = { .name = c->name, .flags = flags_for(all, kernel) };
	struct gprof_cpu_source source;
	int err = gprof_cpu_source_init(&source, &ev, e);

	if (err)
		return err;
	c->event = source.event;
	c->user_only = !kernel;
	if (all->kernel_target.target == GPROF_TARGET_CGROUP)
		return gprof_perf_counter_open(&c->perf, &c->event.pmu, all->kernel_target.cgroup,
					       kernel, c->name, e);
	source.params.period = GPROF_PERIOD_MAX;
	return setup(c, all, GPROF_KIND_CPU, &source.params, e);
}

/* Counters of the core can leave the kernel out, even where others cannot. */
static bool leaves_out(const struct gprof_event *ev)
{
	return ev->pmu.type == PERF_TYPE_HARDWARE || ev->pmu.type == PERF_TYPE_HW_CACHE ||
	       ev->pmu.type == PERF_TYPE_RAW || (ev->pmu.type == PERF_TYPE_SOFTWARE && !ev->timer);
}

static int open_counter(struct counter *c, const struct gprof_counting *all, struct gprof_error *e)
{
	bool kernel = !(all->flags & GPROF_COUNT_USER);
	int err;

	if (is_tracepoint(c->name))
		return open_tracepoint(c, all, e);
	err = open_in_modes(c, all, kernel, e);
	if (err == -EPERM && kernel && !(all->flags & GPROF_COUNT_KERNEL)) {
		gprof_perf_counter_close(&c->perf);
		err = open_in_modes(c, all, false, e);
	}
	if (err)
		return err;
	c->cpu_time = c->event.timer && is_tasks(&all->kernel_target);
	c->user_only &= !c->cpu_time;
	c->doubtful = c->user_only && c->dev.fd >= 0 && !leaves_out(&c->event);
	return 0;
}

static int add(struct gprof_counting *all, const char *name, struct gprof_error *e)
{
	struct counter *c = &all->counters[all->nr];
	size_t i;
	int err;

	if (!name || !name[0])
		return gprof_error_set(e, EINVAL, "an event has no name");
	c->dev = GPROF_OWN_FD_NONE;
	c->name = strdup(name);
	all->nr++;
	if (!c->name)
		return gprof_error_set(e, ENOMEM, "%s: no memory", name);
	err = open_counter(c, all, e);
	/* An error of all of them is returned at the end. */
	if (err && err != -ENOMEM && all->flags & GPROF_COUNT_PARTIAL) {
		c->error = *e;
		gprof_perf_counter_close(&c->perf);
		return 0;
	}
	for (i = 0; !err && i + 1 < all->nr; i++)
		if (!all->counters[i].error.err &&
		    gprof_event_same(&all->counters[i].event, &c->event))
			err = gprof_error_set(e, EEXIST, "%s and %s are the same event; give each "
					      "once", all->counters[i].name, name);
	return err;
}

static int make(struct gprof_counting *all, const struct gprof_count_config *cfg,
		struct gprof_error *e)
{
	size_t i, counted = 0;
	int err;

	if (!cfg->nr_events || cfg->nr_events > EVENTS_MAX || !cfg->events)
		return gprof_error_set(e, EINVAL, "%zu events; 1 to %d", cfg->nr_events,
				       EVENTS_MAX);
	if (cfg->flags & ~FLAGS_ALL || (cfg->flags & GPROF_COUNT_USER &&
					cfg->flags & GPROF_COUNT_KERNEL))
		return gprof_error_set(e, EINVAL,
				       "flags %#x are unknown or contradict each other",
				       cfg->flags);
	all->counters = calloc(cfg->nr_events, sizeof(*all->counters));
	if (!all->counters)
		return gprof_error_set(e, ENOMEM, "no memory");
	all->flags = cfg->flags;
	all->on_exec = cfg->on_exec;
	err = gprof_kernel_target_init(&all->kernel_target, &cfg->target, e);
	if (!err && cfg->on_exec && !is_tasks(&all->kernel_target))
		err = gprof_error_set(e, EINVAL, "only threads and processes can be counted from "
				      "an exec on");
	for (i = 0; !err && i < cfg->nr_events; i++) {
		err = add(all, cfg->events[i], e);
		counted += !err && !all->counters[i].error.err;
	}
	if (err || counted)
		return err;
	*e = all->counters[0].error;
	return -e->err;
}

struct gprof_counting *gprof_counting_new(const struct gprof_count_config *config)
{
	const size_t least = GPROF_SIZE_WITH(struct gprof_count_config, on_exec);
	struct gprof_counting *all = calloc(1, sizeof(*all));
	struct gprof_count_config cfg = { 0 };
	struct gprof_error e = { 0 };
	int err;

	if (!all) {
		gprof_error_set(NULL, ENOMEM, "no memory");
		return NULL;
	}
	all->kernel_target.cgroup = -1;
	err = gprof_opts_copy_in(&cfg, sizeof(cfg), least, config, "gprof_count_config", &e);
	if (!err)
		err = make(all, &cfg, &e);
	if (!err)
		return all;
	gprof_counting_free(all);
	gprof_error_publish(&e);
	return NULL;
}

static int perf_failed(struct counter *c, int err, struct gprof_error *e)
{
	return gprof_error_set(e, -err, "%s: perf's counters cannot be used (%s)", c->name,
			       gprof_strerror(-err));
}

static int start_counter(struct counter *c, struct gprof_error *e)
{
	uint32_t kind = c->event.pmu.type == PERF_TYPE_TRACEPOINT ? GPROF_KIND_TRACEPOINT :
			GPROF_KIND_CPU;
	int err;

	if (c->dev.fd >= 0) {
		err = gprof_device_stats(&c->dev, &c->base, e);
		return err ? err : gprof_device_start(&c->dev, kind, c->name, e);
	}
	err = gprof_perf_counter_read(&c->perf, &c->perf_base);
	if (!err)
		err = gprof_perf_counter_enable(&c->perf, true);
	return err ? perf_failed(c, err, e) : 0;
}

static int stop_counter(struct counter *c, struct gprof_error *e)
{
	int err;

	if (c->dev.fd >= 0)
		return gprof_device_stop(&c->dev, c->name, e);
	err = gprof_perf_counter_enable(&c->perf, false);
	return err ? perf_failed(c, err, e) : 0;
}

/* The first @nr of them; the first failure is returned. */
static int stop_counters(struct gprof_counting *all, size_t nr, struct gprof_error *e)
{
	struct gprof_error ignored;
	int err = 0;
	size_t i;

	for (i = 0; i < nr; i++) {
		if (all->counters[i].error.err)
			continue;
		if (err)
			stop_counter(&all->counters[i], &ignored);
		else
			err = stop_counter(&all->counters[i], e);
	}
	return err;
}

int gprof_counting_start(struct gprof_counting *c)
{
	struct gprof_error ignored;
	size_t i;
	int err;

	if (c->started)
		return gprof_error_set(&c->error, EBUSY, "counting is under way; stop it first");
	for (i = 0; i < c->nr; i++) {
		if (c->counters[i].error.err)
			continue;
		err = start_counter(&c->counters[i], &c->error);
		if (err) {
			stop_counters(c, i, &ignored);
			gprof_error_publish(&c->error);
			return err;
		}
	}
	c->started = true;
	return 0;
}

int gprof_counting_stop(struct gprof_counting *c)
{
	if (!c->started)
		return gprof_error_set(&c->error, EINVAL, "counting is not under way");
	c->started = false;
	return stop_counters(c, c->nr, &c->error);
}

static int read_module(struct counter *c, struct gprof_count *out, struct gprof_error *e)
{
	struct gprof_stats st;
	int err = gprof_device_stats(&c->dev, &st, e);

	if (err)
		return err;
	out->count = st.out_count - c->base.out_count;
	out->time_enabled_ns = st.out_time_enabled - c->base.out_time_enabled;
	out->time_running_ns = st.out_time_running - c->base.out_time_running;
	if (c->cpu_time)
		out->count = out->time_running_ns;
	if (!c->doubtful || out->count || !out->time_running_ns)
		return 0;
	out->error = EOPNOTSUPP;
	out->reason = "this counter may not be able to leave out the kernel, and then tells nothing";
	return 0;
}

static int read_perf(struct counter *c, struct gprof_count *out, struct gprof_error *e)
{
	struct gprof_perf_count now;
	int err = gprof_perf_counter_read(&c->perf, &now);

	if (err)
		return perf_failed(c, err, e);
	out->count = now.count - c->perf_base.count;
	out->time_enabled_ns = now.enabled - c->perf_base.enabled;
	out->time_running_ns = now.running - c->perf_base.running;
	return 0;
}

int gprof_counting_read(struct gprof_counting *c, size_t event, struct gprof_count *n)
{
	const size_t least = GPROF_SIZE_WITH(struct gprof_count, user_only);
	struct gprof_count out = { .reason = "" };
	struct counter *one;
	int err = 0;

	if (event >= c->nr)
		return gprof_error_set(&c->error, EINVAL, "there are %zu events, no number %zu",
				       c->nr, event);
	one = &c->counters[event];
	out.event = one->name;
	out.user_only = one->user_only;
	if (one->error.err) {
		out.error = one->error.err;
		out.reason = one->error.text;
	} else {
		err = one->dev.fd >= 0 ? read_module(one, &out, &c->error) :
				     read_perf(one, &out, &c->error);
	}
	return err ? err :
		     gprof_opts_copy_out(n, &out, sizeof(out), least, "gprof_count", &c->error);
}

void gprof_counting_free(struct gprof_counting *c)
{
	size_t i;

	if (!c)
		return;
	for (i = 0; i < c->nr; i++) {
		/* Closing ends the counting. */
		gprof_own_fd_close(&c->counters[i].dev);
		gprof_perf_counter_close(&c->counters[i].perf);
		free(c->counters[i].name);
	}
	free(c->counters);
	gprof_kernel_target_free(&c->kernel_target);
	free(c);
}
