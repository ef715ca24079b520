/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * trace_model_event.h: events, in the batches of their CPUs.
 */
#ifndef GPROF_TRACE_MODEL_EVENT_H
#define GPROF_TRACE_MODEL_EVENT_H

#include "trace/read/trace_bytes.h"
#include "trace/read/trace_wire.h"
#include "trace_model.h"

/** gprof_model_failed() - the first -errno counts */
void gprof_model_failed(struct gprof_trace_model *m, int err);

/** gprof_model_event() - an event of @cpu, now */
void gprof_model_event(struct gprof_trace_model *m, uint32_t cpu, unsigned char type,
		       const uint64_t *args, size_t nr);

#define EVENT0(m, cpu, type)	gprof_model_event(m, cpu, type, NULL, 0)
#define EVENT(m, cpu, type, ...) do { \
	const uint64_t v_[] = { __VA_ARGS__ }; \
	gprof_model_event(m, cpu, type, v_, sizeof(v_) / sizeof(*v_)); \
} while (0)

/** gprof_model_batch() - put a batch into the trace, and empty its body */
void gprof_model_batch(struct gprof_trace_model *m, uint64_t thread, uint64_t begin,
		       struct gprof_trace_bytes *body);
/** gprof_model_flush() - end the batch of a CPU */
void gprof_model_flush(struct gprof_trace_model *m, uint32_t cpu);

/**
 * gprof_model_first_event() - gprof_model_event() where a batch is to begin
 *
 * Out of the way of the others, which need not keep anything for it.
 */
void gprof_model_first_event(struct gprof_trace_model *m, uint32_t cpu, unsigned char type,
			     const uint64_t *args, size_t nr);

/* A batch has begun, and an event fits. */
static inline bool gprof_model_has_room(const struct gprof_trace_model *m,
					const struct gprof_trace_model_cpu *c)
{
	return c->body.nr - 1 < GPROF_TRACE_BATCH_MAX - GPROF_TRACE_EVENT_MAX && !m->err;
}

/* Where the arguments of an event go, which gprof_model_end_event() ends. */
static inline unsigned char *gprof_model_begin_event(struct gprof_trace_model *m,
						     struct gprof_trace_model_cpu *c,
						     unsigned char type)
{
	unsigned char *p = c->body.p + c->body.nr;
	uint64_t later = m->now - c->last;

	/* Ahead of the bytes, which to the compiler may be any of these. */
	c->last = m->now;
	m->stats.events++;
	*p++ = type;
	return gprof_trace_number_at(p, later);
}

static inline void gprof_model_end_event(struct gprof_trace_model_cpu *c, const unsigned char *p)
{
	c->body.nr = (size_t)(p - c->body.p);
}

static inline __attribute__((always_inline)) void
gprof_model_fill_event(struct gprof_trace_model *m, struct gprof_trace_model_cpu *c,
		       unsigned char type, const uint64_t *args, size_t nr)
{
	unsigned char *p = gprof_model_begin_event(m, c, type);
	size_t i;

	/* Where it is known how many there are, which compilers do not see everywhere. */
#pragma GCC unroll 4
	for (i = 0; i < nr; i++)
		p = gprof_trace_number_at(p, args[i]);
	gprof_model_end_event(c, p);
}

static inline __attribute__((always_inline)) void
gprof_model_put_event(struct gprof_trace_model *m, uint32_t cpu, unsigned char type,
		      const uint64_t *args, size_t nr)
{
	struct gprof_trace_model_cpu *c = &m->cpus[cpu];

	if (gprof_model_has_room(m, c))
		gprof_model_fill_event(m, c, type, args, nr);
	else
		gprof_model_first_event(m, cpu, type, args, nr);
}

/* As EVENT(), for the most frequent ones: without a loop over their arguments. */
#define OFTEN(m, cpu, type, ...) do { \
	const uint64_t v_[] = { __VA_ARGS__ }; \
	gprof_model_put_event(m, cpu, type, v_, sizeof(v_) / sizeof(*v_)); \
} while (0)

#endif /* GPROF_TRACE_MODEL_EVENT_H */
