// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * trace_dictionary.c: the strings and stacks of one generation.
 */
#include "trace_dictionary.h"

#include <errno.h>
#include <string.h>

#include "trace_wire.h"

/* Ids up to this multiple of their number are found in an array. */
#define DENSE_RATIO	2

static int index_put(struct gprof_trace_memory *m, struct gprof_trace_index *x, uint64_t id,
		     uint32_t number)
{
	if (id > x->max)
		x->max = id;
	return gprof_trace_ids_put(m, &x->ids, id, number);
}

/* Only now, since the length of the array depends on the last id. */
static int index_seal(struct gprof_trace_memory *m, struct gprof_trace_index *x)
{
	size_t i, n;
	int err;

	if (x->max / DENSE_RATIO > x->ids.used)
		return 0;
	n = (size_t)x->max + 1;
	err = gprof_trace_grow(m, &x->dense, &x->cap_dense, n, sizeof(*x->dense));
	if (err)
		return err;
	memset(x->dense, 0xff, n * sizeof(*x->dense));
	for (i = 0; i < x->ids.size; i++)
		if (x->ids.slots[i].value != GPROF_NONE)
			x->dense[x->ids.slots[i].id] = x->ids.slots[i].value;
	x->nr_dense = n;
	return 0;
}

static void index_clear(struct gprof_trace_index *x)
{
	gprof_trace_ids_clear(&x->ids);
	x->nr_dense = 0;
	x->max = 0;
}

static void index_free(struct gprof_trace_memory *m, struct gprof_trace_index *x)
{
	gprof_trace_ids_free(m, &x->ids);
	gprof_trace_release(m, x->dense, x->cap_dense * sizeof(*x->dense));
}

int gprof_trace_dictionary_clear(struct gprof_trace_dictionary *d)
{
	struct gprof_trace_memory *m = d->memory;
	int err;

	gprof_trace_arena_clear(m, &d->text);
	index_clear(&d->string_ids);
	index_clear(&d->stack_ids);
	gprof_trace_ids_clear(&d->pcs);
	d->nr_frames = d->nr_code = 0;
	err = gprof_trace_grow(m, &d->strings, &d->cap_strings, 1, sizeof(*d->strings));
	if (!err)
		err = gprof_trace_grow(m, &d->stacks, &d->cap_stacks, 1, sizeof(*d->stacks));
	if (!err)
		err = index_put(m, &d->string_ids, 0, 0);
	if (!err)
		err = index_put(m, &d->stack_ids, 0, 0);
	if (err)
		return err;
	d->strings[0] = (struct gprof_trace_text){ "", 0 };
	d->nr_strings = 1;
	d->stacks[0] = (struct gprof_trace_frames){ 0, 0 };
	d->nr_stacks = 1;
	return 0;
}

int gprof_trace_dictionary_init(struct gprof_trace_dictionary *d, struct gprof_trace_memory *m)
{
	d->memory = m;
	gprof_trace_ids_init(m, &d->string_ids.ids);
	gprof_trace_ids_init(m, &d->stack_ids.ids);
	gprof_trace_ids_init(m, &d->pcs);
	return gprof_trace_dictionary_clear(d);
}

void gprof_trace_dictionary_free(struct gprof_trace_dictionary *d)
{
	struct gprof_trace_memory *m = d->memory;

	gprof_trace_arena_free(m, &d->text);
	gprof_trace_release(m, d->strings, d->cap_strings * sizeof(*d->strings));
	index_free(m, &d->string_ids);
	gprof_trace_release(m, d->stacks, d->cap_stacks * sizeof(*d->stacks));
	index_free(m, &d->stack_ids);
	gprof_trace_release(m, d->frames, d->cap_frames * sizeof(*d->frames));
	gprof_trace_release(m, d->code, d->cap_code * sizeof(*d->code));
	gprof_trace_ids_free(m, &d->pcs);
	memset(d, 0, sizeof(*d));
}

/* @err: of an allocation; @why stays NULL. */
static const unsigned char *no_room(const unsigned char *p, int err)
{
	errno = -err;
	return p;
}

static int add_string(struct gprof_trace_dictionary *d, uint64_t id, const unsigned char *p,
		      size_t len)
{
	char *copy;
	int err;

	err = gprof_trace_grow(d->memory, &d->strings, &d->cap_strings, d->nr_strings + 1,
			       sizeof(*d->strings));
	if (err)
		return err;
	copy = gprof_trace_arena_alloc(d->memory, &d->text, len + 1);
	if (!copy)
		return -errno;
	memcpy(copy, p, len);
	copy[len] = '\0';
	err = index_put(d->memory, &d->string_ids, id, (uint32_t)d->nr_strings);
	if (err)
		return err;
	d->strings[d->nr_strings++] = (struct gprof_trace_text){ copy, len };
	return 0;
}

const unsigned char *gprof_trace_dictionary_strings(struct gprof_trace_dictionary *d,
						    const unsigned char *p,
						    const unsigned char *end, const char **why)
{
	*why = NULL;
	while (p < end) {
		const unsigned char *start = p;
		uint64_t id, len;
		int err;

		*why = "a strings batch holds something else";
		if (*p++ != GPROF_EV_STRING)
			return start;
		*why = "a string's id or length does not end, or has more than 64 bits";
		p = gprof_varint(p, end, &id);
		p = p ? gprof_varint(p, end, &len) : NULL;
		if (!p)
			return start;
		*why = "a string is longer than 1024 bytes";
		if (len > GPROF_TRACE_STRING_MAX)
			return start;
		*why = "a string is longer than its batch";
		if (len > (size_t)(end - p))
			return start;
		*why = "a string has the id 0, or that of another string";
		if (gprof_trace_ids_get(&d->string_ids.ids, id) != GPROF_NONE)
			return start;
		*why = NULL;
		err = add_string(d, id, p, (size_t)len);
		if (err)
			return no_room(start, err);
		p += len;
	}
	return NULL;
}

/* The number of a pc, new or not. */
static int add_code(struct gprof_trace_dictionary *d, const struct gprof_trace_code *c,
		    uint32_t *number)
{
	int err;

	*number = gprof_trace_ids_get(&d->pcs, c->pc);
	if (*number != GPROF_NONE)
		return 0;
	err = gprof_trace_grow(d->memory, &d->code, &d->cap_code, d->nr_code + 1,
			       sizeof(*d->code));
	if (!err)
		err = gprof_trace_ids_put(d->memory, &d->pcs, c->pc, (uint32_t)d->nr_code);
	if (err)
		return err;
	*number = (uint32_t)d->nr_code;
	d->code[d->nr_code++] = *c;
	return 0;
}

static int add_stack(struct gprof_trace_dictionary *d, uint64_t id, size_t nr)
{
	int err = gprof_trace_grow(d->memory, &d->stacks, &d->cap_stacks, d->nr_stacks + 1,
				   sizeof(*d->stacks));

	if (!err)
		err = index_put(d->memory, &d->stack_ids, id, (uint32_t)d->nr_stacks);
	if (err)
		return err;
	d->stacks[d->nr_stacks++] = (struct gprof_trace_frames){
		.first = (uint32_t)(d->nr_frames - nr),
		.nr = (uint32_t)nr,
	};
	return 0;
}

const unsigned char *gprof_trace_dictionary_stacks(struct gprof_trace_dictionary *d,
						   const unsigned char *p,
						   const unsigned char *end, const char **why)
{
	*why = NULL;
	while (p < end) {
		const unsigned char *start = p;
		uint64_t id, nr, i;
		int err;

		*why = "a stacks batch holds something else";
		if (*p++ != GPROF_EV_STACK)
			return start;
		*why = "a stack does not end with its batch, or has a number of more than 64 bits";
		p = gprof_varint(p, end, &id);
		p = p ? gprof_varint(p, end, &nr) : NULL;
		if (!p)
			return start;
		*why = "a stack has more than 128 frames";
		if (nr > GPROF_TRACE_FRAMES_MAX)
			return start;
		*why = "a stack has the id 0, or that of another stack";
		if (gprof_trace_ids_get(&d->stack_ids.ids, id) != GPROF_NONE)
			return start;
		err = gprof_trace_grow(d->memory, &d->frames, &d->cap_frames,
				       d->nr_frames + (size_t)nr, sizeof(*d->frames));
		for (i = 0; i < nr && !err; i++) {
			struct gprof_trace_code c;

			*why = "a stack does not end with its batch, or has a number of more than 64 bits";
			p = gprof_varint(p, end, &c.pc);
			p = p ? gprof_varint(p, end, &c.function) : NULL;
			p = p ? gprof_varint(p, end, &c.file) : NULL;
			p = p ? gprof_varint(p, end, &c.line) : NULL;
			if (!p)
				return start;
			err = add_code(d, &c, &d->frames[d->nr_frames++]);
		}
		*why = NULL;
		if (!err)
			err = add_stack(d, id, (size_t)nr);
		if (err)
			return no_room(start, err);
	}
	return NULL;
}

int gprof_trace_dictionary_seal(struct gprof_trace_dictionary *d, uint64_t *bad)
{
	size_t i;
	int err = index_seal(d->memory, &d->string_ids);

	if (!err)
		err = index_seal(d->memory, &d->stack_ids);
	for (i = 0; i < d->nr_code && !err; i++) {
		*bad = d->code[i].function;
		if (!gprof_trace_dictionary_string(d, *bad))
			return -EBADMSG;
		*bad = d->code[i].file;
		if (!gprof_trace_dictionary_string(d, *bad))
			return -EBADMSG;
	}
	return err;
}

size_t gprof_trace_dictionary_frames(const struct gprof_trace_dictionary *d, uint64_t id,
				     struct gprof_trace_frame *frames, size_t max)
{
	uint32_t n = gprof_trace_index_get(&d->stack_ids, id);
	size_t i;

	if (n == GPROF_NONE)
		return 0;
	for (i = 0; i < d->stacks[n].nr && i < max; i++) {
		const struct gprof_trace_code *c = &d->code[d->frames[d->stacks[n].first + i]];

		frames[i].pc = c->pc;
		frames[i].function = *gprof_trace_dictionary_string(d, c->function);
		frames[i].file = *gprof_trace_dictionary_string(d, c->file);
		frames[i].line = c->line;
	}
	return d->stacks[n].nr;
}
