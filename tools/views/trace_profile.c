// SPDX-License-Identifier: GPL-2.0-only
/*
 * Profiles that an execution trace holds.
 */
#include "trace_profile.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <gprof/profile.h>
#include <gprof/profile_builder.h>

#include "cli/cmd.h"
#include "cli/duration.h"
#include "cli/intern.h"
#include "cli/output.h"
#include "cli/diag.h"
#include "thread_state.h"
#include "trace_stacks.h"
#include "trace_tasks.h"

static const struct kind {
	const char *name;
	enum trace_time time;
	struct gprof_value_type types[2];
} kinds[] = {
	{ "cpu", TRACE_TIME_RUNNING, { { "runs", "count" }, { "cpu", "nanoseconds" } } },
	{ "sched", TRACE_TIME_RUNNABLE, { { "contentions", "count" }, { "delay", "nanoseconds" } } },
	{ "block", TRACE_TIME_BLOCKED, { { "contentions", "count" }, { "delay", "nanoseconds" } } },
	{ "syscall", TRACE_TIME_SYSCALL, { { "calls", "count" }, { "time", "nanoseconds" } } },
	{ "irq", TRACE_TIME_IRQ, { { "interrupts", "count" }, { "time", "nanoseconds" } } },
};

/* Where time was spent: numbers of texts, and of a stack. */
struct place {
	uint32_t task;
	uint32_t detail;
	uint64_t stack;
};

struct spent {
	int64_t times;
	int64_t ns;
};

/**
 * struct adding - a profile in the making
 * @kind: of the profile
 * @tasks: have the time
 * @texts: names of tasks, and details
 * @places: each once, for there are few, and looking for all frames of one is long
 * @spent: there
 * @room: of @spent
 * @builder: once the trace has begun
 * @period: period of CPU samples; 0: the profile is not of these
 * @stacks: samples with a stack of functions
 * @failed: without memory
 */
struct adding {
	const struct kind *kind;
	struct trace_tasks tasks;
	struct intern texts;
	struct intern places;
	struct spent *spent;
	size_t room;
	struct gprof_profile_builder *builder;
	uint64_t period;
	uint64_t stacks;
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

static void add(struct adding *a, const struct gprof_frame *frames, size_t nr,
		const struct gprof_tag *tags, size_t nr_tags, int64_t times, int64_t value)
{
	const int64_t values[] = { times, value };

	if (gprof_profile_builder_add(a->builder, frames, nr, tags, nr_tags, values))
		a->failed = true;
}

static uint32_t text_number(struct adding *a, const char *text)
{
	return (uint32_t)intern_add(&a->texts, text, strlen(text) + 1);
}

static void add_span(void *ctx, const struct trace_span *span)
{
	struct adding *a = ctx;
	size_t nr = a->places.nr, i;
	struct place place;

	if (span->what != a->kind->time || a->period)
		return;
	place = (struct place){
		.task = text_number(a, *span->task ? span->task : "[no name]"),
		.detail = text_number(a, *span->detail ? span->detail : "[not told]"),
		.stack = span->stack,
	};
	i = intern_add(&a->places, &place, sizeof(place));
	if (i == nr)
		a->spent = xgrow(a->spent, nr, &a->room, sizeof(*a->spent));
	a->spent[i].times++;
	a->spent[i].ns += span->ns;
}

static const char *reason_of(const struct adding *a, const char *detail,
			     const struct gprof_frame *frames, size_t nr)
{
	return a->kind->time != TRACE_TIME_BLOCKED ? detail :
	       thread_state_name(thread_state_of_wait(thread_state_of_stack(frames, nr),
						      thread_state_of_reason(detail)));
}

/*
 * Where it is known, the stack: the called function is its leaf, and the rest are labels. Else a
 * task's name, and below it the reason of the wait, or the call.
 */
static void add_place(struct adding *a, const struct place *place, const struct spent *spent)
{
	struct gprof_frame frames[GPROF_TRACE_FRAMES_MAX + 1];
	size_t len;
	const char *detail = intern_key(&a->texts, place->detail, &len);
	const char *task = intern_key(&a->texts, place->task, &len);
	struct gprof_tag tags[] = { { .key = "comm", .text = task }, { .key = "reason" } };
	bool call = a->kind->time == TRACE_TIME_SYSCALL;
	size_t nr;

	frames[0] = (struct gprof_frame){ .function = detail };
	nr = trace_stacks_frames(&a->tasks.stacks, place->stack, frames + 1);
	if (nr) {
		tags[1].text = reason_of(a, detail, frames + 1, nr);
		a->stacks++;
		add(a, frames + !call, nr + call, tags, 2 - call, spent->times, spent->ns);
		return;
	}
	frames[1] = (struct gprof_frame){ .function = task };
	if (a->kind->time == TRACE_TIME_RUNNING)
		add(a, frames + 1, 1, NULL, 0, spent->times, spent->ns);
	else
		add(a, frames, 2, NULL, 0, spent->times, spent->ns);
}

static void add_sample(struct adding *a, const struct gprof_trace *trace,
		       const struct gprof_trace_event *ev)
{
	struct gprof_frame frames[GPROF_TRACE_FRAMES_MAX];
	size_t stack = trace_stacks_add(&a->tasks.stacks, trace, ev->stack);
	const struct gprof_tag tag = {
		.key = "comm", .text = trace_tasks_name_of(&a->tasks, ev->goroutine),
	};
	size_t nr = trace_stacks_frames(&a->tasks.stacks, stack, frames);

	if (!nr)
		frames[nr++] = (struct gprof_frame){ .function = "[no stack]" };
	else
		a->stacks++;
	add(a, frames, nr, &tag, *tag.text != 0, 1, (int64_t)a->period);
}

int trace_profile_write(struct gprof_profile_builder *b, const char *file)
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

/* The type of a profile is known with the first event of a trace. */
static int begin(struct adding *a, const struct gprof_trace *trace)
{
	struct gprof_profile_builder_config cfg = {
		.sz = sizeof(cfg), .types = a->kind->types, .nr_types = 2,
	};
	struct gprof_trace_stats st = { .sz = sizeof(st) };
	struct gprof_value_type types[2] = { { "samples", "count" } };

	gprof_trace_stats(trace, &st);
	if (a->kind->time == TRACE_TIME_RUNNING && st.sample_period &&
	    st.sample_period <= INT64_MAX) {
		a->period = st.sample_period;
		types[1] = (struct gprof_value_type){ st.sample_type, st.sample_unit };
		cfg.types = types;
		cfg.period_type = types[1];
		cfg.period = (int64_t)a->period;
	}
	a->builder = gprof_profile_builder_new(&cfg);
	return a->builder ? STATUS_OK : fail("%s", gprof_error());
}

/* As compare and top know a loss. */
static void add_loss(struct adding *a, uint64_t lost)
{
	char text[DURATION_TEXT], *comment;

	if (a->tasks.cpus_only) {
		comment = xprintf("the trace is of some CPUs; %s of tasks' time that may be of others "
				  "is left out", duration_text(a->tasks.unknown, text));
		gprof_profile_builder_comment(a->builder, comment);
		free(comment);
	}
	if (!lost)
		return;
	comment = xprintf("lost %" PRIu64 " events of the trace; states and system calls end where "
			  "they are missing, and %s of tasks' time in unknown states is left out",
			  lost, duration_text(a->tasks.unknown, text));
	gprof_profile_builder_comment(a->builder, comment);
	free(comment);
}

static int finish(struct adding *a, int64_t ns, uint64_t lost, const char *file)
{
	size_t len;

	for (size_t i = 0; i < a->places.nr; i++)
		add_place(a, intern_key(&a->places, i, &len), &a->spent[i]);
	if (a->failed)
		return fail("%s: no memory for the profile", file);
	gprof_profile_builder_time(a->builder, 0, ns);
	gprof_profile_builder_comment(a->builder, a->stacks ? "from an execution trace" :
				      "from an execution trace; its stacks are names of tasks, "
				      "reasons and calls, not of functions");
	add_loss(a, lost);
	return trace_profile_write(a->builder, file);
}

int trace_profile(struct gprof_trace *trace, struct trace_metadata *metadata, const char *name,
		  const char *kind, const char *file)
{
	struct adding a = {
		.kind = kind_of(kind),
		.tasks = { .span = add_span, .ctx = &a, .metadata = metadata },
	};
	struct gprof_trace_stats st = { .sz = sizeof(st) };
	int64_t first = -1, last = 0;
	struct gprof_trace_event ev;
	int ret, status = STATUS_OK;

	while (status == STATUS_OK && (ret = gprof_trace_next(trace, &ev)) > 0) {
		if (!a.builder)
			status = begin(&a, trace);
		if (status != STATUS_OK)
			break;
		trace_tasks_event(&a.tasks, trace, &ev);
		if (ev.kind == GPROF_TRACE_STACK_SAMPLE && a.period)
			add_sample(&a, trace, &ev);
		if (ev.kind == GPROF_TRACE_SYNC)
			continue;
		if (first < 0)
			first = ev.time;
		last = ev.time;
	}
	if (status == STATUS_OK && ret < 0)
		status = fail("%s: %s", name, gprof_error());
	/* A trace has a sync at its end, at least. */
	if (status == STATUS_OK) {
		trace_tasks_end(&a.tasks, last);
		gprof_trace_stats(trace, &st);
		status = finish(&a, first < 0 ? 0 : last - first, st.lost, file);
	}
	gprof_profile_builder_free(a.builder);
	intern_free(&a.texts);
	intern_free(&a.places);
	free(a.spent);
	trace_tasks_free(&a.tasks);
	return status;
}
