// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events of execution traces as lines, for people and as JSON.
 */
#include "trace_text.h"

#include <inttypes.h>
#include <stdio.h>

#include "cli/diag.h"
#include "cli/text.h"

/* A string of the trace may hold any bytes, also zeros: "\xNN" for bytes that are no text. */
static void quoted(struct gprof_trace_text t)
{
	const char *p = t.s, *end = t.s + t.len;

	putchar('"');
	while (p < end) {
		unsigned char byte = (unsigned char)*p;

		if (byte < ' ' || byte == 0x7f || byte == '"' || byte == '\\') {
			printf("\\x%02x", byte);
			p++;
		} else {
			text_put(stdout, text_next(&p));
		}
	}
	putchar('"');
}

static void plain_text(const char *key, struct gprof_trace_text t)
{
	printf(" %s=", key);
	quoted(t);
}

static const char *resource_name(enum gprof_trace_resource_kind kind)
{
	static const char *const names[] = { "None", "Goroutine", "Proc", "Thread" };

	return (size_t)kind < ARRAY_SIZE(names) ? names[kind] : "None";
}

static void plain_resource(const char *key, struct gprof_trace_resource r)
{
	printf(" %s=%s", key, resource_name(r.kind));
	if (r.kind != GPROF_TRACE_RESOURCE_NONE)
		printf("(%" PRId64 ")", r.id);
}

static void plain_stack(const struct gprof_trace *t, const char *title, uint64_t stack)
{
	struct gprof_trace_frame f[GPROF_TRACE_FRAMES_MAX];
	size_t nr = gprof_trace_stack(t, stack, f, ARRAY_SIZE(f));

	if (!nr)
		return;
	printf("%s=\n", title);
	for (size_t i = 0; i < nr; i++) {
		fputs("\t", stdout);
		text_plain(stdout, f[i].function.s);
		printf(" @ 0x%" PRIx64 "\n\t\t", f[i].pc);
		text_plain(stdout, f[i].file.s);
		printf(":%" PRIu64 "\n", f[i].line);
	}
}

static void plain_task(const char *key, uint64_t task)
{
	if (task == GPROF_TRACE_NO_TASK)
		printf(" %s=none", key);
	else
		printf(" %s=%" PRIu64, key, task);
}

static void plain_sync(const struct gprof_trace_event *ev)
{
	printf(" N=%" PRIu64, ev->sync.nr);
	if (ev->sync.generation)
		printf(" Generation=%" PRIu64, ev->sync.generation);
	if (ev->sync.has_clock)
		printf(" Trace=%" PRId64 " Mono=%" PRIu64 " Wall=%" PRIu64 ".%09" PRIu64,
		       ev->sync.clock.time, ev->sync.clock.mono, ev->sync.clock.sec,
		       ev->sync.clock.nsec);
}

static void plain_transition(const struct gprof_trace_event *ev)
{
	enum gprof_trace_resource_kind kind = ev->transition.resource.kind;

	plain_resource("Resource", ev->transition.resource);
	plain_text("Reason", ev->transition.reason);
	printf(" %s->%s", gprof_trace_state_name(kind, ev->transition.from),
	       gprof_trace_state_name(kind, ev->transition.to));
}

static void plain_details(const struct gprof_trace_event *ev)
{
	switch (ev->kind) {
	case GPROF_TRACE_SYNC:
		plain_sync(ev);
		break;
	case GPROF_TRACE_METRIC:
		printf(" Name=\"%s\" Value=%" PRIu64, ev->metric.name, ev->metric.value);
		break;
	case GPROF_TRACE_LABEL:
		plain_text("Label", ev->label.text);
		plain_resource("Resource", ev->label.resource);
		break;
	case GPROF_TRACE_RANGE_BEGIN:
	case GPROF_TRACE_RANGE_ACTIVE:
	case GPROF_TRACE_RANGE_END:
		plain_text("Name", ev->range.name);
		plain_resource("Scope", ev->range.scope);
		if (ev->range.swept || ev->range.reclaimed)
			printf(" Swept=%" PRIu64 " Reclaimed=%" PRIu64, ev->range.swept,
			       ev->range.reclaimed);
		break;
	case GPROF_TRACE_TASK_BEGIN:
	case GPROF_TRACE_TASK_END:
		plain_task("ID", ev->task.id);
		plain_task("Parent", ev->task.parent);
		plain_text("Type", ev->task.type);
		break;
	case GPROF_TRACE_REGION_BEGIN:
	case GPROF_TRACE_REGION_END:
		plain_task("Task", ev->region.task);
		plain_text("Type", ev->region.type);
		break;
	case GPROF_TRACE_LOG:
		plain_task("Task", ev->log.task);
		plain_text("Category", ev->log.category);
		plain_text("Message", ev->log.message);
		break;
	case GPROF_TRACE_STATE_TRANSITION:
		plain_transition(ev);
		break;
	case GPROF_TRACE_EXPERIMENTAL:
		printf(" Name=%s", ev->experimental.name);
		for (unsigned int i = 0; i < ev->experimental.nr_args; i++)
			printf(" %s=%" PRIu64, ev->experimental.arg_names[i],
			       ev->experimental.args[i]);
		break;
	default:
		break;
	}
}

void trace_line(const struct gprof_trace *t, const struct gprof_trace_event *ev, bool stacks)
{
	printf("M=%" PRId64 " P=%" PRId64 " G=%" PRId64 " %s Time=%" PRId64, ev->thread, ev->proc,
	       ev->goroutine, gprof_trace_kind_name(ev->kind), ev->time);
	plain_details(ev);
	putchar('\n');
	if (!stacks)
		return;
	if (ev->kind == GPROF_TRACE_STATE_TRANSITION && ev->transition.stack != ev->stack)
		plain_stack(t, "TransitionStack", ev->transition.stack);
	plain_stack(t, "Stack", ev->stack);
}

/* An id, or null where there is none. */
static void put_id(struct json *j, const char *key, int64_t id)
{
	if (id == GPROF_TRACE_NONE)
		json_null(j, key);
	else
		json_s64(j, key, id);
}

static void put_task(struct json *j, const char *key, uint64_t task)
{
	if (task == GPROF_TRACE_NO_TASK)
		json_null(j, key);
	else
		json_u64(j, key, task);
}

static void put_text(struct json *j, const char *key, struct gprof_trace_text t)
{
	json_bytes(j, key, t.s, t.len);
}

static void put_resource(struct json *j, struct gprof_trace_resource r)
{
	json_string(j, "resource", resource_name(r.kind));
	put_id(j, "resource_id", r.id);
}

static void put_stack(struct json *j, const struct gprof_trace *t, const char *key, uint64_t stack)
{
	struct gprof_trace_frame f[GPROF_TRACE_FRAMES_MAX];
	size_t nr = gprof_trace_stack(t, stack, f, ARRAY_SIZE(f));

	if (!nr)
		return;
	json_array(j, key);
	for (size_t i = 0; i < nr; i++) {
		json_object(j, NULL);
		json_u64(j, "pc", f[i].pc);
		put_text(j, "function", f[i].function);
		put_text(j, "file", f[i].file);
		json_u64(j, "line", f[i].line);
		json_end(j);
	}
	json_end(j);
}

static void put_sync(struct json *j, const struct gprof_trace_event *ev)
{
	json_u64(j, "n", ev->sync.nr);
	if (ev->sync.generation)
		json_u64(j, "generation", ev->sync.generation);
	if (!ev->sync.has_clock)
		return;
	json_object(j, "clock");
	json_s64(j, "trace_ns", ev->sync.clock.time);
	json_u64(j, "mono_ns", ev->sync.clock.mono);
	json_u64(j, "wall_sec", ev->sync.clock.sec);
	json_u64(j, "wall_nsec", ev->sync.clock.nsec);
	json_end(j);
}

static void put_transition(struct json *j, const struct gprof_trace_event *ev)
{
	enum gprof_trace_resource_kind kind = ev->transition.resource.kind;

	put_resource(j, ev->transition.resource);
	json_string(j, "from", gprof_trace_state_name(kind, ev->transition.from));
	json_string(j, "to", gprof_trace_state_name(kind, ev->transition.to));
	put_text(j, "reason", ev->transition.reason);
}

static void put_details(struct json *j, const struct gprof_trace_event *ev)
{
	switch (ev->kind) {
	case GPROF_TRACE_SYNC:
		put_sync(j, ev);
		break;
	case GPROF_TRACE_METRIC:
		json_string(j, "name", ev->metric.name);
		json_u64(j, "value", ev->metric.value);
		break;
	case GPROF_TRACE_LABEL:
		put_text(j, "label", ev->label.text);
		put_resource(j, ev->label.resource);
		break;
	case GPROF_TRACE_RANGE_BEGIN:
	case GPROF_TRACE_RANGE_ACTIVE:
	case GPROF_TRACE_RANGE_END:
		put_text(j, "name", ev->range.name);
		put_resource(j, ev->range.scope);
		if (ev->range.swept || ev->range.reclaimed) {
			json_u64(j, "swept_bytes", ev->range.swept);
			json_u64(j, "reclaimed_bytes", ev->range.reclaimed);
		}
		break;
	case GPROF_TRACE_TASK_BEGIN:
	case GPROF_TRACE_TASK_END:
		put_task(j, "task", ev->task.id);
		put_task(j, "parent", ev->task.parent);
		put_text(j, "name", ev->task.type);
		break;
	case GPROF_TRACE_REGION_BEGIN:
	case GPROF_TRACE_REGION_END:
		put_task(j, "task", ev->region.task);
		put_text(j, "name", ev->region.type);
		break;
	case GPROF_TRACE_LOG:
		put_task(j, "task", ev->log.task);
		put_text(j, "category", ev->log.category);
		put_text(j, "message", ev->log.message);
		break;
	case GPROF_TRACE_STATE_TRANSITION:
		put_transition(j, ev);
		break;
	case GPROF_TRACE_EXPERIMENTAL:
		json_string(j, "name", ev->experimental.name);
		json_u64(j, "experiment", ev->experimental.experiment);
		json_object(j, "args");
		for (unsigned int i = 0; i < ev->experimental.nr_args; i++)
			json_u64(j, ev->experimental.arg_names[i], ev->experimental.args[i]);
		json_end(j);
		break;
	default:
		break;
	}
}

void trace_json(struct json *j, const struct gprof_trace *t, const struct gprof_trace_event *ev,
		bool stacks)
{
	json_object(j, NULL);
	json_string(j, "kind", gprof_trace_kind_name(ev->kind));
	json_s64(j, "time_ns", ev->time);
	put_id(j, "thread", ev->thread);
	put_id(j, "proc", ev->proc);
	put_id(j, "goroutine", ev->goroutine);
	put_details(j, ev);
	if (stacks) {
		if (ev->kind == GPROF_TRACE_STATE_TRANSITION)
			put_stack(j, t, "transition_stack", ev->transition.stack);
		put_stack(j, t, "stack", ev->stack);
	}
	json_end(j);
}
