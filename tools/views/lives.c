// SPDX-License-Identifier: GPL-2.0-only
/*
 * The lives of threads in a trace of the host.
 */
#include "lives.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <gprof/trace_record.h>

#include "cli/cmd.h"
#include "cli/file_kind.h"
#include "cli/say.h"
#include "lives_stretch.h"
#include "record/annotation.h"

static uint32_t text_number(struct lives *v, const struct gprof_trace_text *text)
{
	char key[GPROF_TRACE_STRING_MAX + 1];
	size_t len = strnlen(text->s, text->len < GPROF_TRACE_STRING_MAX ? text->len :
				      GPROF_TRACE_STRING_MAX);

	memcpy(key, text->s, len);
	key[len] = '\0';
	return (uint32_t)intern_add(&v->texts, key, len + 1);
}

static uint32_t look_up(struct lives *v, int64_t id)
{
	static const struct gprof_trace_text nothing = { "", 0 };
	size_t nr = v->ids.nr, i;

	i = intern_add(&v->ids, &id, sizeof(id));
	if (i == nr) {
		v->all = xgrow(v->all, nr, &v->room, sizeof(*v->all));
		v->all[i] = (struct life){
			.id = id, .name = text_number(v, &nothing), .cpu = -1,
			.waker = LIVES_NONE,
		};
	}
	v->recent[id % LIVES_RECENT] = (uint32_t)i + 1;
	return (uint32_t)i;
}

static inline uint32_t find(struct lives *v, int64_t id)
{
	uint32_t i;

	if (id < 0)
		return LIVES_NONE;
	i = v->recent[(uint64_t)id % LIVES_RECENT];
	return i && v->all[i - 1].id == id ? i - 1 : look_up(v, id);
}

static struct lives_cpu *grow_cpus(struct lives *v, size_t cpu)
{
	struct lives_cpu *cpus = xalloc(cpu + 1, sizeof(*cpus));

	if (v->nr_cpus)
		memcpy(cpus, v->cpus, v->nr_cpus * sizeof(*cpus));
	for (size_t i = v->nr_cpus; i <= cpu; i++)
		cpus[i] = (struct lives_cpu){ .life = LIVES_NONE, .had = LIVES_UNKNOWN };
	free(v->cpus);
	v->cpus = cpus;
	v->nr_cpus = cpu + 1;
	return &cpus[cpu];
}

static inline struct lives_cpu *cpu_of(struct lives *v, int64_t cpu)
{
	if ((uint64_t)cpu < v->nr_cpus)
		return &v->cpus[cpu];
	return (uint64_t)cpu < OWN_CPUS_MAX ? grow_cpus(v, (size_t)cpu) : NULL;
}

static inline uint32_t stack_number(struct lives *v, uint64_t stack)
{
	return stack ? (uint32_t)trace_stacks_add(&v->stacks, v->trace, stack) : 0;
}

static inline void seen_on(struct lives *v, struct lives_cpu *c, const struct gprof_trace_event *ev)
{
	if (!c || own_is_status(ev))
		return;
	if (c->lost_to)
		lives_found(v, ev->thread, c, ev);
	c->before = c->last;
	c->last = ev->time;
}

static void take_name(struct lives *v, uint32_t i, uint64_t stack)
{
	struct gprof_trace_frame frame;

	if (stack && gprof_trace_stack(v->trace, stack, &frame, 1))
		v->all[i].name = text_number(v, &frame.function);
}

/* Who left its CPU, and how: the reasons are those of gprof's writer. */
static inline void on_leave(struct lives *v, struct life *l, struct lives_cpu *c,
			    const struct gprof_trace_event *ev)
{
	const char *reason = ev->transition.reason.s;

	l->stack = stack_number(v, ev->transition.stack);
	l->uninterruptible = reason[0] == 'u';
	l->stopped = reason[0] == 's' && reason[1] == 't' && !strcmp(reason, "stopped");
	l->woken = false;
	l->cpu = (int32_t)ev->thread;
	if (l->stack && lives_stack_part(v, l->stack) != PART_UNTOLD)
		v->seen.stacks++;
	if (!c)
		return;
	l->throttled = c->throttled && ev->transition.to == GPROF_TRACE_GO_RUNNABLE &&
		       reason[0] == 'p';
	l->queue = c->queue;
	c->throttled = false;
	c->life = LIVES_NONE;
}

static inline void on_wake(struct lives *v, uint32_t i, const struct lives_cpu *c,
			   const struct gprof_trace_event *ev)
{
	uint32_t by = find(v, ev->goroutine), stack = stack_number(v, ev->stack);
	struct life *l = &v->all[i];

	/* An interrupt has no stack, and is not of whom it interrupts. */
	if (stack)
		v->seen.wakers++;
	else if (v->seen.wakers || (c && c->interrupted))
		by = LIVES_NONE;
	if (by == i)
		by = LIVES_NONE;
	l->woken = true;
	l->waker = by;
	l->waker_stack = stack;
	l->woken_at = ev->time;
	if (v->use.waking)
		v->use.waking(v->use.ctx, v, i, by, ev->time, stack, ev->thread);
}

/* Who it is that a CPU has now, after whoever had it. */
static inline void comes(struct lives *v, int64_t cpu, struct lives_cpu *c, uint32_t life,
			 int64_t time)
{
	uint32_t left = c ? c->had : LIVES_UNKNOWN;

	if (c)
		c->had = life;
	if (v->use.comes)
		v->use.comes(v->use.ctx, v, cpu, left, life, time);
}

static void on_task(struct lives *v, struct lives_cpu *c, const struct gprof_trace_event *ev)
{
	uint8_t from = ev->transition.from, to = ev->transition.to;
	uint32_t i = find(v, ev->transition.resource.id);
	bool fresh = from == GPROF_TRACE_GO_UNDETERMINED || from == GPROF_TRACE_GO_NOT_EXIST;
	bool wakes = from == GPROF_TRACE_GO_WAITING;
	struct life *l;

	if (i == LIVES_NONE)
		return;
	/* Each generation says names anew. */
	if (fresh || from == to)
		take_name(v, i, ev->transition.stack);
	if (from == to)
		return;
	if (fresh) {
		l = &v->all[i];
		l->first = l->since = ev->time;
		l->stack = stack_number(v, from == GPROF_TRACE_GO_NOT_EXIST ? ev->stack : 0);
	} else if (lives_is_made_up(ev)) {
		lives_left_unseen(v, i, ev->time);
	} else {
		if (wakes)
			on_wake(v, i, c, ev);
		/* A waking by nobody, nowhere, may be made up for whoever was seen to run next. */
		lives_stretch_end(v, i, ev->time, !wakes || ev->stack || ev->goroutine >= 0);
		/* What it waits for next need not be that. */
		if (wakes)
			v->all[i].faulted = false;
	}
	l = &v->all[i];
	if (to == GPROF_TRACE_GO_NOT_EXIST) {
		lives_call_end(v, i, ev->time, false);
		l->last = ev->time;
	}
	if (from == GPROF_TRACE_GO_RUNNING)
		on_leave(v, l, c, ev);
	l->state = to;
	l->cut = from == GPROF_TRACE_GO_UNDETERMINED;
	if (to != GPROF_TRACE_GO_RUNNING)
		return;
	l->cpu = (int32_t)ev->thread;
	if (c)
		c->life = i;
	comes(v, ev->thread, c, i, ev->time);
}

static void on_proc(struct lives *v, const struct gprof_trace_event *ev)
{
	if (ev->transition.to == GPROF_TRACE_PROC_IDLE &&
	    ev->transition.from == GPROF_TRACE_PROC_RUNNING)
		comes(v, ev->transition.resource.id, cpu_of(v, ev->transition.resource.id),
		      LIVES_NONE, ev->time);
}

static void on_region(struct lives *v, const struct gprof_trace_event *ev)
{
	uint32_t i = find(v, ev->goroutine);
	struct life *l = &v->all[i];

	if (i == LIVES_NONE)
		return;
	lives_call_end(v, i, ev->time, false);
	l->faulted = false;
	if (ev->kind != GPROF_TRACE_REGION_BEGIN)
		return;
	v->seen.calls++;
	l->call = text_number(v, &ev->region.type) + 1;
	l->call_since = ev->time;
	l->call_stack = stack_number(v, ev->stack);
}

static void on_range(struct lives *v, const struct gprof_trace_event *ev)
{
	bool begins = ev->kind != GPROF_TRACE_RANGE_END;
	struct lives_cpu *c;
	uint32_t i;

	if (ev->range.scope.kind == GPROF_TRACE_RESOURCE_PROC) {
		c = cpu_of(v, ev->range.scope.id);
		v->seen.irqs += begins;
		if (c)
			c->interrupted = begins;
	} else if (ev->range.scope.kind == GPROF_TRACE_RESOURCE_GOROUTINE) {
		i = find(v, ev->range.scope.id);
		v->seen.reclaims += begins;
		if (i != LIVES_NONE)
			v->all[i].reclaims = begins;
	}
}

/* Where a call is not told of, whoever waits in it would wait for the fault before. */
static bool has_calls(const struct lives *v)
{
	const struct gprof_trace_stats *r = &v->recorded;

	return r->recorded ? r->groups & GPROF_TRACE_GROUP_SYSCALLS && !r->min_duration_ns :
			     v->seen.calls;
}

static void on_log(struct lives *v, const struct gprof_trace_event *ev)
{
	uint32_t i = find(v, ev->goroutine);

	if (i == LIVES_NONE || strcmp(ev->log.category.s, "page fault"))
		return;
	v->seen.faults++;
	v->all[i].faulted = has_calls(v);
}

static void on_label(struct lives *v, const struct gprof_trace_event *ev)
{
	uint32_t i = ev->label.resource.kind == GPROF_TRACE_RESOURCE_GOROUTINE ?
		     find(v, ev->label.resource.id) : LIVES_NONE;

	/* Those in brackets say only that it is the kernel's. */
	if (i != LIVES_NONE && strncmp(ev->label.text.s, "GC (", 4))
		v->all[i].name = text_number(v, &ev->label.text);
}

static uint32_t queue_index(struct lives *v, uint32_t queue)
{
	size_t nr = v->queues.nr, i = intern_add(&v->queues, &queue, sizeof(queue));

	if (i == nr)
		v->unthrottled = xgrow(v->unthrottled, nr, &v->room_unthrottled,
				       sizeof(*v->unthrottled));
	return (uint32_t)i;
}

static void take_ripe(struct lives *v, int64_t time)
{
	const struct own_note *n;

	while ((n = own_until(&v->own, time))) {
		struct lives_cpu *c = cpu_of(v, n->cpu);
		uint32_t queue;

		if (n->kind == OWN_LOST) {
			lives_lose(v, c, n->time);
		} else if (n->kind == OWN_UNTHROTTLED) {
			/* Which may move what is looked at next. */
			queue = queue_index(v, n->queue);
			v->unthrottled[queue] = n->time;
		} else if (c->life != LIVES_NONE) {
			c->throttled = true;
			c->queue = queue_index(v, n->queue);
		}
	}
}

static inline void take_notes(struct lives *v, int64_t time)
{
	if (v->own.ripe)
		take_ripe(v, time);
}

static void on_sync(struct lives *v, const struct gprof_trace_event *ev)
{
	struct gprof_trace_stats st = { .sz = sizeof(st) };

	if (!gprof_trace_stats(v->trace, &st))
		v->lost = st.lost;
	if (v->use.generation && v->any)
		v->use.generation(v->use.ctx, v, ev->time > v->end ? ev->time : v->end);
	trace_stacks_generation(&v->stacks);
	take_notes(v, ev->time);
	for (size_t i = 0; i < v->own.nr_processes; i++) {
		const struct own_process *p = &v->own.processes[i];
		uint32_t life = find(v, p->id);

		v->all[life].pid = p->pid;
	}
	own_generation(&v->own);
}

static void on_other(struct lives *v, const struct gprof_trace_event *ev)
{
	switch (ev->kind) {
	case GPROF_TRACE_SYNC:
		on_sync(v, ev);
		break;
	case GPROF_TRACE_REGION_BEGIN:
	case GPROF_TRACE_REGION_END:
		if (!annotation_is(v->trace, ev))
			on_region(v, ev);
		break;
	case GPROF_TRACE_RANGE_BEGIN:
	case GPROF_TRACE_RANGE_ACTIVE:
	case GPROF_TRACE_RANGE_END:
		on_range(v, ev);
		break;
	case GPROF_TRACE_LOG:
		if (!annotation_is(v->trace, ev))
			on_log(v, ev);
		break;
	case GPROF_TRACE_LABEL:
		on_label(v, ev);
		break;
	case GPROF_TRACE_STACK_SAMPLE:
		v->seen.samples++;
		if (v->use.sample)
			v->use.sample(v->use.ctx, v, find(v, ev->goroutine), ev->time, ev->proc,
				      stack_number(v, ev->stack));
		break;
	default:
		break;
	}
}

static inline void on_event(struct lives *v, const struct gprof_trace_event *ev)
{
	struct lives_cpu *c = NULL;

	if (own_is_call(ev))
		return;
	take_notes(v, ev->time);
	if (ev->thread >= 0 && ev->kind != GPROF_TRACE_STACK_SAMPLE) {
		c = cpu_of(v, ev->thread);
		seen_on(v, c, ev);
	}
	if (ev->kind != GPROF_TRACE_SYNC) {
		if (!v->any)
			v->begin = ev->time;
		v->any = true;
		v->end = ev->time;
	}
	if (ev->kind != GPROF_TRACE_STATE_TRANSITION)
		on_other(v, ev);
	else if (ev->transition.resource.kind == GPROF_TRACE_RESOURCE_GOROUTINE)
		on_task(v, c, ev);
	else
		on_proc(v, ev);
}

/* A trace that is damaged, or made up, may name one that would need a lot of room. */
static bool is_of_cpus(const struct gprof_trace_event *ev)
{
	const struct gprof_trace_transition_data *t = &ev->transition;

	if (ev->thread >= OWN_CPUS_MAX || ev->proc >= OWN_CPUS_MAX)
		return false;
	return ev->kind != GPROF_TRACE_STATE_TRANSITION ||
	       t->resource.kind != GPROF_TRACE_RESOURCE_PROC || t->resource.id < OWN_CPUS_MAX;
}

static int take_batch(void *ctx, const struct gprof_trace_batch *batch)
{
	own_take(&((struct lives *)ctx)->own, batch);
	return 0;
}

static int follow(struct lives *v, const char *file)
{
	struct gprof_trace_stats st = { .sz = sizeof(st) };
	struct gprof_trace_event ev;
	bool known = false;
	int ret;

	while ((ret = gprof_trace_next(v->trace, &ev)) > 0) {
		if (!known) {
			gprof_trace_stats(v->trace, &st);
			if (!st.gprof_version)
				return file_told(file, FILE_GO_TRACE);
			v->recorded = st;
			known = true;
		}
		if (!is_of_cpus(&ev))
			return fail("%s tells of a CPU of a number as none has, of %d at most; it is "
				    "damaged", file, OWN_CPUS_MAX);
		on_event(v, &ev);
	}
	if (ret < 0)
		return fail("%s: %s", file, gprof_error());
	take_notes(v, INT64_MAX);
	for (size_t cpu = 0; cpu < v->nr_cpus; cpu++)
		if (v->cpus[cpu].lost_to)
			lives_found(v, (int64_t)cpu, &v->cpus[cpu], NULL);
	v->over = true;
	for (uint32_t i = 0; i < v->ids.nr; i++) {
		struct life *l = &v->all[i];

		if (!lives_is_told(l))
			continue;
		lives_stretch_end(v, i, v->end, false);
		lives_call_end(v, i, v->end, true);
		l->last = v->end;
	}
	gprof_trace_stats(v->trace, &st);
	v->lost = st.lost;
	if (st.lost && !v->quiet)
		say("%s: %" PRIu64 " events are missing in the trace; what threads did then is "
		    "told as lost", file, st.lost);
	return STATUS_OK;
}

int lives_read_fd(struct lives *v, int fd, const char *name)
{
	const struct gprof_trace_opts opts = {
		.sz = sizeof(opts), .batch = take_batch, .ctx = v,
	};
	int status;

	v->trace = gprof_trace_new(fd, &opts);
	status = v->trace ? follow(v, name) : file_not_opened(name, fd, FILE_TRACE);
	gprof_trace_free(v->trace);
	v->trace = NULL;
	return status;
}

int lives_read(struct lives *v, const char *file)
{
	int fd = strcmp(file, "-") ? open(file, O_RDONLY | O_CLOEXEC) :
				     fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
	int status;

	if (fd < 0)
		return fail("%s cannot be opened (%s)", file, strerror(errno));
	status = lives_read_fd(v, fd, file);
	close(fd);
	return status;
}

void lives_free(struct lives *v)
{
	trace_stacks_free(&v->stacks);
	intern_free(&v->texts);
	intern_free(&v->ids);
	free(v->parts);
	free(v->all);
	free(v->cpus);
	own_free(&v->own);
	intern_free(&v->queues);
	free(v->unthrottled);
	gaps_free(&v->gaps);
}
