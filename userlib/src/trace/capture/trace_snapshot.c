// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * trace_snapshot.c: the contents of flight rings at one instant, as a trace.
 */
#include "trace_snapshot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cancel.h"

/* Larger than any copy, so that none goes round. */
#define NO_END	(1ULL << 62)

/* The ring's copy takes its own end for the kernel's position. */
static void make_ring(struct gprof_trace_snapshot *s, size_t i, uint32_t cpu)
{
	s->heads[i].head = s->copies[i].len;
	s->rings.rings[i] = (struct gprof_ring){
		.head = &s->heads[i], .tail = &s->tails[i], .data = s->copies[i].data,
		.size = NO_END, .cpu = cpu,
	};
}

/* A ring that has given up nothing tells of all that was since START. */
static void note_begin(struct gprof_trace_snapshot *s, const struct gprof_snapshot *copy)
{
	uint64_t time = gprof_snapshot_begins(copy);

	if (copy->pos && time > s->from)
		s->from = time;
}

int gprof_trace_snapshot_init(struct gprof_trace_snapshot *s, size_t nr, uint64_t started,
			      uint64_t now)
{
	memset(s, 0, sizeof(*s));
	s->from = started;
	s->until = now;
	s->rings.rings = calloc(nr, sizeof(*s->rings.rings));
	s->copies = calloc(nr, sizeof(*s->copies));
	s->heads = calloc(nr, sizeof(*s->heads));
	s->tails = calloc(nr, sizeof(*s->tails));
	return s->rings.rings && s->copies && s->heads && s->tails ? 0 : -ENOMEM;
}

void gprof_trace_snapshot_add(struct gprof_trace_snapshot *s, uint32_t cpu)
{
	size_t i = s->nr++;

	note_begin(s, &s->copies[i]);
	make_ring(s, i, cpu);
	s->rings.nr = s->nr;
}

static int rescue_all(struct gprof_trace_snapshot *s)
{
	int err = 0;
	size_t i;

	for (i = 0; i < s->nr && !err; i++)
		err = gprof_ring_snapshot_rescue(&s->live[i]);
	return err;
}

/* The next piece takes the place of the one that was used up. */
static int next_piece(struct gprof_trace_snapshot *s, size_t i, uint64_t *before)
{
	gprof_snapshot_free(&s->copies[i]);
	return gprof_ring_snapshot_next(&s->live[i], &s->copies[i], before);
}

int gprof_trace_snapshot_capture(struct gprof_trace_snapshot *s, struct gprof_buffer *flight,
				 uint64_t started, uint64_t now)
{
	int err = gprof_trace_snapshot_init(s, flight->nr, started, now);
	uint64_t before;
	size_t i;

	s->live = err ? NULL : calloc(flight->nr, sizeof(*s->live));
	if (!s->live)
		return -ENOMEM;
	for (i = 0; i < flight->nr && !err; i++)
		err = gprof_ring_snapshot_begin(&s->live[i], &flight->rings[i]);
	s->nr = err ? 0 : flight->nr;
	if (!err)
		err = rescue_all(s);
	for (i = 0; i < s->nr && !err; i++) {
		err = next_piece(s, i, &before);
		if (before != GPROF_RING_SNAPSHOT_ADJOINS) {
			s->missed += before - s->live[i].overwritten;
			s->live[i].overwritten = before;
			if (!err && !s->copies[i].len)
				err = -EAGAIN;
		}
		note_begin(s, &s->copies[i]);
		make_ring(s, i, flight->rings[i].cpu);
		gprof_ring_snapshot_expect(&s->live[i], &s->copies[i], now);
	}
	s->rings.nr = s->nr;
	return err ? err : rescue_all(s);
}

/* Overwritten records are between two pieces. */
static int report_missed(struct gprof_trace_snapshot *s, size_t i, uint64_t before)
{
	struct gprof_trace_merge_cpu *c = &s->merge->cpus[i];
	uint64_t known = s->live[i].overwritten + c->k.samples;
	uint64_t missed = before > known ? before - known : 0;

	s->live[i].overwritten += missed;
	s->missed += missed;
	return gprof_ktrace_lose(&c->k, missed);
}

/* After each piece that was read of a ring. */
static int more(void *ctx, size_t i)
{
	struct gprof_trace_snapshot *s = ctx;
	struct gprof_ring *r = &s->rings.rings[i];
	uint64_t before = GPROF_RING_SNAPSHOT_ADJOINS;
	int err;

	gprof_snapshot_used(&s->copies[i], r->pos);
	err = gprof_is_cancelled() ? -ECONNABORTED : rescue_all(s);
	if (err || r->pos < s->copies[i].len)
		return err ? err : 1;
	err = next_piece(s, i, &before);
	if (!err && before != GPROF_RING_SNAPSHOT_ADJOINS)
		err = report_missed(s, i, before);
	make_ring(s, i, r->cpu);
	return err ? err : s->copies[i].len > 0;
}

int gprof_trace_snapshot_write(struct gprof_trace_snapshot *s, struct gprof_trace_writer *w,
			       struct gprof_trace_naming *naming, uint64_t generation_ns,
			       uint64_t *samples)
{
	struct gprof_trace_merge m;
	int err = gprof_trace_merge_init(&m, &s->rings, generation_ns);
	size_t i;

	*samples = 0;
	if (err)
		return err;
	m.writer = w;
	m.from = s->from;
	m.until = s->until;
	m.users = s->users;
	if (s->live) {
		s->merge = &m;
		m.more = more;
		m.ctx = s;
	}
	gprof_trace_merge_begin(&m, naming, s->from);
	err = gprof_trace_merge_read(&m, NULL, true);
	for (i = 0; i < m.nr && !err; i++)
		err = gprof_trace_merge_lost(&m, i, 0);
	for (i = 0; i < m.nr; i++)
		*samples += m.cpus[i].k.samples;
	gprof_trace_merge_free(&m);
	return err ? err : gprof_trace_writer_cut(w, s->until + 1, NULL);
}

void gprof_trace_snapshot_free(struct gprof_trace_snapshot *s)
{
	size_t i;

	for (i = 0; i < s->nr; i++)
		gprof_snapshot_free(&s->copies[i]);
	for (i = 0; s->live && i < s->nr; i++)
		gprof_ring_snapshot_free(&s->live[i]);
	free(s->live);
	free(s->rings.rings);
	free(s->copies);
	free(s->heads);
	free(s->tails);
	memset(s, 0, sizeof(*s));
}
