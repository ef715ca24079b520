// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * utilization.c: utilization functions from the events of a trace.
 *
 * The functions come out change by change as in Go's MutatorUtilizationV2. That
 * says the utilization anew at every event, since of several values at one time only
 * the lowest is kept until a later event; so does this, but looks first whether
 * anything is left to say.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/opts.h"
#include "util_function.h"
#include "util_proc.h"
#include "util_task.h"

/*
 * A trace of a few events may name tens of thousands of processors, again and again: the limit on
 * memory grows with the events.
 */
#define MEMORY_DEFAULT	(1ULL << 30)
#define MEMORY_FREE	(64ULL << 20)
#define MEMORY_EVENT	1024

/**
 * struct count - the number of processors changed
 * @time: when
 * @nr: to how many
 */
struct count {
	int64_t time;
	size_t nr;
};

/**
 * struct gprof_utilization - utilization functions in the making
 * @budget: of which all of this is taken
 * @memory_max: limit of that
 * @procs: processors
 * @tasks: with PER_TASK or PER_GROUP
 * @set: the functions
 * @proc_function: with PER_PROC the function of each processor
 * @proc_function_cap: room in it
 * @counts: numbers of processors, as long as ranges may be found late
 * @counts_cap: room in it
 * @nr_counts: how many
 * @last: time of the last event
 * @any: there was an event
 * @said: of @procs.changes, how many the functions have
 * @error: of gprof_utilization_add(), final
 * @sealed: finished
 */
struct gprof_utilization {
	struct gprof_budget budget;
	uint64_t memory_max;
	struct gprof_util_procs procs;
	struct gprof_util_tasks tasks;
	struct gprof_util_set set;
	size_t *proc_function;
	size_t proc_function_cap;
	struct count *counts;
	size_t counts_cap;
	size_t nr_counts;
	int64_t last;
	bool any;
	uint64_t said;
	int error;
	bool sealed;
};

#define TASKS	(GPROF_UTIL_PER_TASK | GPROF_UTIL_PER_GROUP)

/* Kind of functions: at most one. */
static bool is_clear(unsigned int flags)
{
	unsigned int whose = flags & (TASKS | GPROF_UTIL_PER_PROC);

	return !(flags & ~GPROF_UTIL_ALL) && !(whose & (whose - 1));
}

struct gprof_utilization *gprof_utilization_new(unsigned int flags)
{
	struct gprof_utilization_opts opts = { .sz = sizeof(opts), .flags = flags };

	return gprof_utilization_new_opts(&opts);
}

struct gprof_utilization *gprof_utilization_new_opts(const struct gprof_utilization_opts *opts)
{
	struct gprof_utilization_opts o = { 0 };
	struct gprof_utilization *u;
	unsigned int flags;

	if (gprof_opts_copy_in(&o, sizeof(o),
			       GPROF_SIZE_WITH(struct gprof_utilization_opts, memory_max), opts,
			       "gprof_utilization_opts", NULL))
		return NULL;
	flags = o.flags;
	if (!is_clear(flags)) {
		gprof_error_set(NULL, EINVAL, "flags %#x of a utilization do not go together, or "
				"are not known", flags);
		return NULL;
	}
	u = calloc(1, sizeof(*u));
	if (!u) {
		gprof_error_set(NULL, ENOMEM, "no memory for a utilization");
		return NULL;
	}
	u->memory_max = o.memory_max ? o.memory_max : MEMORY_DEFAULT;
	u->budget.max = u->memory_max < MEMORY_FREE ? u->memory_max : MEMORY_FREE;
	u->set.budget = &u->budget;
	gprof_util_procs_init(&u->procs, flags, &u->budget);
	gprof_util_tasks_init(&u->tasks, &u->budget);
	u->tasks.alone = flags & GPROF_UTIL_PER_TASK;
	u->tasks.group_of = o.group_of;
	u->tasks.ctx = o.ctx;
	return u;
}

void gprof_utilization_free(struct gprof_utilization *u)
{
	if (!u)
		return;
	gprof_util_procs_free(&u->procs);
	gprof_util_tasks_free(&u->tasks);
	gprof_util_set_free(&u->set);
	free(u->proc_function);
	free(u->counts);
	free(u);
}

static bool per_proc(const struct gprof_utilization *u)
{
	return u->procs.flags & GPROF_UTIL_PER_PROC;
}

/* Begin and end functions as processors come and go. */
static int set_count(struct gprof_utilization *u, uint64_t nr, int64_t time)
{
	size_t before = u->procs.nr, i;
	int ret = gprof_util_procs_resize(&u->procs, nr);

	if (!ret && per_proc(u))
		ret = gprof_grow_within(&u->budget, &u->proc_function, &u->proc_function_cap, nr,
					sizeof(*u->proc_function));
	for (i = nr; i < before && per_proc(u) && !ret; i++)
		ret = gprof_util_set_change(&u->set, u->proc_function[i], time, 0);
	for (i = before; i < nr && !ret; i++) {
		if (!per_proc(u) && u->set.nr)
			break;
		ret = gprof_util_set_add(&u->set, per_proc(u) ? (int64_t)i : -1, time);
		if (!ret && per_proc(u))
			u->proc_function[i] = u->set.nr - 1;
	}
	if (u->procs.complete || (u->nr_counts && u->counts[u->nr_counts - 1].nr == nr))
		return ret;
	if (!ret)
		ret = gprof_grow_within(&u->budget, &u->counts, &u->counts_cap, u->nr_counts + 1,
					sizeof(*u->counts));
	if (!ret)
		u->counts[u->nr_counts++] = (struct count){ time, nr };
	return ret;
}

/*
 * A range has been there since the trace began: take its processor's share off all
 * that was said so far. A function of a single processor has nothing yet, for the
 * range is told as the processor is first mentioned.
 */
static void backdate(struct gprof_utilization *u)
{
	struct gprof_util_changes *c = &u->set.changes[0];
	size_t i, count = 0;

	for (i = 0; i < c->nr; i++) {
		while (count + 1 < u->nr_counts && u->counts[count + 1].time < c->v[i].time)
			count++;
		c->v[i].util -= 1.0 / (double)u->counts[count].nr;
		if (c->v[i].util < 0)
			c->v[i].util = 0;
	}
}

/**
 * struct put_state - state while values of processors are put
 * @u: utilization
 * @time: at which
 * @ret: first error
 */
struct put_state {
	struct gprof_utilization *u;
	int64_t time;
	int ret;
};

/* Of one processor; whether it has to be said again. */
static bool put_proc(void *ctx, uint32_t proc)
{
	struct put_state *s = ctx;
	struct gprof_utilization *u = s->u;
	double util = gprof_util_is_held(&u->procs, proc) ? 0 : 1;

	if (s->ret || proc >= u->procs.nr)
		return s->ret;
	s->ret = gprof_util_set_change(&u->set, u->proc_function[proc], s->time, util);
	return s->ret || gprof_util_set_last(&u->set, u->proc_function[proc]) != util;
}

/* Puts the utilization as it is now; the next event puts values that cannot be put yet. */
static int put(struct gprof_utilization *u, int64_t time)
{
	const struct gprof_util_procs *p = &u->procs;
	size_t taken = p->stopped > 0 ? p->nr : p->nr_taken;
	struct put_state put_state = { u, time, 0 };
	bool said;

	if (per_proc(u)) {
		gprof_util_procs_noted(&u->procs, put_proc, &put_state);
		said = !p->nr_news;
	} else {
		double util = 1 - (double)taken / (double)p->nr;

		put_state.ret = gprof_util_set_change(&u->set, 0, time, util);
		said = !put_state.ret && gprof_util_set_last(&u->set, 0) == util;
	}
	if (said)
		u->said = p->changes;
	return put_state.ret;
}

static int add(struct gprof_utilization *u, const struct gprof_trace_event *ev)
{
	bool per_task = u->procs.flags & TASKS;
	bool late = gprof_util_procs_late(&u->procs, ev);
	int ret = 0;

	if (gprof_util_is_count(ev))
		ret = per_task ? gprof_util_procs_resize(&u->procs, ev->metric.value) :
				 set_count(u, ev->metric.value, ev->time);
	if (!ret)
		ret = gprof_util_procs_event(&u->procs, ev);
	if (ret)
		return ret;
	if (per_task)
		return gprof_util_tasks_event(&u->tasks, &u->procs, &u->set, ev, late);
	if (!u->procs.nr)
		return 0;
	if (late && !per_proc(u))
		backdate(u);
	return late || u->said != u->procs.changes ? put(u, ev->time) : 0;
}

static int set_error(const struct gprof_utilization *u)
{
	switch (u->error) {
	case -EFBIG:
		return gprof_error_set(NULL, EFBIG, "the utilization takes more than %llu MiB; its "
				       "memory_max may be larger",
				       (unsigned long long)(u->memory_max >> 20));
	case -EINVAL:
		return gprof_error_set(NULL, EINVAL, "the utilization is finished, and takes no "
				       "more events");
	default:
		return gprof_error_set(NULL, -u->error, "the utilization cannot be computed (%s)",
				       gprof_strerror(-u->error));
	}
}

int gprof_utilization_add(struct gprof_utilization *u, const struct gprof_trace_event *ev)
{
	if (!u->error && u->sealed)
		u->error = -EINVAL;
	u->budget.max += MEMORY_EVENT;
	if (u->budget.max > u->memory_max)
		u->budget.max = u->memory_max;
	if (!u->error)
		u->error = add(u, ev);
	if (u->error == -ENOMEM && u->budget.exceeded)
		u->error = -EFBIG;
	u->last = ev->time;
	u->any = true;
	return u->error ? set_error(u) : 0;
}

static int end(struct gprof_utilization *u)
{
	size_t i;
	int ret = 0;

	if (!u->any)
		return 0;
	if (u->procs.flags & TASKS)
		return gprof_util_tasks_end(&u->tasks, &u->set, u->last);
	if (!per_proc(u))
		return u->procs.nr ? gprof_util_set_change(&u->set, 0, u->last, 0) : 0;
	for (i = 0; i < u->procs.nr && !ret; i++)
		ret = gprof_util_set_change(&u->set, u->proc_function[i], u->last, 0);
	return ret;
}

int gprof_utilization_finish(struct gprof_utilization *u,
			     const struct gprof_util_function **functions, size_t *nr)
{
	if (!u->error && !u->sealed) {
		u->error = end(u);
		if (u->error == -ENOMEM && u->budget.exceeded)
			u->error = -EFBIG;
		u->sealed = true;
	}
	if (u->error)
		return set_error(u);
	gprof_util_set_seal(&u->set);
	*functions = u->set.functions;
	*nr = u->set.nr;
	return 0;
}
