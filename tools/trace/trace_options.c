// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events of a trace to record.
 */
#include "trace_options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd.h"
#include "cli/duration.h"
#include "cli/diag.h"

static int add_group(void *ctx, unsigned int group)
{
	((struct trace_wants *)ctx)->cfg.groups |= group;
	return STATUS_OK;
}

#define GROUP(name, group)						\
static int set_##name(void *ctx, const char *value)			\
{									\
	(void)value;							\
	return add_group(ctx, group);					\
}

GROUP(syscalls, GPROF_TRACE_GROUP_SYSCALLS)
GROUP(irqs, GPROF_TRACE_GROUP_IRQS)
GROUP(faults, GPROF_TRACE_GROUP_FAULTS)
GROUP(reclaim, GPROF_TRACE_GROUP_RECLAIM)
GROUP(freq, GPROF_TRACE_GROUP_FREQ)
GROUP(throttle, GPROF_TRACE_GROUP_THROTTLE)
GROUP(annotations, GPROF_TRACE_GROUP_ANNOTATIONS)

static const struct {
	const char *name;
	unsigned int stack;
} stack_names[] = {
	{ "blocked", GPROF_TRACE_STACK_BLOCKED },
	{ "waker", GPROF_TRACE_STACK_WAKER },
	{ "fork", GPROF_TRACE_STACK_FORK },
	{ "syscalls", GPROF_TRACE_STACK_SYSCALLS },
	{ "faults", GPROF_TRACE_STACK_FAULTS },
	{ "reclaim", GPROF_TRACE_STACK_RECLAIM },
};

static int set_stacks(void *ctx, const char *value)
{
	struct trace_wants *t = ctx;
	const char *list = value ? value : "blocked,waker";

	while (*list) {
		size_t len = strcspn(list, ","), i;

		for (i = 0; i < ARRAY_SIZE(stack_names); i++)
			if (strlen(stack_names[i].name) == len &&
			    !memcmp(stack_names[i].name, list, len))
				break;
		if (i == ARRAY_SIZE(stack_names))
			break;
		t->cfg.stacks |= stack_names[i].stack;
		list += len;
		if (*list == ',' && list[1])
			list++;
	}
	if (!*list && t->cfg.stacks)
		return STATUS_OK;
	return misused("--stacks wants blocked, waker, fork, syscalls, faults or reclaim, or several "
		       "with commas between, not \"%s\"", value);
}

/* HZ of the timer, or an event as gprofctl cpu -e takes it. */
static int set_samples(void *ctx, const char *value)
{
	struct trace_wants *t = ctx;
	struct gprof_cpu_event *ev = &t->samples;
	unsigned long long n;
	char *colon;

	if (t->event)
		return misused("two kinds of CPU samples: %s and %s", t->event, value);
	if (parse_count(value, &n)) {
		if (!n)
			return misused("--cpu-samples wants samples per second above 0, or an event "
				       "such as cycles:1M");
		t->event = xprintf("timer");
		ev->hz = n;
	} else {
		t->event = xprintf("%s", value);
		colon = event_period(t->event);
		if (colon) {
			*colon = '\0';
			if (!parse_count(colon + 1, &n) || !n)
				return misused("--cpu-samples %s: the period is a number of events "
					       "above 0, such as %s:1M", value, t->event);
			ev->period = n;
		}
		if (!*t->event)
			return misused("--cpu-samples wants samples per second, or an event such as "
				       "cycles; gprofctl info lists them");
	}
	ev->name = t->event;
	t->cfg.samples = ev;
	return STATUS_OK;
}

static int set_min_duration(void *ctx, const char *value)
{
	int64_t ns;

	if (!duration_parse(value, &ns) || ns <= 0 || ns % 1000 || ns > 3600000000000)
		return misused("--min-duration wants a time of at most an hour, in whole microseconds, "
			       "such as 500us, not \"%s\"", value);
	((struct trace_wants *)ctx)->cfg.min_duration_ns = (uint64_t)ns;
	return STATUS_OK;
}

static int set_kernel_mode(struct trace_wants *t, enum kernel_mode mode)
{
	if (t->kernel != KERNEL_IF_PERMITTED && t->kernel != mode)
		return misused("--user-only and --kernel exclude each other");
	t->kernel = mode;
	return STATUS_OK;
}

static int set_user_only(void *ctx, const char *value)
{
	(void)value;
	return set_kernel_mode(ctx, KERNEL_NEVER);
}

static int set_kernel(void *ctx, const char *value)
{
	(void)value;
	return set_kernel_mode(ctx, KERNEL_ALWAYS);
}

static int set_version(void *ctx, const char *value)
{
	static const struct { const char *name; unsigned int version; } versions[] = {
		{ "1.22", 22 }, { "1.23", 23 }, { "1.25", 25 }, { "1.26", 26 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(versions); i++) {
		if (strcmp(value, versions[i].name))
			continue;
		((struct trace_wants *)ctx)->cfg.version = versions[i].version;
		return STATUS_OK;
	}
	return misused("--go-version wants 1.22, 1.23, 1.25 or 1.26, not \"%s\"", value);
}

const struct option_row trace_wants_options[] = {
	{ 0, "syscalls", NULL, "system calls too, each as a region of its task", set_syscalls },
	{ 0, "irqs", NULL, "interrupts and softirqs", set_irqs },
	{ 0, "faults", NULL, "page faults of user code", set_faults },
	{ 0, "reclaim", NULL, "direct reclaim and compaction of memory", set_reclaim },
	{ 0, "freq", NULL, "frequencies of the CPUs", set_freq },
	{ 0, "throttle", NULL, "cgroups that have used up their CPU time", set_throttle },
	{ 0, "annotations", NULL, "annotations of programs: regions, tasks, logs of\n"
	  "gprof/annotate.h", set_annotations },
	{ 0, "stacks", "[=WHICH]", "stacks of tasks: blocked (as they stop), waker, fork,\n"
	  "syscalls, faults, reclaim, with commas between (default: blocked,waker)", set_stacks },
	{ 0, "min-duration", "TIME", "leave out calls, interrupts and reclaim that take less",
	  set_min_duration },
	{ 0, "cpu-samples", "HZ|EVENT[:PERIOD]", "CPU samples too: HZ per second of CPU time, or\n"
	  "of an event as for gprofctl cpu -e", set_samples },
	{ 0, "user-only", NULL, "leave the kernel out of stacks and CPU samples", set_user_only },
	{ 0, "kernel", NULL, "require the kernel there (default: if permitted, CAP_PERFMON)",
	  set_kernel },
	{ 0, "go-version", "1.NN", "for readers of Go 1.22, 1.23, 1.25 or 1.26 (default: 1.23,\n"
	  "which all later ones read too)", set_version },
	{ 0 },
};

static bool try_with(struct trace_wants *w, bool kernel,
		     bool (*make)(void *ctx, const struct gprof_trace_config *cfg), void *ctx)
{
	w->cfg.sz = sizeof(w->cfg);
	w->cfg.kernel_frames = kernel;
	w->samples.flags = kernel ? GPROF_EVENT_KERNEL : 0;
	return make(ctx, &w->cfg);
}

bool trace_wants_try(struct trace_wants *w,
		     bool (*make)(void *ctx, const struct gprof_trace_config *cfg), void *ctx)
{
	bool kernel = w->kernel != KERNEL_NEVER && (w->cfg.stacks || w->cfg.samples);

	if (try_with(w, kernel, make, ctx))
		return true;
	if (!kernel || w->kernel == KERNEL_ALWAYS || errno != EPERM)
		return false;
	return try_with(w, false, make, ctx);
}

void trace_wants_free(struct trace_wants *w)
{
	free(w->event);
}
