// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * lifetimes.c: when sampled objects began and ended, and so the memory in use over time.
 *
 * The part of a count at the peak is found without reading all counts at each new peak: a
 * count that changes behind the peak first keeps the value that it had.
 */
#include "lifetimes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void gprof_lifetimes_init(struct gprof_lifetimes *l, bool on, uint64_t mark_ns)
{
	*l = (struct gprof_lifetimes){ .on = on, .mark_ns = mark_ns };
	gprof_map64_init(&l->by_slot);
}

int gprof_lifetimes_note(struct gprof_lifetimes *l, const struct gprof_decoded *s, uint64_t value,
			 uint32_t count)
{
	if (gprof_grow(&l->fresh, &l->cap_fresh, l->nr_fresh + 1, sizeof(*l->fresh)))
		return -ENOMEM;
	l->fresh[l->nr_fresh++] = (struct gprof_sampled_object){
		.live = s->live,
		.time = s->time,
		.ended_before = s->ended,
		.value = value,
		.weight = s->weight,
		.count = count,
	};
	return 0;
}

/* ---- from samples and the table to changes ---- */

static int add_change(struct gprof_lifetimes *l, const struct gprof_sampled_object *o,
		      uint64_t time, bool end)
{
	if (gprof_grow(&l->changes, &l->cap_changes, l->nr_changes + 1, sizeof(*l->changes)))
		return -ENOMEM;
	l->changes[l->nr_changes++] = (struct gprof_object_change){
		.time = time,
		.value = o->value,
		.weight = o->weight,
		.count = o->count,
		.end = end,
		.brief = end && time - o->time < GPROF_SHORT_LIFE_NS,
	};
	return 0;
}

/* A clock that is read on two CPUs may be a little off: nothing ends before it begins. */
static int end_object(struct gprof_lifetimes *l, struct gprof_sampled_object *o, uint64_t time)
{
	o->open = false;
	return add_change(l, o, time > o->time ? time : o->time, true);
}

/* It ended before @later, which has its slot; and at the time that the next one says. */
static int end_by_next(struct gprof_lifetimes *l, struct gprof_sampled_object *o,
		       const struct gprof_sampled_object *later)
{
	bool known = later->ended_before &&
		     GPROF_OBJECT_SERIAL(later->live) == GPROF_OBJECT_SERIAL(o->live) + 1;

	l->guessed += !known;
	return end_object(l, o, known ? later->ended_before : later->time);
}

static int by_slot(const void *a, const void *b)
{
	const struct gprof_sampled_object *x = a, *y = b;
	uint64_t slot_x = GPROF_OBJECT_SLOT(x->live), slot_y = GPROF_OBJECT_SLOT(y->live);

	if (slot_x != slot_y)
		return slot_x < slot_y ? -1 : 1;
	return x->live < y->live ? -1 : x->live > y->live;
}

static int add_fresh(struct gprof_lifetimes *l, struct gprof_sampled_object *o)
{
	uint64_t slot = GPROF_OBJECT_SLOT(o->live);
	uint32_t at = gprof_map64_get(&l->by_slot, slot);
	struct gprof_sampled_object *newest;
	int err = add_change(l, o, o->time, false);

	if (err)
		return err;
	if (at == GPROF_NONE) {
		at = (uint32_t)l->nr_newest;
		if (gprof_grow(&l->newest, &l->cap_newest, l->nr_newest + 1, sizeof(*l->newest)) ||
		    gprof_map64_put(&l->by_slot, slot, at))
			return -ENOMEM;
		l->newest[l->nr_newest++] = (struct gprof_sampled_object){ 0 };
	}
	newest = &l->newest[at];
	/* Samples of two CPUs are read in any order. */
	if (newest->live > o->live)
		return end_by_next(l, o, newest);
	if (newest->open)
		err = end_by_next(l, newest, o);
	if (!err) {
		*newest = *o;
		newest->open = true;
	}
	return err;
}

/* The table has the end of an object until the next one has the slot, whose sample then has it. */
static int find_end(struct gprof_lifetimes *l, struct gprof_sampled_object *o,
		   const struct gprof_object_table *t, uint64_t now)
{
	struct gprof_object_slot slot;

	if (!gprof_object_table_last(t, GPROF_OBJECT_SLOT(o->live), &slot) ||
	    slot.live == o->live)
		return 0;
	if (slot.live == (o->live & ~GPROF_OBJECT_LIVE))
		return slot.time > o->time ? end_object(l, o, slot.time) : 0;
	if (!o->overtaken) {
		o->overtaken = true;
		return 0;
	}
	/* The sample of the next object is lost. */
	l->guessed++;
	return end_object(l, o, now);
}

/* ---- from changes to memory in use ---- */

static int by_time(const void *a, const void *b)
{
	const struct gprof_object_change *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->end - y->end;
}

static void double_step(struct gprof_lifetimes *l)
{
	size_t i;

	for (i = 0; i < l->nr_steps; i += 2) {
		uint64_t most = l->steps[i];

		if (i + 1 < l->nr_steps && l->steps[i + 1] > most)
			most = l->steps[i + 1];
		l->steps[i / 2] = most;
	}
	l->nr_steps = (l->nr_steps + 1) / 2;
	l->step_ns *= 2;
}

/* From then on it is @now; before, it was @before. */
static void note_step(struct gprof_lifetimes *l, uint64_t time, uint64_t before, uint64_t now)
{
	uint64_t since, i;

	if (!l->step_ns)
		l->step_ns = GPROF_LIFETIMES_STEP_NS;
	if (!l->from_ns)
		l->from_ns = time;
	since = time > l->from_ns ? time - l->from_ns : 0;
	while (since / l->step_ns >= GPROF_LIFETIMES_STEPS)
		double_step(l);
	i = since / l->step_ns;
	while (l->nr_steps <= i)
		l->steps[l->nr_steps++] = before;
	if (now > l->steps[i])
		l->steps[i] = now;
}

static void mark(struct gprof_lifetimes *l)
{
	size_t i;

	for (i = 0; i < l->nr_parts; i++) {
		l->parts[i].marked_value = l->parts[i].value;
		l->parts[i].marked_weight = l->parts[i].weight;
	}
	l->marked = true;
}

static bool is_marked_by(const struct gprof_lifetimes *l, uint64_t time)
{
	return l->mark_ns && !l->marked && time > l->from_ns + l->mark_ns;
}

static void apply(struct gprof_lifetimes *l, const struct gprof_object_change *c)
{
	struct gprof_in_use *part = &l->parts[c->count];
	uint64_t before = l->now;

	if (is_marked_by(l, c->time))
		mark(l);
	if (part->changed <= l->peak_change) {
		part->peak_value = part->value;
		part->peak_weight = part->weight;
	}
	part->changed = ++l->change;
	if (c->end) {
		part->value -= c->value;
		part->weight -= c->weight;
		part->brief += c->brief ? c->weight : 0;
		l->brief += c->brief ? c->weight : 0;
		l->now -= c->value;
		l->now_weight -= c->weight;
	} else {
		part->value += c->value;
		part->weight += c->weight;
		l->now += c->value;
		l->now_weight += c->weight;
		l->begun += c->weight;
	}
	if (l->now > l->peak) {
		l->peak = l->now;
		l->peak_weight = l->now_weight;
		l->peak_ns = c->time;
		l->peak_change = l->change;
	}
	note_step(l, c->time, before, l->now);
}

static int apply_until(struct gprof_lifetimes *l, uint64_t until)
{
	size_t i, nr = l->nr_parts;

	for (i = 0; i < l->nr_changes; i++)
		if (l->changes[i].count >= nr)
			nr = (size_t)l->changes[i].count + 1;
	if (nr > l->nr_parts) {
		if (gprof_grow(&l->parts, &l->cap_parts, nr, sizeof(*l->parts)))
			return -ENOMEM;
		memset(&l->parts[l->nr_parts], 0, (nr - l->nr_parts) * sizeof(*l->parts));
		l->nr_parts = nr;
	}
	if (l->nr_changes)
		qsort(l->changes, l->nr_changes, sizeof(*l->changes), by_time);
	for (i = 0; i < l->nr_changes && l->changes[i].time <= until; i++)
		apply(l, &l->changes[i]);
	l->nr_changes -= i;
	if (l->nr_changes)
		memmove(l->changes, &l->changes[i], l->nr_changes * sizeof(*l->changes));
	return 0;
}

int gprof_lifetimes_update(struct gprof_lifetimes *l, const struct gprof_object_table *t,
			 uint64_t now, uint64_t until)
{
	size_t i;
	int err = 0;

	l->updated_ns = now;
	if (l->nr_fresh)
		qsort(l->fresh, l->nr_fresh, sizeof(*l->fresh), by_slot);
	for (i = 0; i < l->nr_fresh && !err; i++)
		err = add_fresh(l, &l->fresh[i]);
	l->nr_fresh = 0;
	for (i = 0; i < l->nr_newest && !err; i++)
		if (l->newest[i].open)
			err = find_end(l, &l->newest[i], t, now);
	if (!err)
		err = apply_until(l, until);
	if (!err && until >= now) {
		if (is_marked_by(l, now))
			mark(l);
		note_step(l, now, l->now, l->now);
	}
	return err;
}

struct gprof_in_use gprof_lifetimes_part(const struct gprof_lifetimes *l, uint32_t count)
{
	struct gprof_in_use part = { 0 };

	if (count >= l->nr_parts)
		return part;
	part = l->parts[count];
	if (part.changed <= l->peak_change) {
		part.peak_value = part.value;
		part.peak_weight = part.weight;
	}
	if (!l->marked) {
		part.marked_value = part.value;
		part.marked_weight = part.weight;
	}
	return part;
}

int gprof_lifetimes_renumber(struct gprof_lifetimes *l, const uint32_t *numbers, size_t nr)
{
	struct gprof_in_use *parts = calloc(nr + 1, sizeof(*parts));
	size_t i;

	if (!parts)
		return -ENOMEM;
	l->change = 1;
	l->now = l->now_weight = 0;
	for (i = 0; i < l->nr_parts && i < nr; i++) {
		if (numbers[i] == GPROF_NONE)
			continue;
		parts[numbers[i]].value = l->parts[i].value;
		parts[numbers[i]].weight = l->parts[i].weight;
		l->now += l->parts[i].value;
		l->now_weight += l->parts[i].weight;
	}
	free(l->parts);
	l->parts = parts;
	l->nr_parts = l->cap_parts = nr;
	for (i = 0; i < l->nr_newest; i++) {
		struct gprof_sampled_object *o = &l->newest[i];

		if (o->open && numbers[o->count] == GPROF_NONE)
			o->open = false;
		else if (o->open)
			o->count = numbers[o->count];
	}
	l->peak = l->now;
	l->peak_weight = l->now_weight;
	l->peak_change = l->change;
	l->peak_ns = l->from_ns + l->nr_steps * l->step_ns;
	return 0;
}

void gprof_lifetimes_free(struct gprof_lifetimes *l)
{
	free(l->fresh);
	free(l->newest);
	gprof_map64_free(&l->by_slot);
	free(l->changes);
	free(l->parts);
	gprof_lifetimes_init(l, l->on, l->mark_ns);
}
