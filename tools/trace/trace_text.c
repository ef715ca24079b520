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
static void quoted(struct gprof_trace_text t, bool json)
{
	const char *p = t.s, *end = t.s + t.len;

	putchar('"');
	while (p < end) {
		unsigned char byte = (unsigned char)*p;
		const char *next = p;

		if (byte < ' ' || byte == 0x7f || byte == '"' || byte == '\\') {
			printf(json ? "\\u%04x" : "\\x%02x", byte);
			p++;
			continue;
		}
		if (text_next(&next) == 0xfffd)
			fputs("\xef\xbf\xbd", stdout);
		else
			fwrite(p, 1, (size_t)(next - p), stdout);
		p = next;
	}
	putchar('"');
}

static void plain_text(const char *key, struct gprof_trace_text t)
{
	printf(" %s=", key);
	quoted(t, false);
}

static void json_text(const char *key, struct gprof_trace_text t)
{
	printf(", \"%s\": ", key);
	quoted(t, true);
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
static void json_id(const char *key, int64_t id)
{
	if (id == GPROF_TRACE_NONE)
		printf(", \"%s\": null", key);
	else
		printf(", \"%s\": %" PRId64, key, id);
}

static void json_number(const char *key, uint64_t number)
{
	printf(", \"%s\": %" PRIu64, key, number);
}

static void json_task(const char *key, uint64_t task)
{
	if (task == GPROF_TRACE_NO_TASK)
		printf(", \"%s\": null", key);
	else
		json_number(key, task);
}

static void json_resource(struct gprof_trace_resource r)
{
	printf(", \"resource\": \"%s\"", resource_name(r.kind));
	json_id("resource_id", r.id);
}

static void json_stack(const struct gprof_trace *t, const char *key, uint64_t stack)
{
	struct gprof_trace_frame f[GPROF_TRACE_FRAMES_MAX];
	size_t nr = gprof_trace_stack(t, stack, f, ARRAY_SIZE(f));

	if (!nr)
		return;
	printf(", \"%s\": [", key);
	for (size_t i = 0; i < nr; i++) {
		printf("%s{\"pc\": %" PRIu64, i ? ", " : "", f[i].pc);
		json_text("function", f[i].function);
		json_text("file", f[i].file);
		json_number("line", f[i].line);
		putchar('}');
	}
	putchar(']');
}

static void json_sync(const struct gprof_trace_event *ev)
{
	json_number("n", ev->sync.nr);
	if (ev->sync.generation)
		json_number("generation", ev->sync.generation);
	if (!ev->sync.has_clock)
		return;
	printf(", \"clock\": {\"trace_ns\": %" PRId64, ev->sync.clock.time);
	json_number("mono_ns", ev->sync.clock.mono);
	json_number("wall_sec", ev->sync.clock.sec);
	json_number("wall_nsec", ev->sync.clock.nsec);
	putchar('}');
}

static void json_details(const struct gprof_trace_event *ev)
{
	enum gprof_trace_resource_kind kind;

	switch (ev->kind) {
	case GPROF_TRACE_SYNC:
		json_sync(ev);
		break;
	case GPROF_TRACE_METRIC:
		printf(", \"name\": \"%s\"", ev->metric.name);
		json_number("value", ev->metric.value);
		break;
	case GPROF_TRACE_LABEL:
		json_text("label", ev->label.text);
		json_resource(ev->label.resource);
		break;
	case GPROF_TRACE_RANGE_BEGIN:
	case GPROF_TRACE_RANGE_ACTIVE:
	case GPROF_TRACE_RANGE_END:
		json_text("name", ev->range.name);
		json_resource(ev->range.scope);
		if (ev->range.swept || ev->range.reclaimed) {
			json_number("swept_bytes", ev->range.swept);
			json_number("reclaimed_bytes", ev->range.reclaimed);
		}
		break;
	case GPROF_TRACE_TASK_BEGIN:
	case GPROF_TRACE_TASK_END:
		json_task("task", ev->task.id);
		json_task("parent", ev->task.parent);
		json_text("name", ev->task.type);
		break;
	case GPROF_TRACE_REGION_BEGIN:
	case GPROF_TRACE_REGION_END:
		json_task("task", ev->region.task);
		json_text("name", ev->region.type);
		break;
	case GPROF_TRACE_LOG:
		json_task("task", ev->log.task);
		json_text("category", ev->log.category);
		json_text("message", ev->log.message);
		break;
	case GPROF_TRACE_STATE_TRANSITION:
		kind = ev->transition.resource.kind;
		json_resource(ev->transition.resource);
		printf(", \"from\": \"%s\", \"to\": \"%s\"",
		       gprof_trace_state_name(kind, ev->transition.from),
		       gprof_trace_state_name(kind, ev->transition.to));
		json_text("reason", ev->transition.reason);
		break;
	case GPROF_TRACE_EXPERIMENTAL:
		printf(", \"name\": \"%s\", \"experiment\": %u", ev->experimental.name,
		       ev->experimental.experiment);
		for (unsigned int i = 0; i < ev->experimental.nr_args; i++)
			json_number(ev->experimental.arg_names[i], ev->experimental.args[i]);
		break;
	default:
		break;
	}
}

void trace_json(const struct gprof_trace *t, const struct gprof_trace_event *ev, bool stacks)
{
	printf("{\"kind\": \"%s\", \"time_ns\": %" PRId64, gprof_trace_kind_name(ev->kind),
	       ev->time);
	json_id("thread", ev->thread);
	json_id("proc", ev->proc);
	json_id("goroutine", ev->goroutine);
	json_details(ev);
	if (stacks) {
		if (ev->kind == GPROF_TRACE_STATE_TRANSITION)
			json_stack(t, "transition_stack", ev->transition.stack);
		json_stack(t, "stack", ev->stack);
	}
	puts("}");
}
