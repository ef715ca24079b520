// SPDX-License-Identifier: GPL-2.0-only
/*
 * gprof's own notes in a trace besides events.
 */
#include "trace_metadata.h"

#include <stdbool.h>
#include <stdlib.h>

#include <gprof/trace_write.h>

#include "cli/diag.h"

/* As gprof/trace_write.h says it of a trace that gprof wrote. */
#define UNIT_NS		64
#define VARINT_MAX	10

static bool read_varint(const unsigned char **p, const unsigned char *end, uint64_t *value)
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

static void read_processes(struct trace_metadata *o, const unsigned char *p,
			   const unsigned char *end)
{
	uint64_t id, pid;

	while (read_varint(&p, end, &id) && read_varint(&p, end, &pid)) {
		if (id > INT64_MAX || !pid || pid >= GPROF_TRACE_TIDS)
			return;
		o->processes = xgrow(o->processes, o->nr_processes, &o->room_processes,
				     sizeof(*o->processes));
		o->processes[o->nr_processes++] = (struct metadata_process){
			.id = (int64_t)id, .pid = (uint32_t)pid,
		};
	}
}

void metadata_add_batch(struct trace_metadata *o, const struct gprof_trace_batch *batch)
{
	const unsigned char *p = batch->data, *end = p + batch->len;
	uint64_t cpu, what, queue = 0;
	enum metadata_kind kind;
	char type;

	if (batch->experiment != GPROF_TRACE_EXPERIMENT || p == end)
		return;
	type = (char)*p++;
	if (type == 'G')
		read_processes(o, p, end);
	if ((type != 'T' && type != 'L') || !read_varint(&p, end, &cpu) ||
	    !read_varint(&p, end, &what) || cpu >= METADATA_CPUS_MAX ||
	    batch->time > INT64_MAX / UNIT_NS)
		return;
	kind = type == 'L' ? METADATA_LOST : what ? METADATA_THROTTLED : METADATA_UNTHROTTLED;
	if (kind != METADATA_LOST)
		read_varint(&p, end, &queue);
	o->notes = xgrow(o->notes, o->nr, &o->room, sizeof(*o->notes));
	o->notes[o->nr++] = (struct metadata_note){
		.time = (int64_t)batch->time * UNIT_NS, .cpu = (uint32_t)cpu, .kind = kind,
		.queue = (uint32_t)queue,
	};
}

/* Of one time, in the order of kinds: it does not depend on that of batches. */
static bool is_before(const struct metadata_note *a, const struct metadata_note *b)
{
	if (a->time != b->time)
		return a->time < b->time;
	if (a->cpu != b->cpu)
		return a->cpu < b->cpu;
	return a->kind != b->kind ? a->kind < b->kind : a->queue < b->queue;
}

static void swap(struct metadata_note *a, struct metadata_note *b)
{
	const struct metadata_note note = *a;

	*a = *b;
	*b = note;
}

static void rise(struct metadata_note *heap, size_t i)
{
	for (size_t up; i && is_before(&heap[i], &heap[up = (i - 1) / 2]); i = up)
		swap(&heap[i], &heap[up]);
}

static void sink(struct metadata_note *heap, size_t nr)
{
	for (size_t i = 0, down; (down = 2 * i + 1) < nr; i = down) {
		if (down + 1 < nr && is_before(&heap[down + 1], &heap[down]))
			down++;
		if (!is_before(&heap[down], &heap[i]))
			break;
		swap(&heap[i], &heap[down]);
	}
}

const struct metadata_note *metadata_next(struct trace_metadata *o)
{
	o->last = o->notes[0];
	o->notes[0] = o->notes[--o->ripe];
	sink(o->notes, o->ripe);
	/* Those of the next generation are in no order. */
	o->notes[o->ripe] = o->notes[--o->nr];
	return &o->last;
}

/* A note may be of any future time: waiting notes are not scanned with each generation. */
void metadata_generation(struct trace_metadata *o)
{
	while (o->ripe < o->nr)
		rise(o->notes, o->ripe++);
	o->nr_processes = 0;
}

void metadata_free(struct trace_metadata *o)
{
	free(o->notes);
	free(o->processes);
}
