// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * go_table.c: functions of Go programs, from the table that their own tracebacks use.
 *
 * The header: magic, two bytes of 0, size of an instruction step and of a word, number
 * of functions, number of files, from 1.18 on the address of the code, and then offsets
 * of five parts: names first, functions last. Functions are pairs of a place in the code
 * and a place in their part, where the offset of their name is; the end of the last one
 * follows them.
 */
#include "go_table.h"

#include <string.h>

#define MAGIC_1_16	0xfffffffaU	/* entries are addresses */
#define MAGIC_1_18	0xfffffff0U	/* entries are offsets in the code */
#define MAGIC_1_20	0xfffffff1U

#define HEADER		72

#define NAME_MAX_BYTES	4096	/* with its end; any number may share one text */

/* Data of a function from its entry on: its name's place, and behind others' its steps. */
#define STEPS		16
#define FLAGS_1_18	37
#define FLAGS_1_20	41

/* @word bytes at @at, which is right; they are in no order of alignment. */
static uint64_t get(const struct gprof_go_table *t, uint64_t at, unsigned int word)
{
	uint64_t value = 0;
	unsigned int i;

	for (i = 0; i < word; i++)
		value |= (uint64_t)t->data[at + i] << (8 * i);
	return value;
}

static bool read_header(struct gprof_go_table *t, uint64_t text)
{
	uint32_t magic;

	if (t->size < HEADER || t->data[4] || t->data[5] || t->data[7] != 8)
		return false;
	magic = (uint32_t)get(t, 0, 4);
	if (magic != MAGIC_1_16 && magic != MAGIC_1_18 && magic != MAGIC_1_20)
		return false;
	t->nr = get(t, 8, 8);
	t->quantum = t->data[6];
	if (magic == MAGIC_1_16) {
		t->word = 8;
		t->names = get(t, 24, 8);
		t->functions = get(t, 56, 8);
	} else {
		t->word = 4;
		/* 0 where it is left to the loader, or to the reader */
		t->text = get(t, 24, 8);
		if (!t->text)
			t->text = text;
		t->names = get(t, 32, 8);
		t->steps = get(t, 56, 8);
		t->functions = get(t, 64, 8);
		t->flags = magic == MAGIC_1_18 ? FLAGS_1_18 : FLAGS_1_20;
	}
	return t->names < t->size && t->functions < t->size &&
	       t->size - t->functions >= t->word &&
	       t->nr <= (t->size - t->functions - t->word) / (2 * t->word);
}

/* The name whose place is @name, or NULL. */
static const char *name_of(const struct gprof_go_table *t, uint64_t name)
{
	const unsigned char *text;
	uint64_t left;

	if (name >= t->size - t->names)
		return NULL;
	text = t->data + t->names + name;
	left = t->size - t->names - name;
	if (left > NAME_MAX_BYTES)
		left = NAME_MAX_BYTES;
	if (!text[0] || !memchr(text, '\0', left))
		return NULL;
	return (const char *)text;
}

bool gprof_go_table_open(struct gprof_go_table *t, const void *data, uint64_t size, uint64_t text)
{
	*t = (struct gprof_go_table){ .data = data, .size = size };
	return read_header(t, text);
}

bool gprof_go_function(const struct gprof_go_table *t, uint64_t i, struct gprof_go_function *f)
{
	uint64_t place = t->functions + 2 * i * t->word, steps;
	uint64_t at = get(t, place + t->word, t->word), left;

	if (at > t->size - t->functions)
		return false;
	left = t->size - t->functions - at;
	if (left < t->word + 4)
		return false;
	f->start = t->text + get(t, place, t->word);
	f->end = t->text + get(t, place + 2 * t->word, t->word);
	at += t->functions;
	f->name = name_of(t, get(t, at + t->word, 4));
	f->steps = (struct gprof_dwarf_input){ 0 };
	f->flags = 0;
	if (t->flags && left > t->flags) {
		f->flags = t->data[at + t->flags];
		steps = get(t, at + STEPS, 4);
		if (steps && t->steps < t->size && steps < t->size - t->steps)
			f->steps = (struct gprof_dwarf_input){
				.p = t->data + t->steps + steps, .end = t->data + t->size,
			};
	}
	return f->name && f->start < f->end && f->start >= t->text;
}

/* A number with its sign in its lowest bit, and how far it holds; 0 behind the first: the end. */
bool gprof_go_step(const struct gprof_go_table *t, struct gprof_go_function *f,
		   struct gprof_go_steps *s)
{
	uint64_t change = gprof_dwarf_input_uleb(&f->steps), far;

	if (!change && s->to)
		return false;
	far = gprof_dwarf_input_uleb(&f->steps) * t->quantum;
	if (f->steps.bad || !far || far > f->end - f->start - s->to)
		return false;
	change = change >> 1 ^ -(change & 1);
	s->size = (int64_t)((uint64_t)(s->to ? s->size : -1) + change);
	s->at = s->to;
	s->to += far;
	return true;
}
