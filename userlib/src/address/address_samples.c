// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * address_samples.c: samples by stack, and the mappings of their addresses.
 */
#include "address_samples.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int gprof_address_samples_init(struct gprof_address_samples *s)
{
	memset(s, 0, sizeof(*s));
	gprof_stacks_init(&s->stacks);
	gprof_table_init(&s->maps_table);
	return gprof_strings_init(&s->texts);
}

void gprof_address_samples_free(struct gprof_address_samples *s)
{
	gprof_stacks_free(&s->stacks);
	gprof_table_free(&s->maps_table);
	gprof_strings_free(&s->texts);
	free(s->counts);
	free(s->maps);
	memset(s, 0, sizeof(*s));
}

static int add_stack(void *ctx, const struct gprof_stack_rec *rec, uint32_t *handle)
{
	struct gprof_address_samples *s = ctx;
	int err = gprof_stacks_add(&s->stacks, rec, handle);

	if (err || *handle < s->nr_counts)
		return err;
	err = gprof_grow(&s->counts, &s->cap_counts, s->stacks.nr, sizeof(*s->counts));
	if (!err)
		s->counts[s->nr_counts++] = (struct gprof_address_count){ 0 };
	return err;
}

/* Tasks are not told apart. */
static int add_task(void *ctx, const struct gprof_task_rec *rec, uint32_t *handle)
{
	(void)ctx;
	(void)rec;
	*handle = 0;
	return 0;
}

static struct gprof_address_count *count_of(struct gprof_address_samples *s, uint32_t stack)
{
	return stack < s->nr_counts ? &s->counts[stack] : &s->none;
}

static void count(struct gprof_address_samples *s, uint32_t stack, uint64_t weight)
{
	struct gprof_address_count *c = count_of(s, stack);

	c->samples++;
	c->weight += weight;
}

static int add_sample(void *ctx, const struct gprof_decoded *sample, uint32_t *handle)
{
	count(ctx, sample->stack, sample->weight);
	*handle = sample->stack;
	return 0;
}

static void add_again(void *ctx, uint32_t handle, uint64_t weight, uint64_t time)
{
	(void)time;
	count(ctx, handle, weight);
}

static bool map_eq(const void *ctx, uint32_t index, const void *key)
{
	const struct gprof_address_samples *s = ctx;

	return !memcmp(&s->maps[index], key, sizeof(s->maps[index]));
}

static int add_text(struct gprof_address_samples *s, const char *text, uint32_t *number)
{
	*number = gprof_strings_add(&s->texts, text, strlen(text));
	return *number == GPROF_NONE ? -ENOMEM : 0;
}

static int add_build_id(struct gprof_address_samples *s, const struct gprof_map_file *file,
			uint32_t *number)
{
	char hex[2 * GPROF_BUILD_ID_SIZE + 1] = "";
	size_t i;

	for (i = 0; file && i < file->build_id_size; i++)
		snprintf(hex + 2 * i, 3, "%02x", file->build_id[i]);
	return add_text(s, hex, number);
}

/* Each reading of a process has all its mappings; here each is once. */
static int add_map(void *ctx, const struct gprof_map_rec *rec, const char *path)
{
	struct gprof_address_samples *s = ctx;
	struct gprof_address_map m;
	uint64_t hash;
	int err;

	/* It is compared and hashed as bytes. */
	memset(&m, 0, sizeof(m));
	m.process = rec->process;
	m.unmapped = rec->exec_map_seq >> GPROF_EXEC_MAP_SEQ_UNMAPPED_SHIFT;
	m.start = rec->start;
	m.end = rec->end;
	m.offset = rec->offset;
	err = add_text(s, path, &m.path);
	if (!err)
		err = add_build_id(s, gprof_map_file(rec), &m.build_id);
	hash = gprof_hash_bytes(s->maps_table.seed, &m, sizeof(m));
	if (err || gprof_table_find(&s->maps_table, hash, map_eq, s, &m) != GPROF_NONE)
		return err;
	if (gprof_grow(&s->maps, &s->cap_maps, s->nr_maps + 1, sizeof(*s->maps)) ||
	    gprof_table_insert(&s->maps_table, hash, (uint32_t)s->nr_maps))
		return -ENOMEM;
	s->maps[s->nr_maps++] = m;
	return 0;
}

const struct gprof_decode_ops gprof_address_ops = {
	.stack = add_stack,
	.task = add_task,
	.sample = add_sample,
	.again = add_again,
	.map = add_map,
};

static bool is_of(const struct gprof_address_map *m, const struct gprof_stack *stack, uint64_t addr)
{
	return addr >= m->start && addr < m->end &&
	       m->unmapped == stack->exec_map_seq >> GPROF_EXEC_MAP_SEQ_UNMAPPED_SHIFT &&
	       gprof_same_run(&m->process, &stack->process);
}

uint32_t gprof_address_map_of(const struct gprof_address_samples *s,
			      const struct gprof_stack *stack, uint64_t addr)
{
	uint32_t found = GPROF_NONE;
	size_t i;

	for (i = 0; i < s->nr_maps; i++) {
		if (!is_of(&s->maps[i], stack, addr))
			continue;
		if (s->maps[i].build_id)
			return (uint32_t)i;
		if (found == GPROF_NONE)
			found = (uint32_t)i;
	}
	return found;
}
