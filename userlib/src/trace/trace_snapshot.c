// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * trace_snapshot.c: what flight rings hold at one instant, as a trace.
 */
#include "trace_snapshot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

/* When the first generation of a copy begins, or 0 where there is none. */
static uint64_t begins(const struct gprof_snapshot *copy)
{
	const struct gprof_generation_rec *rec = (const void *)copy->data;

	if (copy->len < sizeof(*rec) || rec->rec.type != GPROF_REC_GENERATION)
		return 0;
	return rec->mono_ns;
}

/* A ring that has given up nothing tells of all that was since START. */
static void see_begin(struct gprof_trace_snapshot *s, const struct gprof_snapshot *copy)
{
	uint64_t time = begins(copy);

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

	see_begin(s, &s->copies[i]);
	make_ring(s, i, cpu);
	s->rings.nr = s->nr;
}

int gprof_trace_snapshot_take(struct gprof_trace_snapshot *s, struct gprof_buffer *flight,
			      uint64_t started, uint64_t now)
{
	int err = gprof_trace_snapshot_init(s, flight->nr, started, now);
	size_t i;

	for (i = 0; i < flight->nr && !err; i++) {
		err = gprof_ring_snapshot(&flight->rings[i], &s->copies[i]);
		if (!err)
			gprof_trace_snapshot_add(s, flight->rings[i].cpu);
	}
	return err;
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
	gprof_trace_merge_begin(&m, naming, s->from);
	err = gprof_trace_merge_read(&m, NULL, true);
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
	free(s->rings.rings);
	free(s->copies);
	free(s->heads);
	free(s->tails);
	memset(s, 0, sizeof(*s));
}
