// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * trace.c: the reader of execution traces.
 *
 * Generation by generation: read its batches (trace_generation.c); let the
 * threads' events come, the earliest first (trace_frontier.c), as far as the
 * scheduler's rules allow (trace_order.c); give each a time of its own.
 */
#include <gprof/trace.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/opts.h"
#include "trace_frontier.h"
#include "trace_generation.h"
#include "trace_input.h"
#include "trace_memory.h"
#include "trace_order.h"
#include "trace_wire.h"

#define MEMORY_DEFAULT	(4ULL << 30)
#define MEMORY_MAX	(16ULL << 30)	/* numbers of strings, frames, ... are 32 bits wide */
#define HEADER		16		/* bytes */
#define VERSION_SYNC	25		/* sync events have a time of their own */

/**
 * struct gprof_trace - a reader
 * @memory: of everything but this struct
 * @input: bytes
 * @generation: current
 * @frontier: next event of each thread
 * @order: which of them may come
 * @version: of the header
 * @next_sample: of the generation's CPU samples
 * @syncs: sync events returned
 * @last: time of the last event
 * @latest: latest time that an event itself had
 * @pending: time that those events have which the last one stands for too
 * @events: returned
 * @repaired: as in struct gprof_trace_stats
 * @tied: likewise
 * @generations: likewise
 * @own_times: as in struct gprof_trace_opts
 * @ended: nothing follows
 * @err: final -errno, or 0
 * @offset: where the error lies
 * @error: its sentence
 * @text: with the offset
 */
struct gprof_trace {
	struct gprof_trace_memory memory;
	struct gprof_trace_input input;
	struct gprof_trace_generation generation;
	struct gprof_trace_frontier frontier;
	struct gprof_trace_order order;
	unsigned int version;
	size_t next_sample;
	uint64_t syncs;
	int64_t last;
	int64_t latest;
	int64_t pending;
	uint64_t events;
	uint64_t repaired;
	uint64_t tied;
	uint64_t generations;
	bool own_times;
	bool ended;
	int err;
	uint64_t offset;
	struct gprof_error error;
	char text[GPROF_ERROR_TEXT + 32];
};

static int fail(struct gprof_trace *t, int err)
{
	t->err = err;
	snprintf(t->text, sizeof(t->text), "byte %llu: %s", (unsigned long long)t->offset,
		 t->error.text);
	return gprof_error_set(NULL, -err, "%s", t->text);
}

static int no_trace(struct gprof_trace *t, const char *what)
{
	return gprof_error_set(&t->error, EBADMSG, "this is no execution trace that can be read: %s",
			       what);
}

static int read_header(struct gprof_trace *t)
{
	static const char frame[HEADER] = "go 1.?? trace\0\0";
	struct gprof_trace_input *in = &t->input;
	char head[HEADER];
	int i, err = gprof_trace_input_want(in, HEADER);

	if (err)
		return gprof_error_set(&t->error, -err, "the trace cannot be read (%s)",
				       gprof_strerror(-err));
	if (in->avail >= 2 && in->p[0] == 0x1f && in->p[1] == 0x8b)
		return no_trace(t, "it is compressed; unpack it with gzip -d first, unless it is "
				"a profile");
	if (in->avail < HEADER)
		return no_trace(t, in->avail ? "it is shorter than a header" : "it is empty");
	memcpy(head, in->p, HEADER);
	for (i = 0; i < HEADER; i++)
		if (frame[i] == '?' ? head[i] < '0' || head[i] > '9' : head[i] != frame[i])
			return no_trace(t, "it does not begin with \"go 1.NN trace\"");
	t->version = (unsigned int)(head[5] - '0') * 10 + (unsigned int)(head[6] - '0');
	if (t->version < 22)
		return no_trace(t, "it is of before Go 1.22, in another format; use that go tool trace");
	if (t->version != 22 && t->version != 23 && t->version != 25 && t->version != 26)
		return no_trace(t, "its header names a version other than 1.22, 1.23, 1.25 and 1.26");
	gprof_trace_input_consume(in, HEADER);
	return 0;
}

static struct gprof_trace *new_trace(const struct gprof_trace_opts *opts, struct gprof_error *error)
{
	const size_t least = GPROF_SIZE_WITH(struct gprof_trace_opts, memory_max);
	struct gprof_trace_opts o = { 0 };
	struct gprof_trace *t;

	if (opts && gprof_opts_copy_in(&o, sizeof(o), least, opts, "gprof_trace_opts", error))
		return NULL;
	if (!o.memory_max)
		o.memory_max = MEMORY_DEFAULT;
	t = calloc(1, sizeof(*t));
	if (!t) {
		gprof_error_set(error, ENOMEM, "no memory for a trace reader");
		return NULL;
	}
	gprof_trace_memory_init(&t->memory, o.memory_max < MEMORY_MAX ? o.memory_max : MEMORY_MAX);
	t->input.memory = &t->memory;
	t->generation.batch = o.batch;
	t->generation.ctx = o.ctx;
	t->own_times = o.own_times;
	return t;
}

/* The input is there, unless @err says why not. */
static struct gprof_trace *start(struct gprof_trace *t, int err)
{
	if (err) {
		gprof_error_set(&t->error, -err, "the trace cannot be read (%s)",
				gprof_strerror(-err));
	} else {
		err = read_header(t);
		if (!err && gprof_trace_generation_init(&t->generation, &t->memory, t->version))
			err = gprof_error_set(&t->error, ENOMEM, "no memory for a trace reader");
	}
	if (err) {
		gprof_error_publish(&t->error);
		gprof_trace_free(t);
		errno = -err;
		return NULL;
	}
	gprof_trace_frontier_init(&t->frontier, &t->memory, &t->input, &t->generation);
	gprof_trace_order_init(&t->order, &t->memory, &t->generation.dictionary, &t->error);
	t->latest = INT64_MIN;
	return t;
}

/* Without memory for the reader there is no place for a sentence. */
static struct gprof_trace *first(const struct gprof_trace_opts *opts)
{
	struct gprof_error error = { 0 };
	struct gprof_trace *t = new_trace(opts, &error);

	if (!t)
		gprof_error_publish(&error);
	return t;
}

struct gprof_trace *gprof_trace_new(int fd, const struct gprof_trace_opts *opts)
{
	struct gprof_trace *t = first(opts);

	return t ? start(t, gprof_trace_input_fd(&t->input, fd)) : NULL;
}

struct gprof_trace *gprof_trace_new_memory(const void *data, size_t len,
					    const struct gprof_trace_opts *opts)
{
	struct gprof_trace *t = first(opts);

	if (t)
		gprof_trace_input_memory(&t->input, data, len);
	return t ? start(t, 0) : NULL;
}

struct gprof_trace *gprof_trace_new_stream(ssize_t (*read)(void *ctx, void *buf, size_t len),
					    void *ctx, const struct gprof_trace_opts *opts)
{
	struct gprof_trace *t = first(opts);

	return t ? start(t, gprof_trace_input_stream(&t->input, read, ctx)) : NULL;
}

void gprof_trace_free(struct gprof_trace *t)
{
	if (!t)
		return;
	gprof_trace_order_free(&t->order);
	gprof_trace_frontier_free(&t->frontier);
	gprof_trace_generation_free(&t->generation);
	gprof_trace_input_free(&t->input);
	free(t);
}

/* Later than the event before, with any time of its own. */
static inline void place(struct gprof_trace *t, struct gprof_trace_event *ev, int64_t own)
{
	ev->time = own > t->last ? own : t->last + 1;
	t->last = ev->time;
	t->events++;
}

static inline int emit(struct gprof_trace *t, struct gprof_trace_event *ev, int64_t own)
{
	place(t, ev, own);
	if (own < t->latest) {
		t->repaired++;
	} else {
		t->latest = own;
		if (ev->time != own)
			t->tied++;
	}
	if (t->own_times)
		ev->time = own;
	return 1;
}

static void sync_event(struct gprof_trace *t, struct gprof_trace_event *ev)
{
	memset(&ev->sync, 0, sizeof(ev->sync));
	ev->kind = GPROF_TRACE_SYNC;
	ev->type = GPROF_EV_SYNC_POINT;
	ev->thread = ev->proc = ev->goroutine = GPROF_TRACE_NONE;
	ev->stack = 0;
	ev->sync.nr = ++t->syncs;
}

static int emit_end(struct gprof_trace *t, struct gprof_trace_event *ev)
{
	t->ended = true;
	sync_event(t, ev);
	place(t, ev, t->last);
	return 1;
}

/* The earliest event's own time, or 1; none is earlier than that when it is given. */
static int64_t first_time(const struct gprof_trace *t)
{
	const struct gprof_trace_generation *g = &t->generation;
	int64_t time = INT64_MAX;

	if (t->frontier.nr)
		time = t->frontier.heap[0].time;
	if (g->nr_samples && g->samples[0].time < time)
		time = g->samples[0].time;
	return time > 0 && time < INT64_MAX ? time : 1;
}

/*
 * When a generation begins is said by its earliest batch. Events before Go 1.25
 * must not get other times by it than Go's readers of that age give them: there,
 * a sync is right before the first event, or right behind the last one.
 */
static int emit_sync(struct gprof_trace *t, struct gprof_trace_event *ev)
{
	const struct gprof_trace_generation *g = &t->generation;
	int64_t begin;

	if (!gprof_trace_ns(g->ns_per_unit, g->min_time, &begin))
		return gprof_error_set(&t->error, EBADMSG, "generation %llu begins beyond 2^62 ns",
				       (unsigned long long)g->number);
	sync_event(t, ev);
	ev->sync.generation = g->number;
	ev->sync.has_clock = g->has_clock;
	if (g->has_clock)
		ev->sync.clock = g->clock;
	if (t->version >= VERSION_SYNC) {
		place(t, ev, begin);
	} else if (t->syncs > 1) {
		place(t, ev, t->last);
	} else {
		ev->time = first_time(t) - 1;
		t->events++;
	}
	return 1;
}

static __attribute__((noinline)) int next_generation(struct gprof_trace *t, struct gprof_trace_event *ev)
{
	struct gprof_trace_generation *g = &t->generation;
	int ret;

	if (g->late.err) {
		t->error = g->late;
		t->offset = g->late_offset;
		return -t->error.err;
	}
	ret = gprof_trace_generation_read(g, &t->input, &t->error, &t->offset);
	if (ret < 0)
		return ret;
	if (!ret)
		return emit_end(t, ev);
	t->generations++;
	t->next_sample = 0;
	gprof_trace_order_generation(&t->order, g->number);
	ret = gprof_trace_frontier_start(&t->frontier, &t->error, &t->offset);
	if (ret)
		return ret;
	t->offset = t->input.offset;
	return emit_sync(t, ev);
}

static __attribute__((noinline)) int emit_sample(struct gprof_trace *t,
						 struct gprof_trace_event *ev)
{
	const struct gprof_trace_sample *s = &t->generation.samples[t->next_sample++];

	ev->kind = GPROF_TRACE_STACK_SAMPLE;
	ev->type = GPROF_EV_CPU_SAMPLE;
	ev->thread = s->thread;
	ev->proc = s->proc;
	ev->goroutine = s->goroutine;
	ev->stack = s->stack;
	return emit(t, ev, s->time);
}

/* No thread may go on: name the one that came nearest. */
static __attribute__((cold)) int report_deadlock(struct gprof_trace *t)
{
	const struct gprof_trace_cursor *c = gprof_trace_frontier_at(&t->frontier, 0);
	const struct gprof_trace_spec *spec = &gprof_trace_specs[c->type];
	char args[160] = "";
	size_t n = 0;
	unsigned int i;

	for (i = 0; i + 1 < spec->timed && n < sizeof(args); i++)
		n += (size_t)snprintf(args + n, sizeof(args) - n, " %s=%llu", spec->args[i],
				      (unsigned long long)c->args[i]);
	t->offset = gprof_trace_cursor_offset(c);
	return gprof_error_set(&t->error, EBADMSG,
			       "%zu threads of generation %llu wait for something that none of them does; the earliest is thread %lld with %s%s",
			       t->frontier.nr, (unsigned long long)t->generation.number,
			       (long long)c->thread, spec->name, args);
}

/* The event of a cursor, if it may come. 1, 0, -errno. */
static inline __attribute__((always_inline)) int
apply(struct gprof_trace *t, struct gprof_trace_cursor *c, struct gprof_trace_event *ev)
{
	int ret = gprof_trace_order_apply(&t->order, c, ev);

	if (ret < 0)
		t->offset = gprof_trace_cursor_offset(c);
	t->pending = c->time;
	return ret;
}

/* That of the @i-th slot. */
static int try_slot(struct gprof_trace *t, size_t i, struct gprof_trace_event *ev)
{
	int err, ret = apply(t, gprof_trace_frontier_at(&t->frontier, i), ev);

	if (ret <= 0)
		return ret;
	err = gprof_trace_frontier_step(&t->frontier, i, &t->error, &t->offset);
	return err ? err : emit(t, ev, t->pending);
}

/* The earliest event is ahead of one that must precede it: find that. */
static __attribute__((noinline)) int out_of_order(struct gprof_trace *t, struct gprof_trace_event *ev)
{
	size_t i;
	int ret = 0;

	gprof_trace_frontier_sort(&t->frontier);
	for (i = 1; i < t->frontier.nr && !ret; i++)
		ret = try_slot(t, i, ev);
	return ret ? ret : report_deadlock(t);
}

static inline int next(struct gprof_trace *t, struct gprof_trace_event *ev)
{
	const struct gprof_trace_event *follow = gprof_trace_order_follow(&t->order);
	struct gprof_trace_frontier *f = &t->frontier;
	struct gprof_trace_cursor *c;
	bool sample = t->next_sample < t->generation.nr_samples;
	int err, ret;

	if (follow) {
		*ev = *follow;
		return emit(t, ev, t->pending);
	}
	if (!f->nr && !sample)
		return next_generation(t, ev);
	if (sample && (!f->nr || t->generation.samples[t->next_sample].time < f->heap[0].time))
		return emit_sample(t, ev);
	c = gprof_trace_frontier_at(f, 0);
	ret = apply(t, c, ev);
	if (ret <= 0)
		return ret ? ret : out_of_order(t, ev);
	err = gprof_trace_frontier_advance(f, c, &t->error, &t->offset);
	return err ? err : emit(t, ev, t->pending);
}

int gprof_trace_next(struct gprof_trace *t, struct gprof_trace_event *ev)
{
	int ret;

	if (t->err)
		return gprof_error_set(NULL, -t->err, "%s", t->text);
	if (t->ended)
		return 0;
	ret = next(t, ev);
	return ret < 0 ? fail(t, ret) : ret;
}

size_t gprof_trace_stack(const struct gprof_trace *t, uint64_t stack,
			 struct gprof_trace_frame *frames, size_t max)
{
	return gprof_trace_dictionary_frames(&t->generation.dictionary, stack, frames, max);
}

bool gprof_trace_string(const struct gprof_trace *t, uint64_t id, struct gprof_trace_text *text)
{
	const struct gprof_trace_text *s;

	s = gprof_trace_dictionary_string(&t->generation.dictionary, id);
	if (s)
		*text = *s;
	return s;
}

int gprof_trace_stats(const struct gprof_trace *t, struct gprof_trace_stats *st)
{
	const struct gprof_trace_stats out = {
		.version = t->version,
		.offset = t->err ? t->offset : t->input.offset,
		.generations = t->generations,
		.generation = t->generation.number,
		.batches = t->generation.nr_all,
		.experimental = t->generation.nr_experimental,
		.events = t->events,
		.repaired = t->repaired,
		.tied = t->tied,
		.memory = t->memory.used + sizeof(*t),
		.memory_peak = t->memory.peak + sizeof(*t),
		.gprof_version = t->generation.told.gprof_version,
		.lost = t->generation.told.lost,
		.sample_period = t->generation.told.sample_period,
		.sample_type = t->generation.told.sample_type,
		.sample_unit = t->generation.told.sample_unit,
		.recorded = t->generation.told.recorded,
		.groups = (unsigned int)t->generation.told.groups,
		.stacks = (unsigned int)t->generation.told.stacks,
		.kernel_frames = t->generation.told.kernel_frames,
		.min_duration_ns = t->generation.told.min_duration_ns,
		.cpus_only = t->generation.told.target == GPROF_TRACE_OF_CPUS,
		.whole_host = t->generation.told.target == GPROF_TRACE_OF_HOST,
	};

	return gprof_opts_copy_out(st, &out, sizeof(out),
				   GPROF_SIZE_WITH(struct gprof_trace_stats, memory_peak),
				   "gprof_trace_stats", NULL);
}
