// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * trace_span.c: times and number of a ring's events, before they are read for a trace.
 */
#include "trace_span.h"

static int on_point(void *ctx, const struct gprof_trace_point *p)
{
	struct gprof_trace_span *s = ctx;

	if (p->time > s->last)
		s->last = p->time;
	return 0;
}

static int on_task(void *ctx, uint32_t cpu, uint64_t time, const struct gprof_task_rec *rec)
{
	(void)ctx;
	(void)cpu;
	(void)time;
	(void)rec;
	return 0;
}

static int on_stack(void *ctx, const struct gprof_stack_rec *rec, uint32_t *handle)
{
	(void)ctx;
	(void)rec;
	*handle = 0;
	return 0;
}

static int on_map(void *ctx, const struct gprof_map_rec *rec, const char *path)
{
	(void)ctx;
	(void)rec;
	(void)path;
	return 0;
}

static int on_annotation(void *ctx, const struct gprof_annotation_rec *rec, uint64_t *id)
{
	(void)ctx;
	(void)rec;
	*id = 0;
	return 0;
}

void gprof_trace_span_init(struct gprof_trace_span *s)
{
	static const struct gprof_ktrace_ops ops = {
		on_point, on_task, on_stack, on_map, on_annotation,
	};

	*s = (struct gprof_trace_span){ .first = UINT64_MAX };
	gprof_ktrace_init(&s->k, &ops, s);
}

int gprof_trace_span_add(struct gprof_trace_span *s, const struct gprof_snapshot *copy)
{
	const struct gprof_generation_rec *g = (const void *)copy->data;
	const struct gprof_rec *rec;
	uint32_t size;
	size_t off = 0;
	int ret;

	if (gprof_snapshot_begins(copy)) {
		s->weight = g->weight;
		if (g->mono_ns < s->first)
			s->first = g->mono_ns;
	}
	while ((ret = gprof_snapshot_next(copy, &off, &rec, &size)) > 0) {
		ret = gprof_ktrace_feed(&s->k, rec, size);
		if (ret)
			break;
	}
	if (s->k.time > s->last)
		s->last = s->k.time;
	return ret;
}

void gprof_trace_span_free(struct gprof_trace_span *s)
{
	gprof_ktrace_free(&s->k);
}
