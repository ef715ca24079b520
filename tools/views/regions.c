// SPDX-License-Identifier: GPL-2.0-only
/*
 * The regions and tasks of a trace, by type.
 *
 * Of each goroutine it is known how long it was in each state, up to now. The value at the begin
 * of a region is kept with the region, and subtracted at its end.
 */
#include "regions.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gprof/trace_record.h>

#include "cli/cmd.h"
#include "cli/intern.h"
#include "cli/diag.h"
#include "cli/json.h"
#include "cli/text.h"
#include "record/annotation.h"

/* Goroutines that have ended are remembered until there are so many, and as many as others. */
#define GONE_MAX	4096

enum state { CPU, RUNNABLE, BLOCKED, CALL, NR_STATES };

static const char *const state_names[NR_STATES] = {
	[CPU] = "cpu", [RUNNABLE] = "runnable", [BLOCKED] = "blocked", [CALL] = "syscall",
};

/* A region or task that has begun. */
struct open {
	uint32_t type;
	uint64_t task;
	int64_t since;
	int64_t had[NR_STATES];
};

/**
 * struct who - a goroutine
 * @state: that it is in; NR_STATES: it is not there
 * @since: since when
 * @had: ns in each state up to then
 * @open: regions, the innermost last
 * @nr: how many
 * @room: of them
 * @gone: it has ended
 */
struct who {
	enum state state;
	int64_t since;
	int64_t had[NR_STATES];
	struct open *open;
	size_t nr;
	size_t room;
	bool gone;
};

/**
 * struct type - all regions, or tasks, of one name
 * @nr: that have begun and ended
 * @ns: all of them
 * @min: the shortest
 * @max: the longest
 * @thread: of that
 * @since: likewise, when it began
 * @in: time of their goroutines by state; of regions alone
 * @unended: that have no end in the trace
 * @unbegun: that have no begin in it
 */
struct type {
	uint64_t nr;
	int64_t ns;
	int64_t min;
	int64_t max;
	int64_t thread;
	int64_t since;
	int64_t in[NR_STATES];
	uint64_t unended;
	uint64_t unbegun;
};

struct table {
	struct intern names;
	struct type *types;
	size_t room;
};

/**
 * struct regions - the view in the making
 * @trace: that is read
 * @own: gprof wrote it
 * @ids: goroutines to indices
 * @all: they
 * @room: of @all
 * @nr_gone: how many of them have ended
 * @task_ids: of tasks to indices
 * @tasks: those that have begun; ended ones have type UINT32_MAX
 * @room_tasks: of @tasks
 * @regions: by type
 * @task_types: likewise
 * @logs: that programs wrote
 * @repaired: annotations that contradicted the order of regions
 * @calls: some state is CALL
 */
struct regions {
	const struct gprof_trace *trace;
	bool own;
	struct intern ids;
	struct who *all;
	size_t room;
	size_t nr_gone;
	struct intern task_ids;
	struct open *tasks;
	size_t room_tasks;
	struct table regions;
	struct table task_types;
	uint64_t logs;
	uint64_t repaired;
	bool calls;
};

static struct who *who_is(struct regions *r, int64_t id)
{
	size_t nr = r->ids.nr, i = intern_add(&r->ids, &id, sizeof(id));

	if (i == nr) {
		r->all = xgrow(r->all, nr, &r->room, sizeof(*r->all));
		r->all[i] = (struct who){ .state = NR_STATES };
	}
	return &r->all[i];
}

static uint32_t type_of(struct table *t, const struct gprof_trace_text *text)
{
	/* With its 0, so that it can be printed. */
	size_t nr = t->names.nr, i = intern_add(&t->names, text->s, text->len + 1);

	if (i == nr) {
		t->types = xgrow(t->types, nr, &t->room, sizeof(*t->types));
		t->types[i] = (struct type){ 0 };
	}
	return (uint32_t)i;
}

static void unbegun(struct table *t, const struct gprof_trace_text *type)
{
	/* This may move the types that are used below. */
	uint32_t i = type_of(t, type);

	t->types[i].unbegun++;
}

static void settle(struct who *w, int64_t time)
{
	if (w->state != NR_STATES)
		w->had[w->state] += time - w->since;
	w->since = time;
}

static struct type *took(struct table *t, const struct open *o, int64_t time, int64_t thread)
{
	struct type *type = &t->types[o->type];
	int64_t ns = time - o->since;

	if (!type->nr || ns < type->min)
		type->min = ns;
	if (!type->nr || ns > type->max) {
		type->max = ns;
		type->thread = thread;
		type->since = o->since;
	}
	type->nr++;
	type->ns += ns;
	return type;
}

static void unended(struct regions *r, struct who *w)
{
	while (w->nr)
		r->regions.types[w->open[--w->nr].type].unended++;
}

static void forget(struct regions *r)
{
	struct intern ids = { 0 };
	size_t nr = 0, len;

	if (r->nr_gone < GONE_MAX || r->nr_gone < r->ids.nr - r->nr_gone)
		return;
	for (size_t i = 0; i < r->ids.nr; i++) {
		const void *id = intern_key(&r->ids, i, &len);

		if (r->all[i].gone) {
			free(r->all[i].open);
			continue;
		}
		intern_add(&ids, id, len);
		r->all[nr++] = r->all[i];
	}
	intern_free(&r->ids);
	r->ids = ids;
	r->nr_gone = 0;
}

static void on_state(struct regions *r, const struct gprof_trace_event *ev)
{
	static const uint8_t states[] = {
		[GPROF_TRACE_GO_UNDETERMINED] = NR_STATES,
		[GPROF_TRACE_GO_NOT_EXIST] = NR_STATES,
		[GPROF_TRACE_GO_RUNNABLE] = RUNNABLE,
		[GPROF_TRACE_GO_RUNNING] = CPU,
		[GPROF_TRACE_GO_WAITING] = BLOCKED,
		[GPROF_TRACE_GO_SYSCALL] = CALL,
	};
	uint8_t to = ev->transition.to;
	struct who *w;

	if (ev->transition.resource.kind != GPROF_TRACE_RESOURCE_GOROUTINE)
		return;
	/* It runs there, and of the call it is told otherwise. */
	if (r->own && to == GPROF_TRACE_GO_SYSCALL)
		to = GPROF_TRACE_GO_RUNNING;
	forget(r);
	w = who_is(r, ev->transition.resource.id);
	r->nr_gone -= w->gone;
	settle(w, ev->time);
	w->state = to < ARRAY_SIZE(states) ? states[to] : NR_STATES;
	r->calls |= w->state == CALL;
	w->gone = ev->transition.to == GPROF_TRACE_GO_NOT_EXIST;
	r->nr_gone += w->gone;
	if (w->gone)
		unended(r, w);
}

static void region_begin(struct regions *r, const struct gprof_trace_event *ev)
{
	struct who *w = who_is(r, ev->goroutine);
	struct open *o;

	settle(w, ev->time);
	w->open = xgrow(w->open, w->nr, &w->room, sizeof(*w->open));
	o = &w->open[w->nr++];
	*o = (struct open){
		.type = type_of(&r->regions, &ev->region.type), .task = ev->region.task,
		.since = ev->time,
	};
	memcpy(o->had, w->had, sizeof(o->had));
}

/* It is the innermost, or the reader would have refused it, or one from before the trace. */
static void region_end(struct regions *r, const struct gprof_trace_event *ev)
{
	struct who *w = who_is(r, ev->goroutine);
	const struct open *o;
	struct type *type;

	settle(w, ev->time);
	if (!w->nr) {
		unbegun(&r->regions, &ev->region.type);
		return;
	}
	o = &w->open[--w->nr];
	type = took(&r->regions, o, ev->time, ev->goroutine);
	for (size_t i = 0; i < NR_STATES; i++)
		type->in[i] += w->had[i] - o->had[i];
}

static void task_begin(struct regions *r, const struct gprof_trace_event *ev)
{
	size_t nr = r->task_ids.nr, i = intern_add(&r->task_ids, &ev->task.id, sizeof(ev->task.id));

	if (i == nr)
		r->tasks = xgrow(r->tasks, nr, &r->room_tasks, sizeof(*r->tasks));
	r->tasks[i] = (struct open){
		.type = type_of(&r->task_types, &ev->task.type), .since = ev->time,
	};
}

static void task_end(struct regions *r, const struct gprof_trace_event *ev)
{
	size_t nr = r->task_ids.nr, i = intern_add(&r->task_ids, &ev->task.id, sizeof(ev->task.id));

	if (i == nr) {
		r->tasks = xgrow(r->tasks, nr, &r->room_tasks, sizeof(*r->tasks));
		unbegun(&r->task_types, &ev->task.type);
	} else if (r->tasks[i].type != UINT32_MAX) {
		took(&r->task_types, &r->tasks[i], ev->time, ev->goroutine);
	}
	/* One may be ended more than once. */
	r->tasks[i].type = UINT32_MAX;
}

static void on_event(struct regions *r, const struct gprof_trace_event *ev)
{
	struct gprof_trace_stats st = { .sz = sizeof(st) };

	switch (ev->kind) {
	case GPROF_TRACE_SYNC:
		gprof_trace_stats(r->trace, &st);
		r->own = st.gprof_version;
		break;
	case GPROF_TRACE_STATE_TRANSITION:
		on_state(r, ev);
		break;
	case GPROF_TRACE_REGION_BEGIN:
		if (!r->own || annotation_is(r->trace, ev))
			region_begin(r, ev);
		break;
	case GPROF_TRACE_REGION_END:
		if (!r->own || annotation_is(r->trace, ev))
			region_end(r, ev);
		break;
	case GPROF_TRACE_TASK_BEGIN:
		task_begin(r, ev);
		break;
	case GPROF_TRACE_TASK_END:
		task_end(r, ev);
		break;
	case GPROF_TRACE_LOG:
		if (r->own && !annotation_is(r->trace, ev))
			break;
		if (r->own && !strcmp(ev->log.category.s, ANNOTATION_LOG))
			r->repaired++;
		else
			r->logs++;
		break;
	default:
		break;
	}
}

static void end_all(struct regions *r)
{
	for (size_t i = 0; i < r->ids.nr; i++)
		unended(r, &r->all[i]);
	for (size_t i = 0; i < r->task_ids.nr; i++)
		if (r->tasks[i].type != UINT32_MAX)
			r->task_types.types[r->tasks[i].type].unended++;
}

struct line {
	const char *name;
	const struct type *type;
};

static int longest_first(const void *pa, const void *pb)
{
	const struct line *a = pa, *b = pb;

	if (a->type->ns != b->type->ns)
		return a->type->ns < b->type->ns ? 1 : -1;
	return strcmp(a->name, b->name);
}

/* To be freed. */
static struct line *lines_of(const struct table *t)
{
	struct line *lines = xalloc(t->names.nr + 1, sizeof(*lines));
	size_t length;

	for (size_t i = 0; i < t->names.nr; i++) {
		lines[i].name = intern_key(&t->names, i, &length);
		lines[i].type = &t->types[i];
	}
	qsort(lines, t->names.nr, sizeof(*lines), longest_first);
	return lines;
}

static void print_table(const struct regions *r, const struct table *t, bool regions)
{
	struct line *lines = lines_of(t);
	size_t states = !regions ? 0 : r->calls ? NR_STATES : CALL;

	printf("%10s %12s %12s", "times", "total ms", "longest ms");
	for (size_t i = 0; i < states; i++)
		printf(" %12s", state_names[i]);
	printf(" %8s %8s  %s\n", "unended", "unbegun", regions ? "region" : "task");
	for (size_t i = 0; i < t->names.nr; i++) {
		const struct type *type = lines[i].type;

		printf("%10" PRIu64 " %12.3f %12.3f", type->nr, (double)type->ns / 1e6,
		       (double)type->max / 1e6);
		for (size_t j = 0; j < states; j++)
			printf(" %12.3f", (double)type->in[j] / 1e6);
		printf(" %8" PRIu64 " %8" PRIu64 "  ", type->unended, type->unbegun);
		text_plain(stdout, lines[i].name);
		putchar('\n');
	}
	free(lines);
}

static void put_json_table(struct json *j, const struct table *t, const char *key, bool regions)
{
	struct line *lines = lines_of(t);

	json_array(j, key);
	for (size_t i = 0; i < t->names.nr; i++) {
		const struct type *type = lines[i].type;

		json_object(j, NULL);
		json_string(j, "type", lines[i].name);
		json_u64(j, "count", type->nr);
		json_s64(j, "total_ns", type->ns);
		json_s64(j, "min_ns", type->min);
		json_s64(j, "max_ns", type->max);
		for (size_t k = 0; regions && k < NR_STATES; k++)
			json_ns(j, state_names[k], type->in[k]);
		json_u64(j, "unended", type->unended);
		json_u64(j, "unbegun", type->unbegun);
		json_end(j);
	}
	json_end(j);
	free(lines);
}

static void print_json(const struct regions *r, const char *name, uint64_t lost)
{
	struct json j = { 0 };

	json_open(&j, stdout, "read");
	put_json_table(&j, &r->regions, "regions", true);
	put_json_table(&j, &r->task_types, "tasks", false);
	json_u64(&j, "logs", r->logs);
	json_u64(&j, "repaired", r->repaired);
	json_u64(&j, "lost_events", lost);
	json_lost_events(&j, name, lost);
	json_close(&j);
}

static void print(const struct regions *r)
{
	if (r->regions.names.nr)
		print_table(r, &r->regions, true);
	if (r->task_types.names.nr) {
		if (r->regions.names.nr)
			putchar('\n');
		print_table(r, &r->task_types, false);
	}
}

static void report(const struct regions *r, const char *name, const struct gprof_trace_stats *st)
{
	uint64_t lost = st->lost;
	bool none = !r->regions.names.nr && !r->task_types.names.nr;

	if (none && st->recorded && !(st->groups & GPROF_TRACE_GROUP_ANNOTATIONS))
		diag("%s was recorded without --annotations; gprofctl trace --annotations records "
		     "annotations by gprof/annotate.h",
		     name);
	else if (none && r->own && !r->logs)
		diag("%s: it has no regions or tasks of programs; gprofctl trace --annotations "
		     "records those of gprof/annotate.h",
		     name);
	else if (none && r->own)
		diag("%s: programs have logged in it, and have no regions or tasks", name);
	else if (none)
		diag("%s: the program has no regions and tasks of runtime/trace", name);
	if (lost)
		diag("%s: %" PRIu64 " events were lost; regions and tasks whose begin or end is "
		     "among them are missing here, or last longer than they did, and threads keep "
		     "their states from before for that time",
		     name, lost);
	if (r->repaired)
		diag("%s: %" PRIu64
		     " regions ended without a begin, or before one within them; logs "
		     "of category \"" ANNOTATION_LOG "\" say which",
		     name, r->repaired);
}

/* 0, or a negative errno where a part alone could be read. */
static int read_all(struct regions *r, struct gprof_trace *t)
{
	struct gprof_trace_event ev;
	int ret;

	r->trace = t;
	while ((ret = gprof_trace_next(t, &ev)) > 0)
		on_event(r, &ev);
	end_all(r);
	return ret;
}

static void free_all(struct regions *r)
{
	for (size_t i = 0; i < r->ids.nr; i++)
		free(r->all[i].open);
	free(r->all);
	free(r->tasks);
	free(r->regions.types);
	free(r->task_types.types);
	intern_free(&r->regions.names);
	intern_free(&r->task_types.names);
	intern_free(&r->ids);
	intern_free(&r->task_ids);
}

int regions_print(struct gprof_trace *t, const char *name, bool json)
{
	struct gprof_trace_stats st = { .sz = sizeof(st) };
	struct regions r = { 0 };
	int ret = read_all(&r, t), status;

	gprof_trace_stats(t, &st);
	if (json)
		print_json(&r, name, st.lost);
	else
		print(&r);
	status = finish_stdout();
	if (status == STATUS_OK)
		report(&r, name, &st);
	if (status == STATUS_OK && ret < 0)
		status = fail("%s: %s; the part before it was read", name, gprof_error());
	free_all(&r);
	return status;
}

int regions_longest(struct gprof_trace *t, const char *name, const char *type, struct region *found)
{
	struct regions r = { 0 };
	int ret = read_all(&r, t), status = STATUS_OK;
	const struct type *of = NULL;
	size_t length;

	for (size_t i = 0; i < r.regions.names.nr; i++)
		if (!strcmp(intern_key(&r.regions.names, i, &length), type))
			of = &r.regions.types[i];
	if (ret < 0)
		status = fail("%s: %s", name, gprof_error());
	else if (!of || !of->nr)
		status = fail("%s has no whole region \"%s\"; gprofctl read %s --regions lists them",
			      name, type, name);
	else
		*found = (struct region){ of->thread, of->since, of->since + of->max };
	free_all(&r);
	return status;
}
