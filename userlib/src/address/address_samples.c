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
	free(s->order);
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

static int compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

/* Processes, and times of one between which nothing was unmapped. */
static int compare_spaces(const struct gprof_address_map *a, const struct gprof_address_map *b)
{
	int order = compare(a->process.pid, b->process.pid);

	order = order ? order : compare(a->process.exec_id, b->process.exec_id);
	order = order ? order : compare(a->process.start_ns, b->process.start_ns);
	return order ? order : compare(a->unmapped, b->unmapped);
}

static int compare_maps(const struct gprof_address_map *a, const struct gprof_address_map *b)
{
	int order = compare_spaces(a, b);

	return order ? order : compare(a->start, b->start);
}

static int by_place(const void *x, const void *y, void *ctx)
{
	const struct gprof_address_order *a = x, *b = y;
	const struct gprof_address_samples *s = ctx;

	return compare_maps(&s->maps[a->map], &s->maps[b->map]);
}

int gprof_address_maps_sort(struct gprof_address_samples *s)
{
	struct gprof_address_order *o;
	size_t i;

	if (!s->nr_maps)
		return 0;
	if (gprof_grow(&s->order, &s->cap_order, s->nr_maps, sizeof(*s->order)))
		return -ENOMEM;
	o = s->order;
	for (i = 0; i < s->nr_maps; i++)
		o[i].map = (uint32_t)i;
	qsort_r(o, s->nr_maps, sizeof(*o), by_place, s);
	for (i = 0; i < s->nr_maps; i++) {
		const struct gprof_address_map *m = &s->maps[o[i].map];

		o[i].reach = m->end;
		if (i && !compare_spaces(&s->maps[o[i - 1].map], m) && o[i - 1].reach > m->end)
			o[i].reach = o[i - 1].reach;
	}
	return 0;
}

/* How many of the sorted ones do not begin behind it. */
static size_t count_before(const struct gprof_address_samples *s,
			   const struct gprof_address_map *place)
{
	size_t low = 0, high = s->nr_maps;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_maps(&s->maps[s->order[middle].map], place) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Of several the first with a build-id, or the first. */
static bool is_better(const struct gprof_address_samples *s, uint32_t map, uint32_t than)
{
	if (than == GPROF_NONE || !s->maps[map].build_id != !s->maps[than].build_id)
		return than == GPROF_NONE || s->maps[map].build_id;
	return map < than;
}

uint32_t gprof_address_map_of(const struct gprof_address_samples *s,
			      const struct gprof_stack *stack, uint64_t addr)
{
	const struct gprof_address_map place = {
		.process = stack->process,
		.unmapped = stack->exec_map_seq >> GPROF_EXEC_MAP_SEQ_UNMAPPED_SHIFT,
		.start = addr,
	};
	uint32_t found = GPROF_NONE;
	size_t i = count_before(s, &place);

	while (i--) {
		const struct gprof_address_order *o = &s->order[i];
		const struct gprof_address_map *m = &s->maps[o->map];

		if (o->reach <= addr || compare_spaces(m, &place))
			break;
		if (addr < m->end && is_better(s, o->map, found))
			found = o->map;
	}
	return found;
}
