// SPDX-License-Identifier: GPL-2.0-only
/*
 * What gprof says in a trace besides events.
 */
#include "own.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <gprof/trace_write.h>

#include "../say.h"

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
static int by_time(const void *pa, const void *pb)
{
	const struct own_note *a = pa, *b = pb;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return a->cpu != b->cpu ? (a->cpu < b->cpu ? -1 : 1) : (int)a->kind - (int)b->kind;
}

void own_generation(struct own *o)
{
	if (o->next)
		memmove(o->notes, o->notes + o->next, (o->nr - o->next) * sizeof(*o->notes));
	o->nr -= o->next;
	o->next = 0;
	o->sorted = o->nr;
	o->nr_processes = 0;
	if (o->nr)
		qsort(o->notes, o->nr, sizeof(*o->notes), by_time);
}

void own_free(struct own *o)
{
	free(o->notes);
	free(o->processes);
}
