// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * cpu_recorder.c: recorders of CPU events.
 */
#include <errno.h>
#include <linux/gprof.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/event.h"
#include "base/opts.h"
#include "recorder.h"

#define HZ_MAX		(1000000000ULL / GPROF_CPU_TIMER_MIN)
#define EVENTS_MAX	64
#define EVENT_F_ALL	(GPROF_EVENT_KERNEL | GPROF_EVENT_HV | GPROF_EVENT_IDLE |	\
			 GPROF_EVENT_ADDR | GPROF_EVENT_CALLCHAIN_KERNEL |		\
			 GPROF_EVENT_NO_CALLCHAIN_USER | GPROF_EVENT_NO_IP)

/* A source and what it points to. */
struct cpu_source {
	struct gprof_event event;
	struct gprof_cpu_params params;
};

static int take_period(const struct gprof_cpu_event *ev, struct cpu_source *s,
		       struct gprof_error *e)
{
	uint64_t period = ev->period;

	if (s->event.timer && ev->period)
		return gprof_error_set(e, EINVAL,
				       "timer: takes hz (samples per second), not a period");
	if (!s->event.timer && ev->hz)
		return gprof_error_set(e, EINVAL,
				       "%s: takes a period (events per sample), not hz; only the "
				       "timer takes hz", ev->name);
	if (s->event.timer && ev->hz) {
		if (ev->hz > HZ_MAX)
			return gprof_error_set(e, EINVAL,
					       "timer: %llu Hz is too fast; at most %llu",
					       (unsigned long long)ev->hz, HZ_MAX);
		period = (1000000000ULL + ev->hz / 2) / ev->hz;
	}
	if (!s->event.timer && period &&
	    (period < GPROF_CPU_PERIOD_MIN || period > GPROF_PERIOD_MAX))
		return gprof_error_set(e, EINVAL,
				       "%s: a period of %llu is out of range; %u to %llu events "
				       "per sample, or 0 for the preset of %llu", ev->name,
				       (unsigned long long)period, GPROF_CPU_PERIOD_MIN,
				       GPROF_PERIOD_MAX, (unsigned long long)s->event.period);
	s->params.period = period ? period : s->event.period;
	return 0;
}

static int make_source(const struct gprof_cpu_event *ev, struct cpu_source *s,
		       struct gprof_source *out, struct gprof_error *e)
{
	const uint64_t *config = s->event.pmu.config;
	int err;

	if (!ev->name || !ev->name[0])
		return gprof_error_set(e, EINVAL, "an event has no name");
	if (ev->reserved[0] || ev->reserved[1])
		return gprof_error_set(e, E2BIG,
				       "%s: sets what this libgprof does not know; it is older than "
				       "the program", ev->name);
	if (ev->flags & ~EVENT_F_ALL)
		return gprof_error_set(e, EINVAL, "%s: unknown flags %#x", ev->name,
				       ev->flags & ~EVENT_F_ALL);
	if (ev->precise > 3)
		return gprof_error_set(e, EINVAL, "%s: a precision of %u; 0 to 3 are there",
				       ev->name, ev->precise);
	err = gprof_event_parse(GPROF_PMU_SYSFS, ev->name, &s->event, e);
	if (err)
		return err;
	s->params = (struct gprof_cpu_params){
		.size = sizeof(s->params),
		.type = s->event.pmu.type,
		.precise = ev->precise,
		.config = config[0],
		.config1 = config[1],
		.config2 = config[2],
	};
	if (ev->flags & GPROF_EVENT_KERNEL)
		s->params.flags |= GPROF_CPU_F_KERNEL;
	if (ev->flags & GPROF_EVENT_HV)
		s->params.flags |= GPROF_CPU_F_HV;
	if (ev->flags & GPROF_EVENT_IDLE)
		s->params.flags |= GPROF_CPU_F_IDLE;
	if (ev->flags & GPROF_EVENT_ADDR)
		s->params.flags |= GPROF_CPU_F_ADDR;
	err = take_period(ev, s, e);
	if (err)
		return err;

	*out = (struct gprof_source){
		.kind = GPROF_KIND_CPU,
		.params = &s->params,
		.name = ev->name,
		.columns = {
			.count_type = "samples",
			.weight_type = s->event.timer ? "cpu" : ev->name,
			.weight_unit = s->event.timer ? "nanoseconds" : "count",
			.period = s->params.period,
		},
	};
	if (!(ev->flags & GPROF_EVENT_NO_IP))
		out->stack |= GPROF_STACK_F_IP;
	if (ev->flags & GPROF_EVENT_CALLCHAIN_KERNEL)
		out->stack |= GPROF_STACK_F_KERNEL;
	if (!(ev->flags & GPROF_EVENT_NO_CALLCHAIN_USER))
		out->stack |= GPROF_STACK_F_USER;
	snprintf(out->detail, sizeof(out->detail), "perf type %u, config %#llx%s%s", s->params.type,
		 (unsigned long long)config[0],
		 ev->flags & GPROF_EVENT_KERNEL ? ", user and kernel" : ", user",
		 ev->precise ? ", precise" : "");
	return 0;
}

static struct gprof_recorder *make(const struct gprof_cpu_config *cfg, struct gprof_error *e)
{
	static const struct gprof_cpu_event timer = { .name = "timer" };
	const struct gprof_cpu_event *events = cfg->nr_events ? cfg->events : &timer;
	size_t nr = cfg->nr_events ? cfg->nr_events : 1, i, j;
	struct gprof_source sources[EVENTS_MAX];
	struct cpu_source cpu[EVENTS_MAX];
	uint32_t pid = cfg->target.type == GPROF_PROCESS ? (uint32_t)cfg->target.id : 0;

	if (nr > EVENTS_MAX || !events) {
		gprof_error_set(e, EINVAL, "%zu events; at most %d", nr, EVENTS_MAX);
		return NULL;
	}
	for (i = 0; i < nr; i++) {
		if (make_source(&events[i], &cpu[i], &sources[i], e))
			return NULL;
		sources[i].columns.main_pid = pid;
		for (j = 0; j < i; j++) {
			if (!gprof_event_same(&cpu[i].event, &cpu[j].event))
				continue;
			gprof_error_set(e, EEXIST, "%s and %s are the same event; give each once",
					events[j].name, events[i].name);
			return NULL;
		}
	}
	return gprof_recorder_make(&cfg->target, sources, nr, cfg->buffer_bytes, cfg->on_exec, e);
}

struct gprof_recorder *gprof_cpu_recorder_new(const struct gprof_cpu_config *config)
{
	const size_t least = GPROF_SIZE_WITH(struct gprof_cpu_config, on_exec);
	struct gprof_cpu_config cfg = { 0 };
	struct gprof_recorder *r = NULL;
	struct gprof_error e = { 0 };

	if (!gprof_opts_take(&cfg, sizeof(cfg), least, config, "gprof_cpu_config", &e))
		r = make(&cfg, &e);
	if (!r)
		gprof_error_publish(&e);
	return r;
}
