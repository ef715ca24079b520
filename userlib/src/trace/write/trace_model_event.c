// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * trace_model_event.c: events, in the batches of their CPUs.
 */
#include "trace_model_event.h"

void gprof_model_failed(struct gprof_trace_model *m, int err)
{
	if (err && !m->err)
		m->err = err;
}

void gprof_model_batch(struct gprof_trace_model *m, uint64_t thread, uint64_t begin,
		       struct gprof_trace_bytes *body)
{
	gprof_model_failed(m, gprof_trace_put_batch(m->out, m->generation, thread, begin, body));
}

void gprof_model_flush(struct gprof_trace_model *m, uint32_t cpu)
{
	struct gprof_trace_model_cpu *c = &m->cpus[cpu];

	if (c->body.nr)
		gprof_model_batch(m, cpu, c->begin, &c->body);
}

static void new_batch(struct gprof_trace_model *m, uint32_t cpu)
{
	struct gprof_trace_model_cpu *c = &m->cpus[cpu];

	gprof_model_flush(m, cpu);
	/* One piece of memory for all that a batch will hold. */
	gprof_model_failed(m, gprof_trace_reserve(&c->body, GPROF_TRACE_BATCH_MAX));
	c->begin = c->last = m->now;
}

void gprof_model_first_event(struct gprof_trace_model *m, uint32_t cpu, unsigned char type,
			     const uint64_t *args, size_t nr)
{
	new_batch(m, cpu);
	if (!m->err)
		gprof_model_fill_event(m, &m->cpus[cpu], type, args, nr);
}

void gprof_model_event(struct gprof_trace_model *m, uint32_t cpu, unsigned char type,
		       const uint64_t *args, size_t nr)
{
	gprof_model_put_event(m, cpu, type, args, nr);
}
