// SPDX-License-Identifier: GPL-2.0-only
/*
 * Profiles that an execution trace holds.
 */
#include "trace_profile.h"

#include <string.h>

#include <gprof/profile.h>
#include <gprof/profile_builder.h>

#include "cmd.h"
#include "output.h"
#include "say.h"
#include "trace_tasks.h"

static const struct kind {
	const char *name;
	enum trace_time time;
	struct gprof_value_type types[2];
} kinds[] = {
	{ "cpu", TRACE_TIME_RUNNING, { { "runs", "count" }, { "cpu", "nanoseconds" } } },
	{ "sched", TRACE_TIME_RUNNABLE, { { "waits", "count" }, { "delay", "nanoseconds" } } },
	{ "block", TRACE_TIME_BLOCKED, { { "waits", "count" }, { "delay", "nanoseconds" } } },
	{ "syscall", TRACE_TIME_SYSCALL, { { "calls", "count" }, { "time", "nanoseconds" } } },
	{ "irq", TRACE_TIME_IRQ, { { "interrupts", "count" }, { "time", "nanoseconds" } } },
};

struct adding {
	const struct kind *kind;
	struct gprof_profile_builder *builder;
	bool failed;
};

static const struct kind *kind_of(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (!strcmp(name, kinds[i].name))
			return &kinds[i];
	return NULL;
}

bool trace_profile_kind(const char *name)
{
	return kind_of(name);
}

/* A task's name, and below it why it waited, or what it called. */
static void add(void *ctx, enum trace_time what, const char *task, const char *detail, int64_t ns)
{
	struct adding *a = ctx;
	const struct gprof_frame frames[] = {
		{ .function = *detail ? detail : "[not told]" },
		{ .function = *task ? task : "[no name]" },
	};
	const int64_t values[] = { 1, ns };
	bool alone = what == TRACE_TIME_RUNNING;

	if (what != a->kind->time)
		return;
	if (gprof_profile_builder_add(a->builder, frames + alone, 2 - alone, NULL, 0, values))
		a->failed = true;
}

static int write_profile(struct gprof_profile_builder *b, const char *file)
{
	struct gprof_profile *p = gprof_profile_builder_finish(b);
	struct output output = { .fd = -1 };
	int status = p ? output_open(&output, file) : fail("%s", gprof_error());

	if (status == STATUS_OK && gprof_profile_write(p, output.fd))
		status = fail("%s: %s", file, gprof_error());
	if (status == STATUS_OK)
		status = output_commit(&output);
	output_discard(&output);
	gprof_profile_free(p);
	return status;
}

int trace_profile(struct gprof_trace *trace, const char *name, const char *kind,
		  const char *file)
{
	struct adding a = { .kind = kind_of(kind) };
	const struct gprof_profile_builder_config cfg = {
		.sz = sizeof(cfg), .types = a.kind->types, .nr_types = 2,
	};
	struct trace_tasks tasks = { .span = add, .ctx = &a };
	int64_t first = -1, last = 0;
	struct gprof_trace_event ev;
	int ret, status = STATUS_OK;

	a.builder = gprof_profile_builder_new(&cfg);
	if (!a.builder)
		return fail("%s", gprof_error());
	while ((ret = gprof_trace_next(trace, &ev)) > 0) {
		trace_tasks_event(&tasks, trace, &ev);
		if (ev.kind == GPROF_TRACE_SYNC)
			continue;
		if (first < 0)
			first = ev.time;
		last = ev.time;
	}
	if (ret < 0)
		status = fail("%s: %s", name, gprof_error());
	trace_tasks_end(&tasks, last);
	if (a.failed)
		status = fail("%s: no memory for the profile", file);
	gprof_profile_builder_time(a.builder, 0, first < 0 ? 0 : last - first);
	gprof_profile_builder_comment(a.builder, "from an execution trace; its stacks are names "
				      "of tasks, reasons and calls, not of functions");
	if (status == STATUS_OK)
		status = write_profile(a.builder, file);
	gprof_profile_builder_free(a.builder);
	trace_tasks_free(&tasks);
	return status;
}
