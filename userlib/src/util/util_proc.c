// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * util_proc.c: processors that are taken from the program, as a trace goes on.
 *
 * Ranges of sweeping belong to a processor. An assist belongs to a goroutine and
 * takes the processor that this runs on, while it runs; so does a background
 * worker, which is known by its label. The rules are those of Go's
 * MutatorUtilizationV2, but for workers and for assists that are found late: see
 * label() and range_active().
 */
#include "util_proc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TASK_ASSISTS	1U	/* within a mark assist */
#define TASK_WORKS	2U	/* a background worker */

void gprof_util_procs_init(struct gprof_util_procs *p, unsigned int flags,
			   struct gprof_budget *budget)
{
	*p = (struct gprof_util_procs){ .flags = flags, .budget = budget };
	gprof_map64_init(&p->tasks);
	gprof_map64_init(&p->executing);
	p->tasks.budget = p->executing.budget = budget;
}

void gprof_util_procs_free(struct gprof_util_procs *p)
{
	free(p->taken);
	free(p->news);
	free(p->is_news);
	gprof_map64_free(&p->tasks);
	gprof_map64_free(&p->executing);
}

bool gprof_util_is_count(const struct gprof_trace_event *ev)
{
	return ev->kind == GPROF_TRACE_METRIC &&
	       !strcmp(ev->metric.name, "/sched/gomaxprocs:threads");
}

static void add_news(struct gprof_util_procs *p, uint32_t proc)
{
	if (!p->is_news[proc])
		p->news[p->nr_news++] = proc;
	p->is_news[proc] = true;
}

static void all_news(struct gprof_util_procs *p)
{
	uint32_t i;

	p->nr_news = 0;
	for (i = 0; i < p->nr; i++) {
		p->news[p->nr_news++] = i;
		p->is_news[i] = true;
	}
}

void gprof_util_procs_noted(struct gprof_util_procs *p, bool (*still)(void *ctx, uint32_t proc),
			    void *ctx)
{
	size_t nr = p->nr_news, i;

	p->nr_news = 0;
	for (i = 0; i < nr; i++) {
		uint32_t proc = p->news[i];

		p->is_news[proc] = still(ctx, proc);
		if (p->is_news[proc])
			p->news[p->nr_news++] = proc;
	}
}

int gprof_util_procs_resize(struct gprof_util_procs *p, uint64_t nr)
{
	int ret;

	if (nr > GPROF_UTIL_PROCS_MAX)
		return -ERANGE;
	ret = gprof_grow_within(p->budget, &p->taken, &p->cap, nr, sizeof(*p->taken));
	if (!ret)
		ret = gprof_grow_within(p->budget, &p->news, &p->news_cap, nr, sizeof(*p->news));
	if (!ret)
		ret = gprof_grow_within(p->budget, &p->is_news, &p->is_news_cap, nr,
					sizeof(*p->is_news));
	if (ret)
		return ret;
	while (p->nr > nr)
		p->nr_taken -= p->taken[--p->nr] > 0;
	while (p->nr < nr) {
		p->is_news[p->nr] = false;
		p->taken[p->nr++] = 0;
	}
	all_news(p);
	p->changes++;
	return 0;
}

static bool is_stop(const struct gprof_util_procs *p, const struct gprof_trace_text *name)
{
	static const char begin[] = "stop-the-world";

	return p->flags & GPROF_UTIL_STW && name->len >= sizeof(begin) - 1 &&
	       !memcmp(name->s, begin, sizeof(begin) - 1) && memmem(name->s, name->len, "GC", 2);
}

static bool equal(const struct gprof_trace_text *name, const char *text)
{
	return name->len == strlen(text) && !memcmp(name->s, text, name->len);
}

static bool is_sweep(const struct gprof_util_procs *p, const struct gprof_trace_text *name)
{
	return p->flags & GPROF_UTIL_SWEEP && equal(name, "GC incremental sweep");
}

static bool is_assist(const struct gprof_util_procs *p, const struct gprof_trace_text *name)
{
	return p->flags & GPROF_UTIL_ASSIST && equal(name, "GC mark assist");
}

/* Processors beyond the number that the trace tells do not take part. */
static void add_holder(struct gprof_util_procs *p, int64_t proc, int by)
{
	if (proc < 0 || (uint64_t)proc >= p->nr)
		return;
	p->nr_taken -= p->taken[proc] > 0;
	p->taken[proc] += by;
	p->nr_taken += p->taken[proc] > 0;
	add_news(p, (uint32_t)proc);
	p->changes++;
}

static void stop(struct gprof_util_procs *p, int by)
{
	bool before = p->stopped > 0;

	p->stopped += by;
	if (before == (p->stopped > 0))
		return;
	all_news(p);
	p->changes++;
}

static unsigned int task(const struct gprof_util_procs *p, int64_t goroutine)
{
	uint32_t is = p->tasks.used ? gprof_map64_get(&p->tasks, (uint64_t)goroutine) :
				      GPROF_NONE;

	return is == GPROF_NONE ? 0 : is;
}

static int assist_begin(struct gprof_util_procs *p, const struct gprof_trace_event *ev)
{
	const struct gprof_trace_resource *scope = &ev->range.scope;

	if (scope->kind != GPROF_TRACE_RESOURCE_GOROUTINE || scope->id == GPROF_TRACE_NONE)
		return 0;
	return gprof_map64_put(&p->tasks, (uint64_t)scope->id,
			       task(p, scope->id) | TASK_ASSISTS);
}

static int range_begin(struct gprof_util_procs *p, const struct gprof_trace_event *ev)
{
	if (is_stop(p, &ev->range.name)) {
		stop(p, 1);
	} else if (is_sweep(p, &ev->range.name)) {
		add_holder(p, ev->proc, 1);
	} else if (is_assist(p, &ev->range.name)) {
		add_holder(p, ev->proc, 1);
		return assist_begin(p, ev);
	}
	return 0;
}

static bool executes(const struct gprof_util_procs *p, const struct gprof_trace_resource *r)
{
	return r->kind == GPROF_TRACE_RESOURCE_GOROUTINE && p->executing.used &&
	       gprof_map64_get(&p->executing, (uint64_t)r->id) == 1;
}

/*
 * A goroutine within an assist that does not run has no processor yet, nor that of the event about
 * it. Go's own code takes one, and once more as the goroutine goes on, and never gets it back:
 * half of the traces that begin within a collection show a program that never runs.
 */
static int range_active(struct gprof_util_procs *p, const struct gprof_trace_event *ev)
{
	if (is_assist(p, &ev->range.name) && !executes(p, &ev->range.scope))
		return assist_begin(p, ev);
	return range_begin(p, ev);
}

static int range_end(struct gprof_util_procs *p, const struct gprof_trace_event *ev)
{
	const struct gprof_trace_resource *scope = &ev->range.scope;

	if (is_stop(p, &ev->range.name)) {
		stop(p, -1);
	} else if (is_sweep(p, &ev->range.name)) {
		add_holder(p, ev->proc, -1);
	} else if (is_assist(p, &ev->range.name)) {
		add_holder(p, ev->proc, -1);
		if (scope->kind == GPROF_TRACE_RESOURCE_GOROUTINE && task(p, scope->id))
			return gprof_map64_put(&p->tasks, (uint64_t)scope->id,
					       task(p, scope->id) & ~TASK_ASSISTS);
	}
	return 0;
}

bool gprof_util_executes(unsigned int state)
{
	return state == GPROF_TRACE_GO_RUNNING || state == GPROF_TRACE_GO_SYSCALL;
}

static void transition(struct gprof_util_procs *p, const struct gprof_trace_event *ev)
{
	int64_t goroutine = ev->transition.resource.id;
	bool before = gprof_util_executes(ev->transition.from);
	bool behind = gprof_util_executes(ev->transition.to);

	if (before != behind && task(p, goroutine))
		add_holder(p, ev->proc, behind ? 1 : -1);
}

/*
 * A worker takes its processor when it first gets its label, and from then on
 * whenever it runs. Since 1.22 Go writes the label at each start; its own code
 * counts the worker twice then, and never gets back to 0.
 */
static int label(struct gprof_util_procs *p, const struct gprof_trace_event *ev)
{
	const struct gprof_trace_text *text = &ev->label.text;
	unsigned int is = task(p, ev->goroutine);

	if (!(p->flags & GPROF_UTIL_BACKGROUND) || text->len < 3 || memcmp(text->s, "GC ", 3) ||
	    equal(text, "GC (idle)") || is & TASK_WORKS)
		return 0;
	/* Dedicated workers drive all goroutines off: those have no latency from them. */
	if (p->flags & GPROF_UTIL_PER_PROC && equal(text, "GC (dedicated)"))
		return 0;
	add_holder(p, ev->proc, 1);
	return gprof_map64_put(&p->tasks, (uint64_t)ev->goroutine, is | TASK_WORKS);
}

/* Also while the number of processors is not known yet. */
static int note_execution(struct gprof_util_procs *p, const struct gprof_trace_event *ev)
{
	uint32_t behind = gprof_util_executes(ev->transition.to);

	if (behind == executes(p, &ev->transition.resource))
		return 0;
	return gprof_map64_put(&p->executing, (uint64_t)ev->transition.resource.id, behind);
}

bool gprof_util_procs_late(const struct gprof_util_procs *p, const struct gprof_trace_event *ev)
{
	if (ev->kind != GPROF_TRACE_RANGE_ACTIVE || p->complete)
		return false;
	if (is_assist(p, &ev->range.name))
		return executes(p, &ev->range.scope);
	return is_sweep(p, &ev->range.name);
}

int gprof_util_procs_event(struct gprof_util_procs *p, const struct gprof_trace_event *ev)
{
	int ret = 0;

	switch (ev->kind) {
	case GPROF_TRACE_SYNC:
		/* The first begins the trace, the second ends its first generation. */
		if (ev->sync.nr > 1 && !p->complete) {
			p->complete = true;
			gprof_map64_free(&p->executing);
		}
		break;
	case GPROF_TRACE_STATE_TRANSITION:
		if (ev->transition.resource.kind != GPROF_TRACE_RESOURCE_GOROUTINE)
			break;
		if (!p->complete)
			ret = note_execution(p, ev);
		if (p->nr)
			transition(p, ev);
		break;
	case GPROF_TRACE_RANGE_ACTIVE:
		if (!p->complete && p->nr)
			ret = range_active(p, ev);
		break;
	case GPROF_TRACE_RANGE_BEGIN:
		if (p->nr)
			ret = range_begin(p, ev);
		break;
	case GPROF_TRACE_RANGE_END:
		if (p->nr)
			ret = range_end(p, ev);
		break;
	case GPROF_TRACE_LABEL:
		if (p->nr)
			ret = label(p, ev);
		break;
	default:
		break;
	}
	return ret;
}

bool gprof_util_is_held(const struct gprof_util_procs *p, int64_t proc)
{
	return p->stopped > 0 || (proc >= 0 && (uint64_t)proc < p->nr && p->taken[proc] > 0);
}

bool gprof_util_assists(const struct gprof_util_procs *p, int64_t goroutine)
{
	return task(p, goroutine) & TASK_ASSISTS;
}
