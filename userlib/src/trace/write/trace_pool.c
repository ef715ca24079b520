// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * trace_pool.c: the strings and stacks of a generation that is being written.
 */
#include "trace_pool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/read/trace_wire.h"

/* A frame or a string is begun only where it fits for sure. */
#define STRING_ROOM	(1 + 2 * GPROF_VARINT_MAX + GPROF_TRACE_STRING_MAX)
#define STACK_ROOM	(1 + (2 + 4 * GPROF_TRACE_FRAMES_MAX) * GPROF_VARINT_MAX)

void gprof_trace_pcs_init(struct gprof_trace_pcs *p)
{
	memset(p, 0, sizeof(*p));
	gprof_trace_memory_init(&p->memory, UINT64_MAX);
	gprof_trace_ids_init(&p->memory, &p->known);
}

void gprof_trace_pcs_free(struct gprof_trace_pcs *p)
{
	gprof_trace_ids_free(&p->memory, &p->known);
}

int gprof_trace_pool_init(struct gprof_trace_pool *p, struct gprof_trace_pcs *pcs)
{
	memset(p, 0, sizeof(*p));
	p->known_pcs = pcs;
	gprof_table_init(&p->code_table);
	gprof_table_init(&p->stack_table);
	return gprof_strings_init(&p->strings);
}

void gprof_trace_pool_free(struct gprof_trace_pool *p)
{
	gprof_strings_free(&p->strings);
	gprof_table_free(&p->code_table);
	gprof_table_free(&p->stack_table);
	free(p->code);
	free(p->pcs);
	free(p->frames);
	free(p->stacks);
	memset(p, 0, sizeof(*p));
}

int gprof_trace_pool_string(struct gprof_trace_pool *p, const char *s, size_t len, uint64_t *id)
{
	uint32_t n;

	/* Bytes behind a 0 would get lost on the way through the table. */
	len = strnlen(s, len < GPROF_TRACE_STRING_MAX ? len : GPROF_TRACE_STRING_MAX);
	n = gprof_strings_add(&p->strings, s, len);
	if (n == GPROF_NONE)
		return -ENOMEM;
	*id = n;
	return 0;
}

static bool same_code(const void *ctx, uint32_t index, const void *key)
{
	const struct gprof_trace_pool *p = ctx;

	return !memcmp(&p->code[index], key, sizeof(*p->code));
}

/* The number of 64 bits that two frames share is not met. */
static int give_pc(const struct gprof_trace_pool *p, const struct gprof_trace_pool_code *c,
		   uint32_t *pc)
{
	const char *function = p->strings.v[c->function], *file = p->strings.v[c->file];
	struct gprof_trace_pcs *pcs = p->known_pcs;
	const uint64_t said[] = {
		c->pc, c->line, gprof_hash_bytes(pcs->known.seed, function, strlen(function)),
		gprof_hash_bytes(pcs->known.seed, file, strlen(file)),
	};
	uint64_t hash = gprof_hash_bytes(pcs->known.seed, said, sizeof(said));

	*pc = gprof_trace_ids_get(&pcs->known, hash);
	if (*pc != GPROF_NONE)
		return 0;
	if (pcs->known.used >= GPROF_TRACE_PCS_MAX)
		gprof_trace_ids_clear(&pcs->known);
	*pc = ++pcs->last;
	return gprof_trace_ids_put(&pcs->memory, &pcs->known, hash, *pc);
}

static int add_code(struct gprof_trace_pool *p, const struct gprof_trace_pool_code *c,
		    uint32_t *number)
{
	uint64_t hash = gprof_hash_bytes(p->code_table.seed, c, sizeof(*c));

	*number = gprof_table_find(&p->code_table, hash, same_code, p, c);
	if (*number != GPROF_NONE)
		return 0;
	if (gprof_grow(&p->code, &p->cap_code, p->nr_code + 1, sizeof(*p->code)) ||
	    gprof_grow(&p->pcs, &p->cap_pcs, p->nr_code + 1, sizeof(*p->pcs)) ||
	    give_pc(p, c, &p->pcs[p->nr_code]) ||
	    gprof_table_insert(&p->code_table, hash, (uint32_t)p->nr_code))
		return -ENOMEM;
	*number = (uint32_t)p->nr_code;
	p->code[p->nr_code++] = *c;
	return 0;
}

static bool same_stack(const void *ctx, uint32_t index, const void *key)
{
	const struct gprof_trace_pool *p = ctx;
	const struct gprof_trace_pool_stack *a = &p->stacks[index], *b = key;

	return a->nr == b->nr &&
	       !memcmp(&p->frames[a->first], &p->frames[b->first], a->nr * sizeof(*p->frames));
}

/* The last @nr numbers in @frames are a stack, or one that is there already. */
static int add_stack(struct gprof_trace_pool *p, size_t nr, uint64_t *id)
{
	struct gprof_trace_pool_stack s = { p->nr_frames - nr, nr };
	uint64_t hash = gprof_hash_bytes(p->stack_table.seed, &p->frames[s.first],
					 nr * sizeof(*p->frames));
	uint32_t n = gprof_table_find(&p->stack_table, hash, same_stack, p, &s);

	if (n != GPROF_NONE) {
		p->nr_frames -= nr;
		*id = n + 1ULL;
		return 0;
	}
	if (gprof_grow(&p->stacks, &p->cap_stacks, p->nr_stacks + 1, sizeof(*p->stacks)) ||
	    gprof_table_insert(&p->stack_table, hash, (uint32_t)p->nr_stacks)) {
		p->nr_frames -= nr;
		return -ENOMEM;
	}
	p->stacks[p->nr_stacks++] = s;
	*id = p->nr_stacks;
	return 0;
}

int gprof_trace_pool_stack(struct gprof_trace_pool *p, const struct gprof_trace_frame *frames,
			   size_t nr, uint64_t *id)
{
	size_t i, had = p->nr_frames;

	*id = 0;
	if (!nr)
		return 0;
	if (nr > GPROF_TRACE_FRAMES_MAX)
		nr = GPROF_TRACE_FRAMES_MAX;
	if (gprof_grow(&p->frames, &p->cap_frames, had + nr, sizeof(*p->frames)))
		return -ENOMEM;
	for (i = 0; i < nr; i++) {
		struct gprof_trace_pool_code c = { .pc = frames[i].pc, .line = frames[i].line };
		uint64_t function, file;

		if (gprof_trace_pool_string(p, frames[i].function.s, frames[i].function.len,
					    &function) ||
		    gprof_trace_pool_string(p, frames[i].file.s, frames[i].file.len, &file))
			break;
		c.function = (uint32_t)function;
		c.file = (uint32_t)file;
		if (add_code(p, &c, &p->frames[had + i]))
			break;
	}
	if (i < nr)
		return -ENOMEM;
	p->nr_frames = had + nr;
	return add_stack(p, nr, id);
}

size_t gprof_trace_pool_frames(const struct gprof_trace_pool *p, uint64_t id,
			       struct gprof_trace_frame *frames, size_t max)
{
	const struct gprof_trace_pool_stack *s;
	size_t i;

	if (!id || id > p->nr_stacks)
		return 0;
	s = &p->stacks[id - 1];
	for (i = 0; i < s->nr && i < max; i++) {
		const struct gprof_trace_pool_code *c = &p->code[p->frames[s->first + i]];
		const char *function = p->strings.v[c->function], *file = p->strings.v[c->file];

		frames[i] = (struct gprof_trace_frame){
			.pc = c->pc,
			.line = c->line,
			.function = { function, strlen(function) },
			.file = { file, strlen(file) },
		};
	}
	return s->nr;
}

int gprof_trace_pool_call(struct gprof_trace_pool *p, uint64_t caller, const char *name,
			  uint64_t *id)
{
	struct gprof_trace_frame frames[GPROF_TRACE_FRAMES_MAX + 1] = {
		{ .function = { name, strlen(name) }, .file = { "", 0 } },
	};

	return gprof_trace_pool_stack(p, frames,
				      1 + gprof_trace_pool_frames(p, caller, frames + 1,
								  GPROF_TRACE_FRAMES_MAX), id);
}

int gprof_trace_pool_move(struct gprof_trace_pool *p, const struct gprof_trace_pool *from,
			  uint64_t *id)
{
	struct gprof_trace_frame frames[GPROF_TRACE_FRAMES_MAX];
	size_t nr = gprof_trace_pool_frames(from, *id, frames, GPROF_TRACE_FRAMES_MAX);

	return gprof_trace_pool_stack(p, frames, nr, id);
}

static int write_strings(const struct gprof_trace_pool *p, struct gprof_trace_bytes *out,
			 struct gprof_trace_bytes *body, uint64_t generation, uint64_t time)
{
	size_t i = 1;
	int err;

	/* There is a batch even when there is no string, for readers expect one. */
	do {
		err = gprof_trace_put_byte(body, GPROF_EV_STRINGS);
		for (; i < p->strings.nr && !err; i++) {
			size_t len = strlen(p->strings.v[i]);

			if (body->nr + STRING_ROOM > GPROF_TRACE_BATCH_MAX)
				break;
			err = gprof_trace_put_byte(body, GPROF_EV_STRING);
			if (!err)
				err = gprof_trace_put_number(body, i);
			if (!err)
				err = gprof_trace_put_number(body, len);
			if (!err)
				err = gprof_trace_put(body, p->strings.v[i], len);
		}
		if (!err)
			err = gprof_trace_put_batch(out, generation, GPROF_TRACE_NO_THREAD, time,
						    body);
	} while (!err && i < p->strings.nr);
	return err;
}

static int put_stack(const struct gprof_trace_pool *p, struct gprof_trace_bytes *body, size_t n)
{
	const struct gprof_trace_pool_stack *s = &p->stacks[n];
	size_t i;
	int err = gprof_trace_put_byte(body, GPROF_EV_STACK);

	if (!err)
		err = gprof_trace_put_number(body, n + 1);
	if (!err)
		err = gprof_trace_put_number(body, s->nr);
	for (i = 0; i < s->nr && !err; i++) {
		uint32_t number = p->frames[s->first + i];
		const struct gprof_trace_pool_code *c = &p->code[number];

		err = gprof_trace_put_number(body, p->pcs[number]);
		if (!err)
			err = gprof_trace_put_number(body, c->function);
		if (!err)
			err = gprof_trace_put_number(body, c->file);
		if (!err)
			err = gprof_trace_put_number(body, c->line);
	}
	return err;
}

static int write_stacks(const struct gprof_trace_pool *p, struct gprof_trace_bytes *out,
			struct gprof_trace_bytes *body, uint64_t generation, uint64_t time)
{
	size_t i = 0;
	int err;

	do {
		err = gprof_trace_put_byte(body, GPROF_EV_STACKS);
		for (; i < p->nr_stacks && !err; i++) {
			if (body->nr + STACK_ROOM > GPROF_TRACE_BATCH_MAX)
				break;
			err = put_stack(p, body, i);
		}
		if (!err)
			err = gprof_trace_put_batch(out, generation, GPROF_TRACE_NO_THREAD, time,
						    body);
	} while (!err && i < p->nr_stacks);
	return err;
}

int gprof_trace_pool_write(const struct gprof_trace_pool *p, struct gprof_trace_bytes *out,
			   uint64_t generation, uint64_t time)
{
	struct gprof_trace_bytes body = { 0 };
	int err = write_stacks(p, out, &body, generation, time);

	if (!err)
		err = write_strings(p, out, &body, generation, time);
	gprof_trace_bytes_free(&body);
	return err;
}
