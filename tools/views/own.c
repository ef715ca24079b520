// SPDX-License-Identifier: GPL-2.0-only
/*
 * What gprof says in a trace besides events.
 */
#include "own.h"

#include <stdbool.h>
#include <stdlib.h>

#include <gprof/trace_write.h>

#include "cli/say.h"

/* As gprof/trace_write.h says it of a trace that gprof wrote. */
#define UNIT_NS		64
#define VARINT_MAX	10

static bool take_number(const unsigned char **p, const unsigned char *end, uint64_t *value)
{
	*value = 0;
	for (unsigned int i = 0; i < VARINT_MAX && *p < end; i++) {
		unsigned char byte = *(*p)++;

		*value |= (uint64_t)(byte & 0x7f) << (7 * i);
		if (!(byte & 0x80))
			return true;
	}
	return false;
}

static void take_processes(struct own *o, const unsigned char *p, const unsigned char *end)
{
	uint64_t id, pid;

	while (take_number(&p, end, &id) && take_number(&p, end, &pid)) {
		if (id > INT64_MAX || !pid || pid >= GPROF_TRACE_TIDS)
			return;
		o->processes = xgrow(o->processes, o->nr_processes, &o->room_processes,
				     sizeof(*o->processes));
		o->processes[o->nr_processes++] = (struct own_process){
			.id = (int64_t)id, .pid = (uint32_t)pid,
		};
	}
}

void own_take(struct own *o, const struct gprof_trace_batch *batch)
{
	const unsigned char *p = batch->data, *end = p + batch->len;
	uint64_t cpu, what, queue = 0;
	enum own_kind kind;
	char type;

	if (batch->experiment != GPROF_TRACE_EXPERIMENT || p == end)
		return;
	type = (char)*p++;
	if (type == 'G')
		take_processes(o, p, end);
	if ((type != 'T' && type != 'L') || !take_number(&p, end, &cpu) ||
	    !take_number(&p, end, &what) || cpu >= OWN_CPUS_MAX || batch->time > INT64_MAX / UNIT_NS)
		return;
	kind = type == 'L' ? OWN_LOST : what ? OWN_THROTTLED : OWN_UNTHROTTLED;
	if (kind != OWN_LOST)
		take_number(&p, end, &queue);
	o->notes = xgrow(o->notes, o->nr, &o->room, sizeof(*o->notes));
	o->notes[o->nr++] = (struct own_note){
		.time = (int64_t)batch->time * UNIT_NS, .cpu = (uint32_t)cpu, .kind = kind,
		.queue = (uint32_t)queue,
	};
}

/* Of one time, in the order of kinds: it does not depend on that of batches. */
static bool is_before(const struct own_note *a, const struct own_note *b)
{
	if (a->time != b->time)
		return a->time < b->time;
	if (a->cpu != b->cpu)
		return a->cpu < b->cpu;
	return a->kind != b->kind ? a->kind < b->kind : a->queue < b->queue;
}

static void swap(struct own_note *a, struct own_note *b)
{
	const struct own_note note = *a;

	*a = *b;
	*b = note;
}

static void rise(struct own_note *heap, size_t i)
{
	for (size_t up; i && is_before(&heap[i], &heap[up = (i - 1) / 2]); i = up)
		swap(&heap[i], &heap[up]);
}

static void sink(struct own_note *heap, size_t nr)
{
	for (size_t i = 0, down; (down = 2 * i + 1) < nr; i = down) {
		if (down + 1 < nr && is_before(&heap[down + 1], &heap[down]))
			down++;
		if (!is_before(&heap[down], &heap[i]))
			break;
		swap(&heap[i], &heap[down]);
	}
}

const struct own_note *own_next(struct own *o)
{
	o->last = o->notes[0];
	o->notes[0] = o->notes[--o->ripe];
	sink(o->notes, o->ripe);
	/* Those of the next generation are in no order. */
	o->notes[o->ripe] = o->notes[--o->nr];
	return &o->last;
}

/* A trace may tell of any time to come: what waits is not looked at with each generation. */
void own_generation(struct own *o)
{
	while (o->ripe < o->nr)
		rise(o->notes, o->ripe++);
	o->nr_processes = 0;
}

void own_free(struct own *o)
{
	free(o->notes);
	free(o->processes);
}
