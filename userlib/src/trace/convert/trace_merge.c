// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * trace_merge.c: the kernel's rings of all CPUs, read side by side into a writer.
 */
#include "trace_merge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

/* Bytes that are read of a ring before another one may be behind. */
#define PIECE_MIN	512
#define PIECE_ALL	32768

static int on_point(void *ctx, const struct gprof_trace_point *p)
{
	struct gprof_trace_merge *m = ((struct gprof_trace_merge_cpu *)ctx)->merge;
	struct gprof_trace_point lost;
	int err;

	if (m->users)
		gprof_trace_users_count(m->users, p, 1);
	/* Up to the end nothing more is known. */
	if (p->type == GPROF_TRACE_POINT_LOST && p->time > m->until) {
		lost = *p;
		lost.time = m->until;
		p = &lost;
	}
	if (p->time < m->from || p->time > m->until) {
		if (p->type == GPROF_TRACE_POINT_ANNOTATION)
			gprof_trace_writer_forget_note(m->writer, p->arg);
		return 0;
	}
	err = gprof_trace_writer_add(m->writer, p);
	/* A record that makes no sense is no reason to end. */
	if (err == -EINVAL) {
		if (p->type == GPROF_TRACE_POINT_ANNOTATION)
			gprof_trace_writer_forget_note(m->writer, p->arg);
		m->refused++;
		return 0;
	}
	m->points[p->type]++;
	m->added++;
	return err;
}

/* In units that let a generation of an hour fit. */
static uint32_t since_cut(const struct gprof_trace_merge *m, uint64_t time)
{
	uint64_t units = time > m->cut ? (time - m->cut) / 1024 : 0;

	return units < GPROF_NONE ? (uint32_t)units : GPROF_NONE - 1;
}

static int on_task(void *ctx, uint32_t cpu, uint64_t time, const struct gprof_task_rec *rec)
{
	struct gprof_trace_merge *m = ((struct gprof_trace_merge_cpu *)ctx)->merge;
	uint32_t when = since_cut(m, time), last = gprof_map64_get(&m->named, rec->tid);
	int err = m->users ? gprof_trace_users_name(m->users, rec) : 0;

	(void)cpu;
	if (err)
		return err;
	/* Another CPU's ring, read before, has had its later name. */
	if (last != GPROF_NONE && last > when)
		return 0;
	err = gprof_map64_put(&m->named, rec->tid, when);
	if (!err)
		err = gprof_trace_writer_name(m->writer, rec->tid, rec->comm);
	if (!err)
		err = gprof_trace_writer_process(m->writer, rec->tid, rec->process.pid);
	if (err != -EINVAL)
		return err;
	m->refused++;
	return 0;
}

static int on_stack(void *ctx, const struct gprof_stack_rec *rec, uint32_t *handle)
{
	struct gprof_trace_naming *n = ((struct gprof_trace_merge_cpu *)ctx)->merge->naming;

	return n ? gprof_stacks_add(&n->stacks, rec, handle) : 0;
}

static int on_map(void *ctx, const struct gprof_map_rec *rec, const char *path)
{
	struct gprof_trace_naming *n = ((struct gprof_trace_merge_cpu *)ctx)->merge->naming;

	return n ? gprof_trace_naming_map(n, rec, path) : 0;
}

static int on_note(void *ctx, const struct gprof_annotation_rec *rec, uint64_t *id)
{
	return gprof_trace_writer_note(((struct gprof_trace_merge_cpu *)ctx)->merge->writer, rec,
				       id);
}

static const struct gprof_ktrace_ops ops = { on_point, on_task, on_stack, on_map, on_note };

int gprof_trace_merge_init(struct gprof_trace_merge *m, struct gprof_buffer *buffer,
			   uint64_t generation_ns)
{
	size_t i;

	memset(m, 0, sizeof(*m));
	m->generation_ns = generation_ns;
	m->until = UINT64_MAX;
	gprof_map64_init(&m->named);
	m->cpus = calloc(buffer->nr, sizeof(*m->cpus));
	if (!m->cpus)
		return -ENOMEM;
	m->nr = buffer->nr;
	for (i = 0; i < m->nr; i++) {
		m->cpus[i].ring = &buffer->rings[i];
		m->cpus[i].merge = m;
		gprof_ktrace_init(&m->cpus[i].k, &ops, &m->cpus[i]);
	}
	return 0;
}

void gprof_trace_merge_free(struct gprof_trace_merge *m)
{
	size_t i;

	for (i = 0; i < m->nr; i++)
		gprof_ktrace_free(&m->cpus[i].k);
	free(m->cpus);
	gprof_map64_free(&m->named);
	memset(m, 0, sizeof(*m));
}

static int name_stacks(void *ctx, struct gprof_trace_writer *w, struct gprof_trace_point *points,
		       size_t nr)
{
	return gprof_trace_naming_name(ctx, w, points, nr);
}

void gprof_trace_merge_begin(struct gprof_trace_merge *m, struct gprof_trace_naming *naming,
			     uint64_t now)
{
	const struct gprof_trace_namer namer = { name_stacks, naming };
	size_t i;

	m->cut = now;
	m->due = now + m->generation_ns;
	m->naming = naming;
	if (!naming)
		return;
	gprof_trace_writer_name_stacks(m->writer, &namer);
	for (i = 0; i < m->nr; i++)
		m->cpus[i].k.stacks = true;
}

/*
 * The time before which no more points will come, or, with @late, should: a later one of before
 * gets the time of the cut.
 */
static uint64_t reached(const struct gprof_trace_merge *m, uint64_t late)
{
	uint64_t least = UINT64_MAX;
	size_t i;

	for (i = 0; i < m->nr; i++) {
		const struct gprof_trace_merge_cpu *c = &m->cpus[i];
		uint64_t t = c->empty && c->reached >= late ? c->reached - late : c->reached;

		if (t < least)
			least = t;
	}
	return least;
}

/* Numbers of stacks, wherever one is referred to: to be marked, or to be changed. */
struct numbers {
	uint32_t *v;
	bool changed;
};

static void visit_number(void *ctx, uint32_t *number)
{
	struct numbers *n = ctx;

	if (*number == GPROF_NONE)
		return;
	if (n->changed)
		*number = n->v[*number];
	else
		n->v[*number] = 0;
}

static void visit_stack(void *ctx, uint64_t *stack)
{
	uint32_t number = *stack ? (uint32_t)(*stack - 1) : GPROF_NONE;

	visit_number(ctx, &number);
	if (*stack)
		*stack = number + 1ULL;
}

static void visit_all(struct gprof_trace_merge *m, struct numbers *n)
{
	size_t i;

	for (i = 0; i < m->nr; i++) {
		struct gprof_ktrace *k = &m->cpus[i].k;

		gprof_map64_each(&k->decoder.stacks, visit_number, n);
		visit_number(n, &k->decoder.next);
		if (k->held)
			visit_stack(n, &k->event.stack);
	}
	gprof_trace_writer_held_stacks(m->writer, visit_stack, n);
}

static int forget(struct gprof_trace_merge *m)
{
	size_t i, nr = m->naming->stacks.nr;
	struct numbers n = { .v = malloc((nr + 1) * sizeof(*n.v)) };
	int err = -ENOMEM;

	if (!n.v)
		return err;
	for (i = 0; i < nr; i++)
		n.v[i] = GPROF_NONE;
	visit_all(m, &n);
	err = gprof_trace_naming_forget(m->naming, n.v);
	n.changed = true;
	if (!err)
		visit_all(m, &n);
	free(n.v);
	return err;
}

static int cut(struct gprof_trace_merge *m, uint64_t time)
{
	int err = gprof_trace_writer_cut(m->writer, time, NULL);

	m->cut = time;
	gprof_map64_clear(&m->named);
	if (!err && m->naming && gprof_trace_naming_full(m->naming))
		err = forget(m);
	return err;
}

static uint64_t held(const struct gprof_trace_merge *m)
{
	struct gprof_trace_writer_stats st = { .sz = sizeof(st) };

	gprof_trace_writer_stats(m->writer, &st);
	return m->added - st.points;
}

static int cut_if_due(struct gprof_trace_merge *m)
{
	uint64_t safe = reached(m, GPROF_TRACE_LATE_NS);
	int err = 0;

	while (!err && safe >= m->due) {
		err = cut(m, m->due);
		m->due += m->generation_ns;
	}
	if (err || held(m) < GPROF_TRACE_HELD_MAX)
		return err;
	if (safe <= m->cut)
		safe = reached(m, 0);
	return safe > m->cut ? cut(m, safe) : 0;
}

static size_t piece(const struct gprof_trace_merge *m)
{
	size_t nr = PIECE_ALL / m->nr;

	return nr < PIECE_MIN ? PIECE_MIN : nr;
}

/* Adds those that were written into the writer's room; each by itself where not all are wanted. */
static int add_plain(struct gprof_trace_merge *m, struct gprof_trace_merge_cpu *c,
		     const struct gprof_trace_point *p, size_t nr)
{
	int err = 0;
	size_t i;

	if (p[0].time >= m->from && p[nr - 1].time <= m->until &&
	    gprof_trace_writer_added(m->writer, nr)) {
		/* Counting is cheaper than going on. */
#pragma GCC unroll 4
		for (i = 0; i < nr; i++)
			m->points[p[i].type]++;
		if (m->users)
			gprof_trace_users_count(m->users, p, nr);
		m->added += nr;
		return 0;
	}
	/* An added point takes the place of one that was read. */
	for (i = 0; i < nr; i++) {
		const struct gprof_trace_point one = p[i];
		int ret = on_point(c, &one);

		if (ret && !err)
			err = ret;
	}
	return err;
}

/* Records that are one event each, @max at most; how many there were, or -errno. */
static ssize_t read_plain(struct gprof_trace_merge *m, struct gprof_trace_merge_cpu *c, size_t max)
{
	struct gprof_ring *r = c->ring;
	size_t nr = gprof_ring_ahead(r) / sizeof(uint64_t);
	struct gprof_trace_point *points;
	int err;

	if (nr > max)
		nr = max;
	points = nr ? gprof_trace_writer_room(m->writer, nr) : NULL;
	nr = points ? gprof_ktrace_plain(&c->k, gprof_ring_here(r), nr, points) : 0;
	if (!nr)
		return 0;
	err = add_plain(m, c, points, nr);
	gprof_ring_advance(r, nr * sizeof(uint64_t));
	return err ? err : (ssize_t)nr;
}

/* A piece of a ring; @c->empty says whether it was the last that there was. */
static int read_piece(struct gprof_trace_merge *m, struct gprof_trace_merge_cpu *c,
		      uint64_t (*now)(void))
{
	struct gprof_ring *r = c->ring;
	uint64_t before = now ? now() : m->until, end = 0;
	size_t left = piece(m);
	int err = 0, ret;

	do {
		const struct gprof_rec *rec;
		uint32_t size;
		ssize_t nr;

		ret = gprof_ring_peek(r, &rec, &size);
		if (ret <= 0)
			break;
		/* Points that come meanwhile are for the next time. */
		if (!end)
			end = r->limit;
		nr = read_plain(m, c, left);
		if (!nr) {
			ret = gprof_ktrace_feed(&c->k, rec, size);
			gprof_ring_advance(r, size);
		}
		if ((nr < 0 || ret < 0) && !err)
			err = nr < 0 ? (int)nr : ret;
		left -= nr > 0 ? (size_t)nr : 1;
	} while (r->pos != end && left);
	if (end)
		gprof_ring_release(r);
	if (r->err && !err)
		err = r->err;
	c->empty = !end || r->pos == end || r->err;
	if (m->more && !err) {
		ret = m->more(m->ctx, (size_t)(c - m->cpus));
		c->empty = ret <= 0;
		if (ret < 0)
			err = ret;
	}
	if (c->empty && before > GPROF_TRACE_STACK_LATE_NS) {
		ret = gprof_ktrace_flush(&c->k, before - GPROF_TRACE_STACK_LATE_NS);
		if (ret && !err)
			err = ret;
	}
	if (c->empty && before > c->reached)
		c->reached = before;
	else if (!c->empty && c->k.time > c->reached)
		c->reached = c->k.time;
	/* A point that waits for its stack is not passed on yet. */
	if (c->k.held && c->k.event.time < c->reached)
		c->reached = c->k.event.time;
	return err;
}

static int flush_all(struct gprof_trace_merge *m)
{
	int err = 0, ret;
	size_t i;

	for (i = 0; i < m->nr; i++) {
		ret = gprof_ktrace_flush(&m->cpus[i].k, UINT64_MAX);
		if (ret && !err)
			err = ret;
	}
	return err;
}

int gprof_trace_merge_read(struct gprof_trace_merge *m, uint64_t (*now)(void), bool last)
{
	int err, first = 0;
	size_t i;

	for (i = 0; i < m->nr; i++)
		m->cpus[i].empty = false;
	for (;;) {
		struct gprof_trace_merge_cpu *c = NULL;

		for (i = 0; i < m->nr; i++)
			if (!m->cpus[i].empty && (!c || m->cpus[i].reached < c->reached))
				c = &m->cpus[i];
		if (!c)
			break;
		err = read_piece(m, c, now);
		if (!err)
			err = cut_if_due(m);
		if (err && !first)
			first = err;
	}
	if (last) {
		err = flush_all(m);
		if (err && !first)
			first = err;
	}
	/* The rest is cut as the trace is closed. */
	while (last && !first && m->due <= reached(m, 0) && held(m)) {
		first = cut(m, m->due);
		m->due += m->generation_ns;
	}
	return first;
}

int gprof_trace_merge_lost(struct gprof_trace_merge *m, size_t i, uint64_t lost)
{
	struct gprof_trace_merge_cpu *c = &m->cpus[i];

	if (lost > c->k.lost) {
		c->k.unreported += lost - c->k.lost;
		c->k.lost = lost;
	}
	return gprof_ktrace_emit_lost(&c->k, c->reached > c->k.time ? c->reached : c->k.time);
}
