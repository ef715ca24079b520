// SPDX-License-Identifier: GPL-2.0-only
/*
 * The lives of threads in a trace of the host.
 */
#include "thread_spans.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <gprof/trace_record.h>

#include "cli/cmd.h"
#include "cli/file_kind.h"
#include "cli/diag.h"
#include "thread_span.h"
#include "trace_source.h"
#include "record/annotation.h"

/* Of a trace's clock: two events of one instant are no further apart. */
#define UNIT_NS		64

uint32_t thread_spans_text_number(struct thread_spans *v, const struct gprof_trace_text *text)
{
	char key[GPROF_TRACE_STRING_MAX + 1];
	size_t len = strnlen(text->s, text->len < GPROF_TRACE_STRING_MAX ? text->len :
				      GPROF_TRACE_STRING_MAX);

	memcpy(key, text->s, len);
	key[len] = '\0';
	return (uint32_t)intern_add(&v->texts, key, len + 1);
}

uint32_t thread_spans_look_up(struct thread_spans *v, int64_t id)
{
	static const struct gprof_trace_text nothing = { "", 0 };
	size_t nr = v->ids.nr, i;

	i = intern_add(&v->ids, &id, sizeof(id));
	if (i == nr) {
		v->all = xgrow(v->all, nr, &v->room, sizeof(*v->all));
		v->all[i] = (struct thread){
			.id = id,
			.name = thread_spans_text_number(v, &nothing),
			.cpu = -1,
			.reason = THREAD_NOT_RECORDED,
			.waker = THREAD_NONE,
		};
	}
	v->recent[id % THREADS_RECENT] = (uint32_t)i + 1;
	return (uint32_t)i;
}

static inline uint32_t find(struct thread_spans *v, int64_t id)
{
	uint32_t i;

	if (id < 0)
		return THREAD_NONE;
	i = v->recent[(uint64_t)id % THREADS_RECENT];
	return i && v->all[i - 1].id == id ? i - 1 : thread_spans_look_up(v, id);
}

static struct thread_spans_cpu *grow_cpus(struct thread_spans *v, size_t cpu)
{
	struct thread_spans_cpu *cpus = xalloc(cpu + 1, sizeof(*cpus));

	if (v->nr_cpus)
		memcpy(cpus, v->cpus, v->nr_cpus * sizeof(*cpus));
	for (size_t i = v->nr_cpus; i <= cpu; i++)
		cpus[i] = (struct thread_spans_cpu){ .thread = THREAD_NONE, .had = THREAD_UNKNOWN };
	free(v->cpus);
	v->cpus = cpus;
	v->nr_cpus = cpu + 1;
	return &cpus[cpu];
}

static inline struct thread_spans_cpu *cpu_of(struct thread_spans *v, int64_t cpu)
{
	if ((uint64_t)cpu < v->nr_cpus)
		return &v->cpus[cpu];
	return (uint64_t)cpu < METADATA_CPUS_MAX ? grow_cpus(v, (size_t)cpu) : NULL;
}

static inline uint32_t stack_number(struct thread_spans *v, uint64_t stack)
{
	return stack ? (uint32_t)trace_stacks_add(&v->stacks, v->trace, stack) : 0;
}

static inline void note_cpu(struct thread_spans *v, struct thread_spans_cpu *c,
			    const struct gprof_trace_event *ev)
{
	if (!c || metadata_is_status(ev))
		return;
	if (c->lost_to)
		thread_span_cpu_found(v, ev->thread, c, ev);
	c->before = c->last;
	c->last = ev->time;
}

static void update_name(struct thread_spans *v, uint32_t i, uint64_t stack)
{
	struct gprof_trace_frame frame;

	if (stack && gprof_trace_stack(v->trace, stack, &frame, 1))
		v->all[i].name = thread_spans_text_number(v, &frame.function);
}

/* How a thread left its CPU: the reasons are those of gprof's writer. */
static inline void on_leave(struct thread_spans *v, struct thread *l, struct thread_spans_cpu *c,
			    const struct gprof_trace_event *ev)
{
	const char *reason = ev->transition.reason.s;

	l->stack = stack_number(v, ev->transition.stack);
	l->uninterruptible = reason[0] == 'u';
	l->reason = (uint8_t)thread_state_of_reason(reason);
	l->stopped = l->reason == THREAD_STOPPED;
	v->seen.reasons += l->reason != THREAD_NOT_RECORDED && !l->stopped;
	l->woken = false;
	l->cpu = (int32_t)ev->thread;
	if (l->stack && thread_spans_stack_state(v, l->stack) != THREAD_NOT_RECORDED)
		v->seen.stacks++;
	if (!c)
		return;
	l->throttled = c->throttled && ev->transition.to == GPROF_TRACE_GO_RUNNABLE &&
		       reason[0] == 'p';
	l->queue = c->queue;
	c->throttled = false;
	c->thread = THREAD_NONE;
}

static inline void on_wake(struct thread_spans *v, uint32_t i, const struct thread_spans_cpu *c,
			   const struct gprof_trace_event *ev)
{
	uint32_t by = find(v, ev->goroutine), stack = stack_number(v, ev->stack);
	struct thread *l = &v->all[i];

	/* An interrupt has no stack, and is not of the interrupted thread. */
	if (stack)
		v->seen.wakers++;
	else if (v->seen.wakers || (c && c->interrupted))
		by = THREAD_NONE;
	if (by == i)
		by = THREAD_NONE;
	l->woken = true;
	l->waker = by;
	l->waker_stack = stack;
	l->woken_at = ev->time;
	if (v->use.waking)
		v->use.waking(v->use.ctx, v, i, by, ev->time, stack, ev->thread);
}

/* The thread that a CPU has now, after the one before. */
static inline void comes(struct thread_spans *v, int64_t cpu, struct thread_spans_cpu *c,
			 uint32_t thread, int64_t time)
{
	uint32_t left = c ? c->had : THREAD_UNKNOWN;

	if (c)
		c->had = thread;
	if (v->use.cpu_switch)
		v->use.cpu_switch(v->use.ctx, v, cpu, left, thread, time);
}

struct thread_spans_cpu *thread_spans_cpu(struct thread_spans *v, int64_t cpu)
{
	return cpu_of(v, cpu);
}

void thread_spans_comes(struct thread_spans *v, int64_t cpu, uint32_t thread, int64_t time)
{
	comes(v, cpu, cpu_of(v, cpu), thread, time);
}

/*
 * In a trace of some CPUs a thread without one of them may have had another: a made-up waking has
 * the time of the switch behind it, and no thread is runnable on a CPU that idles.
 */
static void settle(struct thread_spans *v, uint32_t i, const struct thread_spans_cpu *c,
		   int64_t time)
{
	struct thread *l = &v->all[i];

	if (l->doubtful && time - l->woken_at < UNIT_NS) {
		thread_span_gone(v, i);
	} else if (l->doubtful) {
		thread_span_end(v, i, l->woken_at, true);
		l->faulted = false;
	}
	if (l->doubtful)
		l->state = GPROF_TRACE_GO_RUNNABLE;
	l->doubtful = false;
	if (thread_is_off(l) && (v->over || (l->state == GPROF_TRACE_GO_RUNNABLE && c &&
					     c->idled > l->since)))
		thread_span_gone(v, i);
}

static void on_task(struct thread_spans *v, struct thread_spans_cpu *c,
		    const struct gprof_trace_event *ev)
{
	uint8_t from = ev->transition.from, to = ev->transition.to;
	uint32_t i = find(v, ev->transition.resource.id);
	bool fresh = from == GPROF_TRACE_GO_UNDETERMINED || from == GPROF_TRACE_GO_NOT_EXIST;
	bool wakes = from == GPROF_TRACE_GO_WAITING, confirmed;
	struct thread *l;

	if (i == THREAD_NONE)
		return;
	/* Each generation says names anew. */
	if (fresh || from == to)
		update_name(v, i, ev->transition.stack);
	if (from == to)
		return;
	if (fresh) {
		l = &v->all[i];
		l->first = l->since = ev->time;
		l->stack = stack_number(v, from == GPROF_TRACE_GO_NOT_EXIST ? ev->stack : 0);
	} else if (event_is_made_up(ev)) {
		thread_span_left_unseen(v, i, ev->time);
	} else {
		if (v->recorded.cpus_only)
			settle(v, i, c, ev->time);
		if (wakes)
			on_wake(v, i, c, ev);
		/* A waking without a waker and a CPU may be made up for the next runner. */
		confirmed = !wakes || ev->stack || ev->goroutine >= 0;
		if (!confirmed && v->recorded.cpus_only) {
			v->all[i].doubtful = true;
			return;
		}
		thread_span_end(v, i, ev->time, confirmed);
		/* Its next wait need not be for that. */
		if (wakes)
			v->all[i].faulted = false;
	}
	l = &v->all[i];
	if (to == GPROF_TRACE_GO_NOT_EXIST) {
		thread_span_call_end(v, i, ev->time, false);
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
		c->thread = i;
	comes(v, ev->thread, c, i, ev->time);
}

static void on_proc(struct thread_spans *v, const struct gprof_trace_event *ev)
{
	if (ev->transition.to == GPROF_TRACE_PROC_IDLE &&
	    ev->transition.from == GPROF_TRACE_PROC_RUNNING) {
		struct thread_spans_cpu *c = cpu_of(v, ev->transition.resource.id);

		if (c)
			c->idled = ev->time;
		comes(v, ev->transition.resource.id, c, THREAD_NONE, ev->time);
	}
}

static void on_region(struct thread_spans *v, const struct gprof_trace_event *ev)
{
	uint32_t i = find(v, ev->goroutine);
	struct thread *l = &v->all[i];

	if (i == THREAD_NONE)
		return;
	thread_span_call_end(v, i, ev->time, false);
	l->faulted = false;
	if (ev->kind != GPROF_TRACE_REGION_BEGIN)
		return;
	v->seen.calls++;
	l->call = thread_spans_text_number(v, &ev->region.type) + 1;
	l->call_since = ev->time;
	l->call_stack = stack_number(v, ev->stack);
}

static void on_range(struct thread_spans *v, const struct gprof_trace_event *ev)
{
	bool begins = ev->kind != GPROF_TRACE_RANGE_END;
	struct thread_spans_cpu *c;
	uint32_t i;

	if (ev->range.scope.kind == GPROF_TRACE_RESOURCE_PROC) {
		c = cpu_of(v, ev->range.scope.id);
		v->seen.irqs += begins;
		if (c)
			c->interrupted = begins;
	} else if (ev->range.scope.kind == GPROF_TRACE_RESOURCE_GOROUTINE) {
		i = find(v, ev->range.scope.id);
		v->seen.reclaims += begins;
		if (i != THREAD_NONE)
			v->all[i].reclaims = begins;
	}
}

/* Without events of calls, a wait in one would look like a wait for the fault before. */
static bool has_calls(const struct thread_spans *v)
{
	const struct gprof_trace_stats *r = &v->recorded;

	return r->recorded ? r->groups & GPROF_TRACE_GROUP_SYSCALLS && !r->min_duration_ns :
			     v->seen.calls;
}

static void on_log(struct thread_spans *v, const struct gprof_trace_event *ev)
{
	uint32_t i = find(v, ev->goroutine);

	if (i == THREAD_NONE || strcmp(ev->log.category.s, "page fault"))
		return;
	v->seen.faults++;
	v->all[i].faulted = has_calls(v);
}

static void on_label(struct thread_spans *v, const struct gprof_trace_event *ev)
{
	uint32_t i = ev->label.resource.kind == GPROF_TRACE_RESOURCE_GOROUTINE ?
			     find(v, ev->label.resource.id) :
			     THREAD_NONE;

	/* Those in brackets say only that it is the kernel's. */
	if (i != THREAD_NONE && strncmp(ev->label.text.s, "GC (", 4))
		v->all[i].name = thread_spans_text_number(v, &ev->label.text);
}

static uint32_t queue_index(struct thread_spans *v, uint32_t queue)
{
	size_t nr = v->queues.nr, i = intern_add(&v->queues, &queue, sizeof(queue));

	if (i == nr)
		v->unthrottled = xgrow(v->unthrottled, nr, &v->room_unthrottled,
				       sizeof(*v->unthrottled));
	return (uint32_t)i;
}

static void apply_ripe_metadata(struct thread_spans *v, int64_t time)
{
	const struct metadata_note *n;

	while ((n = metadata_until(&v->metadata, time))) {
		struct thread_spans_cpu *c = cpu_of(v, n->cpu);
		uint32_t queue;

		if (n->kind == METADATA_LOST) {
			thread_span_cpu_lost(v, c, n->time);
		} else if (n->kind == METADATA_UNTHROTTLED) {
			/* This may move the array that is used below. */
			queue = queue_index(v, n->queue);
			v->unthrottled[queue] = n->time;
		} else if (c->thread != THREAD_NONE) {
			c->throttled = true;
			c->queue = queue_index(v, n->queue);
		}
	}
}

static inline void apply_metadata(struct thread_spans *v, int64_t time)
{
	if (v->metadata.ripe)
		apply_ripe_metadata(v, time);
}

static void on_sync(struct thread_spans *v, const struct gprof_trace_event *ev)
{
	struct gprof_trace_stats st = { .sz = sizeof(st) };

	if (!gprof_trace_stats(v->trace, &st))
		v->lost = st.lost;
	if (ev->sync.has_clock && !v->has_clock) {
		v->has_clock = true;
		v->clock = ev->sync.clock;
	}
	if (v->use.generation && v->any)
		v->use.generation(v->use.ctx, v, ev->time > v->end ? ev->time : v->end);
	trace_stacks_generation(&v->stacks);
	apply_metadata(v, ev->time);
	for (size_t i = 0; i < v->metadata.nr_processes; i++) {
		const struct metadata_process *p = &v->metadata.processes[i];
		uint32_t thread = find(v, p->id);

		v->all[thread].pid = p->pid;
	}
	metadata_generation(&v->metadata);
}

static void on_other(struct thread_spans *v, const struct gprof_trace_event *ev)
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

/* Regions, labels and ranges of a Go program are its own, and no state of a goroutine. */
static void on_go_event(struct thread_spans *v, const struct gprof_trace_event *ev)
{
	if (ev->kind == GPROF_TRACE_SYNC || ev->kind == GPROF_TRACE_STACK_SAMPLE)
		on_other(v, ev);
	else if (ev->kind == GPROF_TRACE_STATE_TRANSITION &&
		 ev->transition.resource.kind == GPROF_TRACE_RESOURCE_GOROUTINE)
		thread_spans_on_goroutine(v, ev);
	else if (ev->kind == GPROF_TRACE_STATE_TRANSITION)
		on_proc(v, ev);
}

static inline void on_event(struct thread_spans *v, const struct gprof_trace_event *ev)
{
	struct thread_spans_cpu *c = NULL;

	if (!v->go && metadata_is_call(ev))
		return;
	apply_metadata(v, ev->time);
	if (!v->go && ev->thread >= 0 && ev->kind != GPROF_TRACE_STACK_SAMPLE) {
		c = cpu_of(v, ev->thread);
		note_cpu(v, c, ev);
	}
	if (ev->kind != GPROF_TRACE_SYNC) {
		if (!v->any)
			v->begin = ev->time;
		v->any = true;
		v->end = ev->time;
	}
	if (v->go)
		on_go_event(v, ev);
	else if (ev->kind != GPROF_TRACE_STATE_TRANSITION)
		on_other(v, ev);
	else if (ev->transition.resource.kind == GPROF_TRACE_RESOURCE_GOROUTINE)
		on_task(v, c, ev);
	else
		on_proc(v, ev);
}

/* A trace that is damaged, or made up, may name one that would need a lot of room. */
static bool is_of_cpus(const struct thread_spans *v, const struct gprof_trace_event *ev)
{
	const struct gprof_trace_transition_data *t = &ev->transition;

	if ((!v->go && ev->thread >= METADATA_CPUS_MAX) || ev->proc >= METADATA_CPUS_MAX)
		return false;
	return ev->kind != GPROF_TRACE_STATE_TRANSITION ||
	       t->resource.kind != GPROF_TRACE_RESOURCE_PROC || t->resource.id < METADATA_CPUS_MAX;
}

static int on_batch(void *ctx, const struct gprof_trace_batch *batch)
{
	metadata_add_batch(&((struct thread_spans *)ctx)->metadata, batch);
	return 0;
}

static int follow(struct thread_spans *v, const char *file)
{
	struct gprof_trace_stats st = { .sz = sizeof(st) };
	struct gprof_trace_event ev;
	bool known = false;
	int ret;

	while ((ret = gprof_trace_next(v->trace, &ev)) > 0) {
		if (!known) {
			gprof_trace_stats(v->trace, &st);
			v->go = !st.gprof_version;
			if (v->go && !v->takes_go)
				return file_kind_fail(file, FILE_GO_TRACE);
			v->recorded = st;
			known = true;
		}
		if (!is_of_cpus(v, &ev))
			return fail(
				"%s tells of a CPU of a number as none has, of %d at most; it is "
				"damaged",
				file, METADATA_CPUS_MAX);
		on_event(v, &ev);
	}
	if (ret < 0)
		return fail("%s: %s", file, gprof_error());
	apply_metadata(v, INT64_MAX);
	for (size_t cpu = 0; cpu < v->nr_cpus; cpu++)
		if (v->cpus[cpu].lost_to)
			thread_span_cpu_found(v, (int64_t)cpu, &v->cpus[cpu], NULL);
	v->over = true;
	for (uint32_t i = 0; i < v->ids.nr; i++) {
		struct thread *l = &v->all[i];

		if (!thread_is_known(l))
			continue;
		if (v->recorded.cpus_only)
			settle(v, i, NULL, v->end);
		thread_span_end(v, i, v->end, false);
		thread_span_call_end(v, i, v->end, true);
		l->last = v->end;
	}
	gprof_trace_stats(v->trace, &st);
	v->lost = st.lost;
	if (st.lost && !v->quiet)
		diag("%s: %" PRIu64 " events are missing in the trace; states of threads then are "
		     "told as lost",
		     file, st.lost);
	if (st.cpus_only && !v->quiet)
		diag("%s is of some CPUs, and threads may run on others; their states are told as lost "
		     "while they may have been there", file);
	return STATUS_OK;
}

int thread_spans_read_fd(struct thread_spans *v, int fd, const char *name)
{
	const struct gprof_trace_opts opts = {
		.sz = sizeof(opts),
		.batch = on_batch,
		.ctx = v,
	};
	int status;

	v->trace = gprof_trace_new(fd, &opts);
	status = v->trace ? follow(v, name) : file_not_opened(name, fd, FILE_TRACE);
	gprof_trace_free(v->trace);
	v->trace = NULL;
	return status;
}

int thread_spans_read(struct thread_spans *v, const char *file)
{
	int fd = strcmp(file, "-") ? open(file, O_RDONLY | O_CLOEXEC) :
				     fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
	int status;

	if (fd < 0)
		return fail("%s cannot be opened (%s)", file, strerror(errno));
	status = thread_spans_read_fd(v, fd, trace_source_told(file));
	close(fd);
	return status;
}

void thread_spans_free(struct thread_spans *v)
{
	trace_stacks_free(&v->stacks);
	intern_free(&v->texts);
	intern_free(&v->ids);
	free(v->stack_states);
	free(v->all);
	free(v->cpus);
	metadata_free(&v->metadata);
	intern_free(&v->queues);
	free(v->unthrottled);
	trace_gaps_free(&v->gaps);
}
