// SPDX-License-Identifier: GPL-2.0-only
/*
 * Time of the tasks of an execution trace by state.
 */
#include "trace_tasks.h"

#include <stdlib.h>
#include <string.h>

#include "cli/diag.h"
#include "thread_span.h"
#include "trace_metadata.h"
#include "record/annotation.h"

#define PROCS_MAX	65536
/* So many have to end, and as many as there are others, before some are forgotten. */
#define GONE_MAX	4096
#define GONE		SIZE_MAX
/* Of a trace's clock: two events of one instant are no further apart. */
#define UNIT_NS		64

/* Text with its 0; a string of the trace may hold others. */
static size_t text_number(struct trace_tasks *t, const char *s, size_t len)
{
	char text[GPROF_TRACE_STRING_MAX + 1];

	len = strnlen(s, len < GPROF_TRACE_STRING_MAX ? len : GPROF_TRACE_STRING_MAX);
	memcpy(text, s, len);
	text[len] = '\0';
	return intern_add(&t->texts, text, len + 1);
}

static const char *text(const struct trace_tasks *t, size_t number)
{
	size_t len;

	return number < t->texts.nr ? intern_key(&t->texts, number, &len) : "";
}

static size_t leaf(struct trace_tasks *t, const struct gprof_trace *trace, uint64_t stack)
{
	struct gprof_trace_frame frame;

	if (!stack || !gprof_trace_stack(trace, stack, &frame, 1))
		return text_number(t, "", 0);
	return text_number(t, frame.function.s, frame.function.len);
}

static struct trace_task *find(struct trace_tasks *t, int64_t id)
{
	size_t nr = t->ids.nr, i = intern_add(&t->ids, &id, sizeof(id));

	if (i == nr) {
		t->tasks = xgrow(t->tasks, nr, &t->room, sizeof(*t->tasks));
		t->tasks[i] = (struct trace_task){
			.id = id, .call_since = -1, .name = text_number(t, "", 0),
			.reason = text_number(t, "", 0),
		};
	}
	return &t->tasks[i];
}

static struct trace_proc *proc_of(struct trace_tasks *t, int64_t proc)
{
	if (proc < 0 || proc >= PROCS_MAX)
		return NULL;
	if ((size_t)proc >= t->nr_procs) {
		size_t nr = (size_t)proc + 1;
		struct trace_proc *procs = xalloc(nr, sizeof(*procs));

		if (t->nr_procs)
			memcpy(procs, t->procs, t->nr_procs * sizeof(*procs));
		free(t->procs);
		t->procs = procs;
		t->nr_procs = nr;
	}
	return &t->procs[proc];
}

static void spent(struct trace_tasks *t, struct trace_task *task, enum trace_time what,
		  size_t detail, size_t stack, int64_t ns)
{
	const struct trace_span span = {
		.what = what, .task = trace_tasks_name(t, task), .detail = text(t, detail),
		.stack = stack, .ns = ns,
	};

	task->total[what] += ns;
	if (t->span)
		t->span(t->ctx, &span);
}

static size_t stack_number(struct trace_tasks *t, const struct gprof_trace *trace, uint64_t stack)
{
	return t->span ? trace_stacks_add(&t->stacks, trace, stack) : 0;
}

static void end_state(struct trace_tasks *t, struct trace_task *task, int64_t time)
{
	int64_t ns = time - task->since;

	switch (task->state) {
	case GPROF_TRACE_GO_RUNNING:
		spent(t, task, TRACE_TIME_RUNNING, text_number(t, "", 0), 0, ns);
		break;
	case GPROF_TRACE_GO_RUNNABLE:
		spent(t, task, TRACE_TIME_RUNNABLE, task->reason, task->stack, ns);
		break;
	case GPROF_TRACE_GO_WAITING:
		spent(t, task, TRACE_TIME_BLOCKED, task->reason, task->stack, ns);
		break;
	case GPROF_TRACE_GO_SYSCALL:
		spent(t, task, TRACE_TIME_SYSCALL, task->reason, task->stack, ns);
		break;
	}
}

static void end_call(struct trace_tasks *t, struct trace_task *task, int64_t time)
{
	if (task->call_since < 0)
		return;
	spent(t, task, TRACE_TIME_SYSCALL, task->call, task->call_stack, time - task->call_since);
	task->call_since = -1;
}

/* Its state from @time on is not known, nor is the end of its system call. */
static void lose(struct trace_tasks *t, struct trace_task *task, int64_t time)
{
	if (task->lost)
		return;
	if (time < task->since)
		time = task->since;
	end_state(t, task, time);
	end_call(t, task, time < task->call_since ? task->call_since : time);
	task->since = time;
	task->lost = true;
}

static void find_again(struct trace_tasks *t, struct trace_task *task, int64_t time)
{
	if (time < task->since)
		time = task->since;
	t->unknown += time - task->since;
	task->since = time;
	task->lost = false;
}

/*
 * @confirmed: an event implies the state just before @time. So a task without a CPU has been in it
 * since the last gap, for a reason that is not known.
 */
static void end_known_state(struct trace_tasks *t, struct trace_task *task, int64_t time,
			    bool confirmed)
{
	bool off = task->state == GPROF_TRACE_GO_RUNNABLE ||
		   task->state == GPROF_TRACE_GO_WAITING;
	int64_t known = off && !task->lost ? trace_gaps_first(&t->gaps, task->since) :
					     TRACE_GAPS_NONE;

	if (known < time) {
		lose(t, task, known);
		if (confirmed && t->gaps.end < time) {
			find_again(t, task, t->gaps.end);
			task->reason = text_number(t, "", 0);
			task->stack = 0;
		}
	}
	if (task->lost)
		find_again(t, task, time);
	else
		end_state(t, task, time);
}

/*
 * In a trace of some CPUs a task without one of them may have had another: a made-up waking has
 * the time of the switch behind it, and no task is runnable on a CPU that idles. @p: where its
 * next event is; NULL: there is none.
 */
static void settle(struct trace_tasks *t, struct trace_task *task, const struct trace_proc *p,
		   int64_t time)
{
	if (task->woken_at && time - task->woken_at < UNIT_NS) {
		lose(t, task, task->since);
	} else if (task->woken_at) {
		end_known_state(t, task, task->woken_at, true);
		task->since = task->woken_at;
	}
	if (task->woken_at) {
		task->state = GPROF_TRACE_GO_RUNNABLE;
		task->reason = text_number(t, "woken", 5);
	}
	task->woken_at = 0;
	if ((task->state == GPROF_TRACE_GO_WAITING && !p) ||
	    (task->state == GPROF_TRACE_GO_RUNNABLE && (!p || p->idled > task->since)))
		lose(t, task, task->since);
}

static void lose_proc(struct trace_tasks *t, struct trace_proc *p, int64_t time)
{
	int64_t begin = p->last ? p->last : t->first;

	trace_gaps_add(&t->gaps, begin, time);
	p->lost_to = time;
	if (p->open)
		spent(t, &t->tasks[p->task], TRACE_TIME_IRQ, p->name, 0, begin - p->since);
	p->open = false;
	if (p->running)
		lose(t, &t->tasks[p->running - 1], begin);
}

static void apply_losses(struct trace_tasks *t, int64_t time)
{
	const struct metadata_note *n;

	while (t->metadata && (n = metadata_until(t->metadata, time))) {
		struct trace_proc *p = proc_of(t, n->cpu);

		if (n->kind == METADATA_LOST && p && t->first)
			lose_proc(t, p, n->time);
	}
}

/* An event of a CPU: its task may have had it through a gap. */
static void note_proc(struct trace_tasks *t, const struct gprof_trace_event *ev)
{
	struct trace_proc *p = proc_of(t, ev->thread);
	struct trace_task *task;

	if (!p || ev->kind == GPROF_TRACE_STACK_SAMPLE || metadata_is_status(ev) ||
	    metadata_is_call(ev))
		return;
	task = p->running ? &t->tasks[p->running - 1] : NULL;
	if (p->lost_to && task && task->lost && ev->goroutine == task->id &&
	    !event_is_made_up(ev) && !event_leaves_for(ev, "clocks of CPUs differ"))
		find_again(t, task, p->lost_to);
	p->lost_to = 0;
	p->before = p->last;
	p->last = ev->time;
}

/* A switch is one event of a CPU, and one or two of its tasks. */
static void count_switch(struct trace_tasks *t, const struct gprof_trace_event *ev)
{
	struct trace_proc *p = proc_of(t, ev->proc);
	bool leaves = ev->transition.from == GPROF_TRACE_GO_RUNNING;
	bool comes = ev->transition.to == GPROF_TRACE_GO_RUNNING &&
		     ev->transition.from == GPROF_TRACE_GO_RUNNABLE;

	if (!p)
		return;
	if (leaves || (comes && !p->left))
		t->switches++;
	if (leaves || comes)
		p->left = leaves;
}

static void on_proc(struct trace_tasks *t, const struct gprof_trace_event *ev)
{
	struct trace_proc *p = proc_of(t, ev->transition.resource.id);

	if (!p)
		return;
	p->left = false;
	if (ev->transition.to == GPROF_TRACE_PROC_IDLE)
		p->idled = ev->time;
}

bool trace_tasks_ran_longer(const struct trace_task *a, const struct trace_task *b)
{
	if (a->total[TRACE_TIME_RUNNING] != b->total[TRACE_TIME_RUNNING])
		return a->total[TRACE_TIME_RUNNING] > b->total[TRACE_TIME_RUNNING];
	return a->id < b->id;
}

/*
 * Which tasks go: those that had ended when some were forgotten last, since a sample may come soon
 * after the end of its task, and that did not run longest of all.
 */
static void choose_gone(const struct trace_tasks *t, size_t *numbers)
{
	size_t longest[TRACE_TASKS_LONGEST], nr = 0, k;

	for (size_t i = 0; i < t->ids.nr; i++) {
		const struct trace_task *task = &t->tasks[i];

		if (task->state != GPROF_TRACE_GO_NOT_EXIST || task->since >= t->forgot)
			continue;
		numbers[i] = GONE;
		if (!t->longest)
			continue;
		if (nr < TRACE_TASKS_LONGEST)
			k = nr++;
		else if (trace_tasks_ran_longer(task, &t->tasks[longest[nr - 1]]))
			k = nr - 1;
		else
			continue;
		for (; k && trace_tasks_ran_longer(task, &t->tasks[longest[k - 1]]); k--)
			longest[k] = longest[k - 1];
		longest[k] = i;
	}
	while (nr)
		numbers[longest[--nr]] = 0;
	for (size_t i = 0; i < t->nr_procs; i++)
		if (t->procs[i].open)
			numbers[t->procs[i].task] = 0;
}

static void forget(struct trace_tasks *t, int64_t time)
{
	size_t *numbers = xalloc(t->ids.nr, sizeof(*numbers));
	struct intern ids = { 0 };

	choose_gone(t, numbers);
	t->nr_kept = 0;
	for (size_t i = 0; i < t->ids.nr; i++) {
		if (numbers[i] == GONE)
			continue;
		t->nr_kept += t->tasks[i].state == GPROF_TRACE_GO_NOT_EXIST;
		numbers[i] = intern_add(&ids, &t->tasks[i].id, sizeof(t->tasks[i].id));
		t->tasks[numbers[i]] = t->tasks[i];
	}
	for (size_t i = 0; i < t->nr_procs; i++) {
		struct trace_proc *p = &t->procs[i];

		if (p->open)
			p->task = numbers[p->task];
		if (p->running)
			p->running = numbers[p->running - 1] + 1;
	}
	intern_free(&t->ids);
	t->ids = ids;
	t->nr_gone = 0;
	t->forgot = time;
	free(numbers);
}

/*
 * A trace of ours has a mark for Go's tools in some, which is nothing that users asked for; and the
 * state of a task whose reason to wait is not known is named so that it is no reason.
 */
static size_t reason_number(struct trace_tasks *t, const struct gprof_trace_text *reason)
{
	static const char state[] = "interruptible sleep";
	const char *mark = t->own ? strstr(reason->s, " (") : NULL;

	if (mark && !strcmp(reason->s, "sleep (sync)"))
		return text_number(t, state, sizeof(state) - 1);
	return text_number(t, reason->s, mark ? (size_t)(mark - reason->s) : reason->len);
}

static void on_task(struct trace_tasks *t, const struct gprof_trace *trace,
		    const struct gprof_trace_event *ev)
{
	uint8_t from = ev->transition.from, to = ev->transition.to;
	bool wakes = from == GPROF_TRACE_GO_WAITING, confirmed;
	struct trace_proc *p = t->own ? proc_of(t, ev->thread) : NULL;
	struct trace_task *task;
	size_t name;

	if (from == to || (t->own && metadata_is_call(ev)))
		return;
	count_switch(t, ev);
	if (t->nr_gone >= GONE_MAX && 2 * t->nr_gone >= t->ids.nr - t->nr_kept)
		forget(t, ev->time);
	task = find(t, ev->transition.resource.id);
	if (from == GPROF_TRACE_GO_UNDETERMINED || from == GPROF_TRACE_GO_NOT_EXIST) {
		name = leaf(t, trace, ev->transition.stack);
		task->name = name;
	} else {
		confirmed = !wakes || ev->stack || ev->goroutine >= 0;
		if (p && event_is_made_up(ev))
			lose(t, task, p->before);
		if (p && t->cpus_only)
			settle(t, task, p, ev->time);
		if (p && t->cpus_only && !confirmed) {
			task->woken_at = ev->time;
			return;
		}
		end_known_state(t, task, ev->time, confirmed);
	}
	if (p && from == GPROF_TRACE_GO_RUNNING)
		p->running = 0;
	if (p && to == GPROF_TRACE_GO_RUNNING)
		p->running = (size_t)(task - t->tasks) + 1;
	if (to == GPROF_TRACE_GO_NOT_EXIST) {
		end_call(t, task, ev->time);
		t->nr_gone++;
	}
	task->state = to;
	task->since = ev->time;
	/* A woken task stays where it stopped; the delay is its own, not its waker's. */
	if (from == GPROF_TRACE_GO_RUNNING || from == GPROF_TRACE_GO_SYSCALL)
		task->stack = stack_number(t, trace, ev->transition.stack);
	else if (from == GPROF_TRACE_GO_NOT_EXIST)
		task->stack = stack_number(t, trace, ev->stack);
	if (wakes)
		task->reason = text_number(t, "woken", 5);
	else if (to == GPROF_TRACE_GO_RUNNABLE && from == GPROF_TRACE_GO_NOT_EXIST)
		task->reason = text_number(t, "created", 7);
	else
		task->reason = reason_number(t, &ev->transition.reason);
}

/* A task that executes another program has its name. */
static void on_label(struct trace_tasks *t, const struct gprof_trace_event *ev)
{
	struct gprof_trace_text label = ev->label.text;

	if (ev->label.resource.kind != GPROF_TRACE_RESOURCE_GOROUTINE ||
	    (label.len > 3 && !memcmp(label.s, "GC (", 4)))
		return;
	find(t, ev->label.resource.id)->name = text_number(t, label.s, label.len);
}

static void on_region(struct trace_tasks *t, const struct gprof_trace *trace,
		      const struct gprof_trace_event *ev)
{
	struct trace_task *task = find(t, ev->goroutine);

	end_call(t, task, ev->time);
	if (ev->kind != GPROF_TRACE_REGION_BEGIN)
		return;
	task->call = text_number(t, ev->region.type.s, ev->region.type.len);
	task->call_stack = stack_number(t, trace, ev->stack);
	task->call_since = ev->time;
}

static void on_range(struct trace_tasks *t, const struct gprof_trace *trace,
		     const struct gprof_trace_event *ev)
{
	struct trace_proc *p = proc_of(t, ev->range.scope.id);

	if (!p || ev->range.scope.kind != GPROF_TRACE_RESOURCE_PROC)
		return;
	if (ev->kind == GPROF_TRACE_RANGE_BEGIN && ev->goroutine != GPROF_TRACE_NONE) {
		find(t, ev->goroutine);
		p->open = true;
		p->since = ev->time;
		p->name = leaf(t, trace, ev->stack);
		p->task = intern_add(&t->ids, &ev->goroutine, sizeof(ev->goroutine));
	} else if (ev->kind == GPROF_TRACE_RANGE_END && p->open) {
		p->open = false;
		spent(t, &t->tasks[p->task], TRACE_TIME_IRQ, p->name, 0, ev->time - p->since);
	}
}

void trace_tasks_event(struct trace_tasks *t, const struct gprof_trace *trace,
		       const struct gprof_trace_event *ev)
{
	struct gprof_trace_stats st = { .sz = sizeof(st) };

	apply_losses(t, ev->time);
	if (t->own)
		note_proc(t, ev);
	if (!t->first && ev->kind != GPROF_TRACE_SYNC)
		t->first = ev->time;
	switch (ev->kind) {
	case GPROF_TRACE_SYNC:
		gprof_trace_stats(trace, &st);
		t->own = st.gprof_version;
		t->cpus_only = st.cpus_only;
		if (t->metadata)
			metadata_generation(t->metadata);
		trace_stacks_generation(&t->stacks);
		break;
	case GPROF_TRACE_STATE_TRANSITION:
		if (ev->transition.resource.kind == GPROF_TRACE_RESOURCE_GOROUTINE)
			on_task(t, trace, ev);
		else
			on_proc(t, ev);
		break;
	case GPROF_TRACE_LABEL:
		if (t->own)
			on_label(t, ev);
		break;
	case GPROF_TRACE_REGION_BEGIN:
	case GPROF_TRACE_REGION_END:
		if (t->own && ev->goroutine != GPROF_TRACE_NONE && !annotation_is(trace, ev))
			on_region(t, trace, ev);
		break;
	case GPROF_TRACE_RANGE_BEGIN:
	case GPROF_TRACE_RANGE_END:
		if (t->own)
			on_range(t, trace, ev);
		break;
	default:
		break;
	}
}

void trace_tasks_end(struct trace_tasks *t, int64_t time)
{
	apply_losses(t, INT64_MAX);
	for (size_t i = 0; i < t->ids.nr; i++) {
		struct trace_task *task = &t->tasks[i];

		if (t->cpus_only)
			settle(t, task, NULL, time);
		end_known_state(t, task, time, false);
		task->state = GPROF_TRACE_GO_NOT_EXIST;
		end_call(t, task, time);
	}
}

const char *trace_tasks_name_of(struct trace_tasks *t, int64_t id)
{
	return id < 0 ? "" : trace_tasks_name(t, find(t, id));
}

const char *trace_tasks_name(const struct trace_tasks *t, const struct trace_task *task)
{
	return text(t, task->name);
}

void trace_tasks_free(struct trace_tasks *t)
{
	intern_free(&t->texts);
	intern_free(&t->ids);
	trace_stacks_free(&t->stacks);
	trace_gaps_free(&t->gaps);
	free(t->tasks);
	free(t->procs);
}
