// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * cpu_source.c: CPU events, from a program's words to the kernel's numbers.
 */
#include "cpu_source.h"

#include <errno.h>
#include <linux/perf_event.h>

#define HZ_MAX		(1000000000ULL / GPROF_CPU_TIMER_MIN)
#define EVENT_F_ALL	(GPROF_EVENT_KERNEL | GPROF_EVENT_HV | GPROF_EVENT_IDLE |	\
			 GPROF_EVENT_ADDR | GPROF_EVENT_CALLCHAIN_KERNEL |		\
			 GPROF_EVENT_NO_CALLCHAIN_USER | GPROF_EVENT_NO_IP |		\
			 GPROF_EVENT_LATENCY)

/* The kernel's own events are no interrupts, so that each may be a sample. */
static uint64_t shortest(const struct gprof_event *ev)
{
	return ev->pmu.type == PERF_TYPE_SOFTWARE ? 1 : GPROF_CPU_PERIOD_MIN;
}

static int check_period(const struct gprof_cpu_event *ev, struct gprof_cpu_source *s,
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
	    (period < shortest(&s->event) || period > GPROF_PERIOD_MAX))
		return gprof_error_set(e, EINVAL,
				       "%s: a period of %llu is out of range; %llu to %llu events "
				       "per sample, or 0 for the preset of %llu", ev->name,
				       (unsigned long long)period,
				       (unsigned long long)shortest(&s->event),
				       GPROF_PERIOD_MAX, (unsigned long long)s->event.period);
	s->params.period = period ? period : s->event.period;
	return 0;
}

int gprof_cpu_source_init(struct gprof_cpu_source *s, const struct gprof_cpu_event *ev,
			  struct gprof_error *e)
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
	if (ev->flags & GPROF_EVENT_LATENCY && ev->flags & GPROF_EVENT_IDLE)
		return gprof_error_set(e, EINVAL,
				       "%s: latency divides time by the number of running tasks, "
				       "and an idle CPU runs none: leave one of the two out",
				       ev->name);
	if (ev->precise > 3)
		return gprof_error_set(e, EINVAL, "%s: a precision of %u; 0 to 3 are there",
				       ev->name, ev->precise);
	err = gprof_event_parse(GPROF_PMU_SYSFS, ev->name, &s->event, e);
	if (err)
		return err;
	if (s->event.kernel_only && !(ev->flags & GPROF_EVENT_KERNEL))
		return gprof_error_set(e, EPERM,
				       "%s: happens in the kernel alone, which is left out; to "
				       "include it needs root or CAP_PERFMON", ev->name);
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
	s->stack = ev->flags & GPROF_EVENT_NO_IP ? 0 : GPROF_STACK_F_IP;
	if (ev->flags & GPROF_EVENT_CALLCHAIN_KERNEL)
		s->stack |= GPROF_STACK_F_KERNEL;
	if (!(ev->flags & GPROF_EVENT_NO_CALLCHAIN_USER))
		s->stack |= GPROF_STACK_F_USER;
	s->type = s->event.timer ? "cpu" : ev->name;
	s->unit = s->event.timer ? "nanoseconds" : "count";
	return check_period(ev, s, e);
}
