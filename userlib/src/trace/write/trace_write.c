// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * trace_write.c: write execution traces of a host that Go's tools open.
 *
 * Points are held until their generation is cut, put in order, run through the
 * model, and written with the strings, stacks and facts (trace_facts.h) that they need.
 */
#include "trace_write.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/opts.h"
#include "base/fd_write.h"
#include "base/own_fd.h"
#include "trace/read/trace_facts.h"
#include "trace/read/trace_wire.h"
#include "trace_model.h"
#include "trace_points.h"
#include "trace_pool.h"

#define VERSION_SYNC	25	/* from which on a generation says its clocks */
#define VERSION_END	26	/* and where it ends */
#define FACTS_WAY	2	/* that the trace is written in, of the fact 'V' */
#define NS		1000000000ULL
#define TIME_MAX	(1ULL << 62)

struct indexed {
	uint64_t offset;
	uint64_t bytes;
	uint64_t time;
};

/**
 * struct gprof_trace_writer - a trace in the making
 * @to: where to
 * @opts: the caller's options
 * @model: state of the host
 * @pool: strings and stacks of this generation
 * @pcs: of all
 * @out: bytes of it
 * @string: number of the next string that holds facts of it
 * @points: not yet written
 * @stacked: one of the points had a stack of @pool
 * @last: time of the last point of each CPU
 * @cut: time of the last cut
 * @index: of the generations
 * @nr_index: how many
 * @cap_index: room
 * @past: the points are of another time, so that the clocks of now are not theirs
 * @unended: the byte that ends the last generation is not yet written
 * @whole: up to here it is a trace
 * @sample_type: type of CPU samples, of @opts
 * @sample_unit: and its unit
 * @namer: makes stacks of the handles in points
 * @err: sticky -errno
 */
struct gprof_trace_writer {
	struct gprof_own_fd to;
	struct gprof_trace_writer_opts opts;
	struct gprof_trace_model model;
	struct gprof_trace_pool pool;
	struct gprof_trace_pcs pcs;
	struct gprof_trace_bytes out;
	uint64_t string;
	struct gprof_trace_points points;
	bool stacked;
	uint64_t *last;
	uint64_t cut;
	struct indexed *index;
	size_t nr_index;
	size_t cap_index;
	bool past;
	bool unended;
	struct gprof_trace_whole whole;
	char sample_type[GPROF_TRACE_SAMPLE_TEXT];
	char sample_unit[GPROF_TRACE_SAMPLE_TEXT];
	struct gprof_trace_namer namer;
	int err;
};

static int flush(struct gprof_trace_writer *w)
{
	int err = gprof_own_fd_is(&w->to) ? gprof_fd_write(w->to.fd, w->out.p, w->out.nr) : -EBADF;

	if (!err)
		w->model.stats.bytes += w->out.nr;
	w->out.nr = 0;
	return err;
}

/* All that was written is a trace. */
static void now_whole(struct gprof_trace_writer *w)
{
	w->whole.bytes = w->model.stats.bytes;
	w->whole.generations = w->model.stats.generations;
}

static void destroy(struct gprof_trace_writer *w)
{
	gprof_trace_model_free(&w->model);
	gprof_trace_pool_free(&w->pool);
	gprof_trace_pcs_free(&w->pcs);
	gprof_trace_bytes_free(&w->out);
	gprof_trace_points_free(&w->points);
	free(w->last);
	free(w->index);
	free(w);
}

static int header(struct gprof_trace_writer *w)
{
	char text[16] = "go 1.NN trace";

	text[5] = (char)('0' + w->opts.version / 10);
	text[6] = (char)('0' + w->opts.version % 10);
	return gprof_trace_put(&w->out, text, sizeof(text));
}

static int check(struct gprof_trace_writer_opts *o, struct gprof_error *e)
{
	if (!o->version)
		o->version = 23;
	if (o->version != 22 && o->version != 23 && o->version != 25 && o->version != 26)
		return gprof_error_set(e, EINVAL,
				       "traces are written as of Go 1.22, 1.23, 1.25 and 1.26, not 1.%u",
				       o->version);
	if (o->cpus > GPROF_TRACE_CPUS)
		return gprof_error_set(e, EINVAL, "there are at most %u CPUs, not %u",
				       GPROF_TRACE_CPUS, o->cpus);
	if (o->sample_period && (!o->sample_type || !o->sample_unit))
		return gprof_error_set(e, EINVAL, "CPU samples have a period, but no type or unit");
	return 0;
}

/* The caller's texts are the caller's. */
static void copy_sample_texts(struct gprof_trace_writer *w)
{
	struct gprof_trace_writer_opts *o = &w->opts;

	if (!o->sample_period)
		return;
	snprintf(w->sample_type, sizeof(w->sample_type), "%s", o->sample_type);
	snprintf(w->sample_unit, sizeof(w->sample_unit), "%s", o->sample_unit);
	o->sample_type = w->sample_type;
	o->sample_unit = w->sample_unit;
}

struct gprof_trace_writer *gprof_trace_writer_new(int fd,
						   const struct gprof_trace_writer_opts *opts)
{
	const size_t least = GPROF_SIZE_WITH(struct gprof_trace_writer_opts, ctx);
	struct gprof_trace_writer_opts o = { 0 };
	struct gprof_error e = { 0 };
	struct gprof_trace_writer *w = NULL;
	int err;

	if (opts && gprof_opts_copy_in(&o, sizeof(o), least, opts, "gprof_trace_writer_opts", &e)) {
		err = -e.err;
		goto out;
	}
	w = calloc(1, sizeof(*w));
	err = w ? 0 : -ENOMEM;
	if (w) {
		gprof_own_fd_borrow(&w->to, fd);
		gprof_trace_pcs_init(&w->pcs);
		w->opts = o;
		err = check(&w->opts, &e);
		if (!err)
			copy_sample_texts(w);
		if (!err)
			err = gprof_trace_model_init(&w->model, &w->opts);
		if (!err)
			err = gprof_trace_pool_init(&w->pool, &w->pcs);
		w->last = calloc(GPROF_TRACE_CPUS, sizeof(*w->last));
		if (!err && !w->last)
			err = -ENOMEM;
		if (!err)
			err = header(w);
	}
	if (err && !e.err)
		gprof_error_set(&e, -err, "no memory for a trace writer");
out:
	if (!err)
		return w;
	if (w)
		destroy(w);
	gprof_error_publish(&e);
	errno = -err;
	return NULL;
}

static bool is_tid(uint32_t tid)
{
	return tid < GPROF_TRACE_TIDS || tid == GPROF_TRACE_NO_TID;
}

static unsigned int nr_whys(const struct gprof_trace_point *p)
{
	return p->type == GPROF_TRACE_POINT_FIRED ? GPROF_TRACE_TRIGGERS : GPROF_TRACE_NR_WHYS;
}

static struct gprof_trace_point *room(struct gprof_trace_writer *w, size_t nr)
{
	struct gprof_trace_point *p = gprof_trace_points_room(&w->points, nr);
	uint64_t bytes = gprof_trace_points_bytes(&w->points);

	if (bytes > w->model.stats.memory_peak)
		w->model.stats.memory_peak = bytes;
	return p;
}

int gprof_trace_writer_add(struct gprof_trace_writer *w, const struct gprof_trace_point *p)
{
	struct gprof_trace_point *held;

	if (w->err)
		return w->err;
	if (p->time >= TIME_MAX || p->cpu >= GPROF_TRACE_CPUS || !p->type ||
	    p->type >= GPROF_TRACE_NR_POINTS || p->why >= nr_whys(p) || !is_tid(p->tid) ||
	    p->other >= GPROF_TRACE_TIDS ||
	    (p->type == GPROF_TRACE_POINT_ANNOTATION &&
	     !gprof_trace_annotations_get(&w->model.notes, p->arg)) ||
	    (!w->namer.name && p->stack > w->pool.nr_stacks))
		return -EINVAL;
	held = room(w, 1);
	if (!held)
		return -ENOMEM;
	*held = *p;
	w->stacked |= p->stack && !w->namer.name;
	/*
	 * A sample does not change the running task, so that its place among others is no matter.
	 */
	if ((held->time < w->last[p->cpu] && p->type != GPROF_TRACE_POINT_SAMPLE) ||
	    held->time < w->cut) {
		held->time = w->last[p->cpu] > w->cut ? w->last[p->cpu] : w->cut;
		w->model.stats.disordered++;
	}
	if (p->type != GPROF_TRACE_POINT_SAMPLE)
		w->last[held->cpu] = held->time;
	gprof_trace_points_added(&w->points, 1);
	return 0;
}

struct gprof_trace_point *gprof_trace_writer_room(struct gprof_trace_writer *w, size_t nr)
{
	return w->err ? NULL : room(w, nr);
}

bool gprof_trace_writer_added(struct gprof_trace_writer *w, size_t nr)
{
	const struct gprof_trace_point *first = &w->points.p[w->points.nr], *last = first + nr - 1;

	if (first->cpu >= GPROF_TRACE_CPUS || last->time >= TIME_MAX || first->time < w->cut ||
	    first->time < w->last[first->cpu])
		return false;
	w->last[first->cpu] = last->time;
	gprof_trace_points_added(&w->points, nr);
	return true;
}

int gprof_trace_writer_note(struct gprof_trace_writer *w, const struct gprof_annotation_rec *rec,
			    uint64_t *id)
{
	return w->err ? w->err : gprof_trace_annotations_add(&w->model.notes, rec, id);
}

void gprof_trace_writer_forget_note(struct gprof_trace_writer *w, uint64_t id)
{
	gprof_trace_annotations_drop(&w->model.notes, id);
}

int gprof_trace_writer_name(struct gprof_trace_writer *w, uint32_t tid, const char *name)
{
	if (w->err)
		return w->err;
	if (!tid || tid >= GPROF_TRACE_TIDS)
		return -EINVAL;
	return gprof_trace_model_name(&w->model, tid, name);
}

int gprof_trace_writer_stack(struct gprof_trace_writer *w, const struct gprof_trace_frame *frames,
			     size_t nr, uint64_t *id)
{
	size_t i;

	for (i = 0; i < nr; i++)
		if (!frames[i].function.s || !frames[i].file.s)
			return -EINVAL;
	return w->err ? w->err : gprof_trace_pool_stack(&w->pool, frames, nr, id);
}

int gprof_trace_writer_process(struct gprof_trace_writer *w, uint32_t tid, uint32_t pid)
{
	if (w->err)
		return w->err;
	if (!tid || tid >= GPROF_TRACE_TIDS || !pid || pid >= GPROF_TRACE_TIDS)
		return -EINVAL;
	return gprof_trace_model_process(&w->model, tid, pid);
}

size_t gprof_trace_writer_frames(const struct gprof_trace_writer *w, uint64_t stack,
				 struct gprof_trace_frame *frames, size_t max)
{
	return gprof_trace_pool_frames(&w->pool, stack, frames, max);
}

void gprof_trace_writer_name_stacks(struct gprof_trace_writer *w,
				    const struct gprof_trace_namer *namer)
{
	w->namer = *namer;
}

void gprof_trace_writer_held_stacks(struct gprof_trace_writer *w,
				    void (*each)(void *ctx, uint64_t *stack), void *ctx)
{
	size_t i;

	for (i = 0; i < w->points.nr; i++)
		if (w->points.p[i].stack)
			each(ctx, &w->points.p[i].stack);
}

void gprof_trace_writer_of_another_time(struct gprof_trace_writer *w)
{
	w->past = true;
}

static void clocks(struct gprof_trace_clock *c)
{
	struct timespec real;

	c->mono = now_ns();
	clock_gettime(CLOCK_REALTIME, &real);
	c->sec = (uint64_t)real.tv_sec;
	c->nsec = (uint64_t)real.tv_nsec;
}

/* How long a unit is, and since 1.25 an instant on all clocks. */
static int put_clock(struct gprof_trace_writer *w, uint64_t time,
		     const struct gprof_trace_clock *clock)
{
	struct gprof_trace_bytes body = { 0 };
	int err = 0;

	if (w->opts.version >= VERSION_SYNC)
		err = gprof_trace_put_byte(&body, GPROF_EV_SYNC);
	if (!err)
		err = gprof_trace_put_byte(&body, GPROF_EV_FREQUENCY);
	if (!err)
		err = gprof_trace_put_number(&body, NS / GPROF_TRACE_UNIT_NS);
	if (w->opts.version >= VERSION_SYNC) {
		uint64_t unit = clock->mono / GPROF_TRACE_UNIT_NS;

		/* The trace's clock is CLOCK_MONOTONIC, so that this says itself. */
		if (unit < time)
			time = unit;
		if (!err)
			err = gprof_trace_put_byte(&body, GPROF_EV_CLOCK_SNAPSHOT);
		if (!err)
			err = gprof_trace_put_number(&body, unit - time);
		if (!err)
			err = gprof_trace_put_number(&body, clock->mono);
		if (!err)
			err = gprof_trace_put_number(&body, clock->sec);
		if (!err)
			err = gprof_trace_put_number(&body, clock->nsec);
	}
	if (!err)
		err = gprof_trace_put_batch(&w->out, w->model.generation, GPROF_TRACE_NO_THREAD,
					    time, &body);
	gprof_trace_bytes_free(&body);
	return err;
}

/* Before 1.25 the format has no place for it. */
static int put_wall_clock(struct gprof_trace_writer *w, uint64_t time,
			  const struct gprof_trace_clock *clock)
{
	const uint64_t numbers[] = { clock->mono, clock->sec, clock->nsec };

	if (w->past || w->opts.version >= VERSION_SYNC)
		return 0;
	return gprof_trace_facts_add_numbers(&w->model.facts, time, 'C', numbers,
					     sizeof(numbers) / sizeof(*numbers));
}

static int put_text(struct gprof_trace_bytes *fact, const char *text)
{
	int err = gprof_trace_put_number(fact, strlen(text));

	return err ? err : gprof_trace_put(fact, text, strlen(text));
}

/* Facts of the trace: its writer, its configuration, and its CPU samples. */
static int put_origin(struct gprof_trace_writer *w, uint64_t time)
{
	const struct gprof_trace_writer_opts *o = &w->opts;
	const uint64_t recorded[] = {
		o->groups, o->stacks, o->kernel_frames, o->min_duration_ns,
		o->cpus_only * GPROF_TRACE_OF_CPUS + o->whole_host * GPROF_TRACE_OF_HOST,
	};
	struct gprof_trace_facts *facts = &w->model.facts;
	const uint64_t way = FACTS_WAY;
	struct gprof_trace_bytes fact = { 0 };
	int err;

	if (w->model.generation != 1)
		return 0;
	err = gprof_trace_facts_add_numbers(facts, time, 'V', &way, 1);
	if (!err && o->recorded)
		err = gprof_trace_facts_add_numbers(facts, time, 'R', recorded,
						    sizeof(recorded) / sizeof(*recorded));
	if (!err && o->sample_period) {
		err = gprof_trace_put_byte(&fact, 'P');
		if (!err)
			err = gprof_trace_put_number(&fact, o->sample_period);
		if (!err)
			err = put_text(&fact, o->sample_type);
		if (!err)
			err = put_text(&fact, o->sample_unit);
		if (!err)
			err = gprof_trace_facts_add(facts, time, &fact);
	}
	gprof_trace_bytes_free(&fact);
	return err;
}

/* The strings and stacks of the generation, and the facts behind them. */
static int put_tables(struct gprof_trace_writer *w, uint64_t time)
{
	int err = gprof_trace_pool_write(&w->pool, &w->out, w->model.generation, time);

	w->string = w->pool.strings.nr;
	return err ? err : gprof_trace_facts_write(&w->model.facts, &w->out, w->model.generation,
						   &w->string);
}

static int note(struct gprof_trace_writer *w, uint64_t time)
{
	if (!w->opts.index)
		return 0;
	if (gprof_grow(&w->index, &w->cap_index, w->nr_index + 1, sizeof(*w->index)))
		return -ENOMEM;
	w->index[w->nr_index++] = (struct indexed){ w->model.stats.bytes, w->out.nr, time };
	return 0;
}

/* The first @nr points. */
static int write_generation(struct gprof_trace_writer *w, size_t nr,
			    const struct gprof_trace_clock *clock)
{
	struct gprof_trace_point *points = w->points.p;
	struct gprof_trace_clock now;
	uint64_t first;
	int err = 0;

	if (!clock) {
		clocks(&now);
		clock = &now;
	}
	if (w->namer.name)
		err = w->namer.name(w->namer.ctx, w, points, nr);
	if (!err && w->opts.generation)
		err = w->opts.generation(w->opts.ctx, w->model.generation + 1, points, nr);
	if (!err && w->unended)
		err = gprof_trace_put_byte(&w->out, GPROF_EV_END_OF_GENERATION);
	/* The header, and the end of the generation before, belong to no generation. */
	if (!err)
		err = flush(w);
	if (!err)
		now_whole(w);
	w->unended = w->opts.version >= VERSION_END;
	first = points[0].time / GPROF_TRACE_UNIT_NS;
	if (!err)
		err = gprof_trace_model_run(&w->model, points, nr, &w->pool, &w->out);
	if (!err)
		err = put_clock(w, first, clock);
	if (!err)
		err = put_origin(w, first);
	if (!err)
		err = put_wall_clock(w, first, clock);
	if (!err)
		err = put_tables(w, first);
	if (!err)
		err = note(w, first);
	if (!err)
		err = flush(w);
	if (err)
		return err;
	w->model.stats.generations++;
	if (!w->unended)
		now_whole(w);
	return 0;
}

/* The rest belongs to the next generation, which has its own stacks. */
static int move_on(struct gprof_trace_writer *w, size_t nr)
{
	struct gprof_trace_pool pool;
	size_t i;
	int err = gprof_trace_pool_init(&pool, &w->pcs);

	gprof_trace_points_drop(&w->points, nr);
	for (i = 0; w->stacked && i < w->points.nr && !err; i++) {
		if (w->points.p[i].stack)
			err = gprof_trace_pool_move(&pool, &w->pool, &w->points.p[i].stack);
	}
	gprof_trace_pool_free(&w->pool);
	w->pool = pool;
	return err;
}

int gprof_trace_writer_cut(struct gprof_trace_writer *w, uint64_t time,
			   const struct gprof_trace_clock *clock)
{
	size_t nr;

	if (w->err)
		return w->err;
	w->err = gprof_trace_points_sort(&w->points);
	if (w->err)
		return w->err;
	nr = gprof_trace_points_before(&w->points, time);
	if (time > w->cut)
		w->cut = time;
	if (nr)
		w->err = write_generation(w, nr, clock);
	if (!w->err)
		w->err = move_on(w, nr);
	return w->err;
}

static int put_index(struct gprof_trace_writer *w)
{
	struct gprof_trace_facts *facts = &w->model.facts;
	struct gprof_trace_bytes fact = { 0 };
	size_t i = 0;
	int err = 0;

	while (i < w->nr_index && !err) {
		err = gprof_trace_put_byte(&fact, 'I');
		for (; i < w->nr_index && !err; i++) {
			if (fact.nr + 4 * GPROF_VARINT_MAX > GPROF_TRACE_FACT_MAX)
				break;
			err = gprof_trace_put_number(&fact, i + 1);
			if (!err)
				err = gprof_trace_put_number(&fact, w->index[i].offset);
			if (!err)
				err = gprof_trace_put_number(&fact, w->index[i].bytes);
			if (!err)
				err = gprof_trace_put_number(&fact, w->index[i].time);
		}
		if (!err)
			err = gprof_trace_facts_add(facts, w->model.now, &fact);
	}
	gprof_trace_bytes_free(&fact);
	return err ? err : gprof_trace_facts_write(facts, &w->out, w->model.generation, &w->string);
}

/* A trace of no points says its clocks, and, for Go 1.23 wants an event, that CPU 0 idles. */
static int put_nothing(struct gprof_trace_writer *w)
{
	static const unsigned char idle[] = { GPROF_EV_PROC_STATUS, 0, 0, GPROF_PROC_IDLE };
	struct gprof_trace_bytes body = { 0 };
	struct gprof_trace_clock now;
	uint64_t time;
	int err;

	w->model.generation++;
	clocks(&now);
	time = now.mono / GPROF_TRACE_UNIT_NS;
	w->unended = w->opts.version >= VERSION_END;
	err = gprof_trace_put(&body, idle, sizeof(idle));
	if (!err)
		err = gprof_trace_put_batch(&w->out, w->model.generation, 0, time, &body);
	if (!err)
		err = put_clock(w, time, &now);
	if (!err)
		err = put_origin(w, time);
	if (!err)
		err = put_wall_clock(w, time, &now);
	if (!err)
		err = put_tables(w, time);
	gprof_trace_bytes_free(&body);
	return err;
}

int gprof_trace_writer_close(struct gprof_trace_writer *w)
{
	int err;

	if (!w)
		return 0;
	err = gprof_trace_writer_cut(w, TIME_MAX, NULL);
	if (!err && !w->model.generation)
		err = put_nothing(w);
	if (!err)
		err = put_index(w);
	if (!err && w->unended)
		err = gprof_trace_put_byte(&w->out, GPROF_EV_END_OF_GENERATION);
	if (!err)
		err = flush(w);
	destroy(w);
	return err;
}

struct gprof_trace_whole gprof_trace_writer_whole(const struct gprof_trace_writer *w)
{
	return w->whole;
}

int gprof_trace_writer_stats(const struct gprof_trace_writer *w,
			     struct gprof_trace_writer_stats *st)
{
	const size_t least = GPROF_SIZE_WITH(struct gprof_trace_writer_stats, memory_peak);
	struct gprof_trace_writer_stats out = w->model.stats;

	out.reused = w->model.reused;
	return gprof_opts_copy_out(st, &out, sizeof(out), least, "gprof_trace_writer_stats", NULL);
}
