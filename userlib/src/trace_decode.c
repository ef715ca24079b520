// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * trace_decode: the kernel's words to events.
 */
#include "trace_decode.h"

#include <string.h>

#define ARG_MASK	((1U << GPROF_TRACE_ARG_BITS) - 1)
#define TYPE_MASK	31U
#define TID_MASK	((1U << (GPROF_TRACE_TIME_SHIFT - GPROF_TRACE_TID_SHIFT)) - 1)

void gprof_ktrace_init(struct gprof_ktrace *k, const struct gprof_ktrace_ops *ops, void *ctx)
{
	memset(k, 0, sizeof(*k));
	k->ops = ops;
	k->ctx = ctx;
	k->running = GPROF_KTRACE_UNKNOWN;
}

static int malformed(struct gprof_ktrace *k)
{
	k->malformed++;
	return 0;
}

static bool has_operand(unsigned int type)
{
	return type == GPROF_TRACE_EXEC || type == GPROF_TRACE_MIGRATE ||
	       type == GPROF_TRACE_FAULT || type == GPROF_TRACE_FREQ;
}

/* Who runs from now on. */
static void follow(struct gprof_ktrace *k, const struct gprof_ktrace_event *e)
{
	switch (e->type) {
	case GPROF_TRACE_RUNNING:
		k->absences += k->running < GPROF_KTRACE_UNKNOWN &&
			       e->number < GPROF_KTRACE_UNKNOWN && k->running != e->number;
		k->running = e->number;
		break;
	case GPROF_TRACE_SWITCH:
		k->running = e->number;
		break;
	case GPROF_TRACE_EXEC:
		/* Whoever executes has its leader's number afterwards. */
		k->running = e->number;
		break;
	}
}

static int hand_out(struct gprof_ktrace *k)
{
	const struct gprof_ktrace_event *e = &k->event;

	k->waits = false;
	k->samples += e->type != GPROF_TRACE_RUNNING;
	follow(k, e);
	return k->ops->event(k->ctx, e);
}

static int operand(struct gprof_ktrace *k, uint64_t word)
{
	if (!k->waits)
		return malformed(k);
	k->event.operand = word >> GPROF_TRACE_OPERAND_SHIFT;
	return hand_out(k);
}

static int short_record(struct gprof_ktrace *k, uint64_t word)
{
	struct gprof_ktrace_event *e = &k->event;
	unsigned int type = word >> GPROF_TRACE_ARG_BITS & TYPE_MASK;

	if (type == GPROF_TRACE_OPERAND)
		return operand(k, word);
	if (k->waits) {
		k->waits = false;
		k->malformed++;
	}
	if (!k->started || !type)
		return malformed(k);
	if (type > GPROF_TRACE_UNTHROTTLE) {
		k->unknown++;
		return 0;
	}
	e->time = k->mono_ns + (word >> GPROF_TRACE_TIME_SHIFT) * GPROF_TRACE_TIME_UNIT;
	e->cpu = k->cpu;
	e->type = (uint16_t)type;
	e->arg = word & ARG_MASK;
	e->running = k->running;
	e->number = word >> GPROF_TRACE_TID_SHIFT & TID_MASK;
	e->operand = 0;
	if ((type == GPROF_TRACE_SWITCH || type == GPROF_TRACE_RUNNING) &&
	    e->arg & GPROF_TRACE_STRANGER) {
		e->number = GPROF_KTRACE_STRANGER;
		e->arg &= ~GPROF_TRACE_STRANGER;
	}
	/* The kernel's never go back. */
	if (e->time < k->time) {
		e->time = k->time;
		k->malformed++;
	}
	k->time = e->time;
	k->waits = has_operand(type);
	return k->waits ? 0 : hand_out(k);
}

static int generation(struct gprof_ktrace *k, const struct gprof_rec *rec, uint32_t size)
{
	const struct gprof_generation_rec *g = (const void *)rec;

	if (size < sizeof(*g))
		return malformed(k);
	k->started = true;
	k->cpu = g->cpu;
	k->mono_ns = g->mono_ns;
	if (k->time < g->mono_ns)
		k->time = g->mono_ns;
	return k->ops->generation(k->ctx, k->cpu, g->mono_ns, g->real_ns);
}

static int lost(struct gprof_ktrace *k, const struct gprof_rec *rec, uint32_t size)
{
	const struct gprof_lost_rec *l = (const void *)rec;
	size_t i, nr = (size - sizeof(*l)) / sizeof(l->lost[0]);
	uint64_t sum = 0;

	for (i = 0; i < nr; i++)
		sum += l->lost[i];
	k->lost += sum;
	if (!sum)
		return 0;
	k->running = GPROF_KTRACE_UNKNOWN;
	return k->ops->lost(k->ctx, k->cpu, k->time, sum);
}

static int task(struct gprof_ktrace *k, const struct gprof_rec *rec, uint32_t size)
{
	const struct gprof_task_rec *t = (const void *)rec;

	if (size < sizeof(*t) || !k->started || !memchr(t->comm, '\0', sizeof(t->comm)))
		return malformed(k);
	return k->ops->task(k->ctx, k->cpu, k->time, t);
}

int gprof_ktrace_feed(struct gprof_ktrace *k, const struct gprof_rec *rec, uint32_t size)
{
	uint64_t word;

	if (rec->type & GPROF_REC_SHORT) {
		memcpy(&word, rec, sizeof(word));
		return short_record(k, word);
	}
	if (k->waits) {
		k->waits = false;
		k->malformed++;
	}
	switch (rec->type) {
	case GPROF_REC_GENERATION:
		return generation(k, rec, size);
	case GPROF_REC_LOST:
		return lost(k, rec, size);
	case GPROF_REC_TASK:
		return task(k, rec, size);
	default:
		k->unknown++;
		return 0;
	}
}
