// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * util_task.c: causes that keep tasks from processors.
 *
 * A task is held up while it is runnable and waits for a processor, while it is
 * within an assist, asleep or not, and while it has a processor that something else
 * takes. Sleeping of one's own will and system calls are its own time.
 */
#include "util_task.h"

#include <stdlib.h>

void gprof_util_tasks_init(struct gprof_util_tasks *t, struct gprof_budget *budget)
{
	*t = (struct gprof_util_tasks){ .budget = budget };
	gprof_map64_init(&t->by_id);
	t->by_id.budget = budget;
	gprof_util_groups_init(&t->groups, budget);
}

void gprof_util_tasks_free(struct gprof_util_tasks *t)
{
	free(t->tasks);
	gprof_map64_free(&t->by_id);
	free(t->on_proc);
	gprof_util_groups_free(&t->groups);
}

static struct gprof_util_task *find(const struct gprof_util_tasks *t, int64_t id)
{
	uint32_t i = gprof_map64_get(&t->by_id, (uint64_t)id);

	return i == GPROF_NONE ? NULL : &t->tasks[i];
}

/* Tasks may be told before the number of processors that they run on. */
static int resize(struct gprof_util_tasks *t, size_t nr)
{
	size_t before = t->nr_procs, i;
	int ret = gprof_grow_within(t->budget, &t->on_proc, &t->on_proc_cap, nr,
				    sizeof(*t->on_proc));

	if (ret)
		return ret;
	for (i = before; i < nr; i++)
		t->on_proc[i] = GPROF_TRACE_NONE;
	t->nr_procs = nr;
	for (i = 0; i < t->nr && nr > before; i++) {
		const struct gprof_util_task *task = &t->tasks[i];

		if (gprof_util_executes(task->state) && task->proc >= (int64_t)before &&
		    task->proc < (int64_t)nr)
			t->on_proc[task->proc] = task->id;
	}
	return 0;
}

static bool has_proc(const struct gprof_util_tasks *t, const struct gprof_util_task *task)
{
	return gprof_util_executes(task->state) && task->proc >= 0 &&
	       (uint64_t)task->proc < t->nr_procs && t->on_proc[task->proc] == task->id;
}

/* A task that assists wants a processor, asleep or not: it works for others. */
static int refresh(struct gprof_util_tasks *t, const struct gprof_util_procs *procs,
		   struct gprof_util_set *set, int64_t id, int64_t time)
{
	struct gprof_util_task *task = find(t, id);
	struct gprof_util_group *group;
	bool held, wants;

	if (!task)
		return 0;
	held = task->state == GPROF_TRACE_GO_RUNNABLE || gprof_util_assists(procs, id) ||
	       (has_proc(t, task) && gprof_util_is_held(procs, task->proc));
	wants = held || gprof_util_executes(task->state);
	group = &t->groups.v[task->group];
	group->wants += wants - task->wants;
	group->held += held - task->held;
	task->wants = wants;
	task->held = held;
	return gprof_util_group_put(&t->groups, set, task->group, time);
}

static int begin(struct gprof_util_tasks *t, struct gprof_util_set *set, int64_t id,
		 int64_t time)
{
	int64_t group_id = t->alone ? id : t->group_of ? t->group_of(t->ctx, id) : -1;
	int ret = gprof_grow_within(t->budget, &t->tasks, &t->cap, t->nr + 1, sizeof(*t->tasks));
	uint32_t group = GPROF_NONE;

	if (!ret)
		ret = gprof_util_group_join(&t->groups, set, group_id, time, &group);
	if (!ret)
		ret = gprof_map64_put(&t->by_id, (uint64_t)id, (uint32_t)t->nr);
	if (ret)
		return ret;
	t->tasks[t->nr++] = (struct gprof_util_task){
		.id = id, .proc = GPROF_TRACE_NONE, .group = group,
	};
	return 0;
}

static int end(struct gprof_util_tasks *t, struct gprof_util_set *set,
	       struct gprof_util_task *task, int64_t time)
{
	struct gprof_util_task *last = &t->tasks[t->nr - 1];
	struct gprof_util_group *group = &t->groups.v[task->group];
	int ret;

	group->wants -= task->wants;
	group->held -= task->held;
	ret = gprof_util_group_leave(&t->groups, set, task->group, time);
	/* The keys are there: neither can fail. */
	gprof_map64_put(&t->by_id, (uint64_t)last->id, (uint32_t)(task - t->tasks));
	gprof_map64_put(&t->by_id, (uint64_t)task->id, GPROF_NONE);
	*task = *last;
	t->nr--;
	return ret;
}

static void set_on_proc(struct gprof_util_tasks *t, int64_t proc, int64_t id)
{
	if (proc >= 0 && (uint64_t)proc < t->nr_procs)
		t->on_proc[proc] = id;
}

static int go(struct gprof_util_tasks *t, struct gprof_util_set *set,
	      const struct gprof_trace_event *ev)
{
	int64_t id = ev->transition.resource.id;
	struct gprof_util_task *task = find(t, id);
	uint8_t to = ev->transition.to;

	if (!task && to != GPROF_TRACE_GO_NOT_EXIST) {
		int ret = begin(t, set, id, ev->time);

		if (ret)
			return ret;
		task = find(t, id);
	}
	if (!task)
		return 0;
	if (has_proc(t, task) && !gprof_util_executes(to))
		set_on_proc(t, task->proc, GPROF_TRACE_NONE);
	if (gprof_util_executes(to) && !gprof_util_executes(task->state)) {
		task->proc = ev->proc;
		set_on_proc(t, ev->proc, id);
	}
	task->state = to;
	return to == GPROF_TRACE_GO_NOT_EXIST ? end(t, set, task, ev->time) : 0;
}

/*
 * An assist that was found late was there from the begin. A group's past number of waiting tasks
 * is not kept: there it counts from its event on.
 */
static int backdate(struct gprof_util_tasks *t, struct gprof_util_set *set,
		    const struct gprof_trace_event *ev)
{
	const struct gprof_util_task *task = find(t, ev->range.scope.id);
	struct gprof_util_changes *c;

	if (!task || !t->alone || ev->range.scope.kind != GPROF_TRACE_RESOURCE_GOROUTINE)
		return 0;
	c = &set->changes[t->groups.v[task->group].function];
	c->nr = 1;
	c->v[0].util = 0;
	return 0;
}

int gprof_util_tasks_event(struct gprof_util_tasks *t, const struct gprof_util_procs *procs,
			   struct gprof_util_set *set, const struct gprof_trace_event *ev,
			   bool late)
{
	int ret = procs->nr != t->nr_procs ? resize(t, procs->nr) : 0;
	size_t i;

	if (ret)
		return ret;
	if (late)
		ret = backdate(t, set, ev);
	if (ev->kind == GPROF_TRACE_STATE_TRANSITION &&
	    ev->transition.resource.kind == GPROF_TRACE_RESOURCE_GOROUTINE) {
		ret = go(t, set, ev);
		if (!ret)
			ret = refresh(t, procs, set, ev->transition.resource.id, ev->time);
	} else if (ev->kind == GPROF_TRACE_STATE_TRANSITION &&
		   ev->transition.to != GPROF_TRACE_PROC_RUNNING) {
		/* Stopped, or taken away from a goroutine in a system call. */
		set_on_proc(t, ev->transition.resource.id, GPROF_TRACE_NONE);
	} else if (ev->kind == GPROF_TRACE_RANGE_BEGIN || ev->kind == GPROF_TRACE_RANGE_END ||
		   ev->kind == GPROF_TRACE_RANGE_ACTIVE) {
		if (ev->range.scope.kind == GPROF_TRACE_RESOURCE_GOROUTINE)
			ret = refresh(t, procs, set, ev->range.scope.id, ev->time);
	}
	if (!ret && ev->proc >= 0 && (uint64_t)ev->proc < t->nr_procs)
		ret = refresh(t, procs, set, t->on_proc[ev->proc], ev->time);
	if (t->stopped == (procs->stopped > 0))
		return ret;
	t->stopped = procs->stopped > 0;
	for (i = 0; i < t->nr_procs && !ret; i++)
		if (t->on_proc[i] != GPROF_TRACE_NONE)
			ret = refresh(t, procs, set, t->on_proc[i], ev->time);
	return ret;
}

int gprof_util_tasks_end(struct gprof_util_tasks *t, struct gprof_util_set *set, int64_t time)
{
	return gprof_util_groups_end(&t->groups, set, time);
}
