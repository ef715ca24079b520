// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * address_pprof.c: samples as pprof whose locations are addresses in mappings.
 *
 * Fields of a profile may come in any order: a location is written before the first sample that
 * has it, texts at the end.
 */
#include "address_pprof.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/fd_write.h"
#include "base/pprof_fields.h"
#include "base/wire.h"

#define PIECE	65536

/* The user's half ends below it, everywhere. */
#define KERNEL_START	(1ULL << 63)

/** struct location - an address; @mapping: id, 0: none */
struct location {
	uint64_t address;
	uint64_t mapping;
};

/**
 * struct writer - a profile on its way out
 * @s: samples
 * @wire: bytes that are not written yet
 * @fd: where to
 * @err: first -errno
 * @locations: each once; the id is the index + 1
 * @table: finds them
 * @ids: locations of the stack
 * @unmapped: frames without a mapping
 * @kernel: id of the kernel's mapping; it is used from @kernel_used on
 */
struct writer {
	struct gprof_address_samples *s;
	struct gprof_wire wire;
	int fd;
	int err;
	struct location *locations;
	size_t nr_locations;
	size_t cap_locations;
	struct gprof_table table;
	uint32_t *ids;
	size_t cap_ids;
	uint64_t unmapped;
	uint64_t kernel;
	bool kernel_used;
};

static void flush(struct writer *w, size_t least)
{
	if (w->wire.failed && !w->err)
		w->err = -ENOMEM;
	if (w->err || w->wire.nr < least)
		return;
	w->err = gprof_fd_write(w->fd, w->wire.v, w->wire.nr);
	gprof_wire_clear(&w->wire);
}

static uint64_t text(struct writer *w, const char *t)
{
	uint32_t number = gprof_strings_add(&w->s->texts, t, strlen(t));

	if (number == GPROF_NONE && !w->err)
		w->err = -ENOMEM;
	return number;
}

static void put_type(struct writer *w, unsigned int field, const char *type, const char *unit)
{
	size_t at = gprof_wire_open(&w->wire, field);

	gprof_wire_number(&w->wire, TYPE_TYPE, text(w, type));
	gprof_wire_number(&w->wire, TYPE_UNIT, text(w, unit));
	gprof_wire_close(&w->wire, at);
}

static void put_head(struct writer *w, const struct gprof_address_head *h)
{
	size_t i;

	put_type(w, SAMPLE_TYPE, "samples", "count");
	put_type(w, SAMPLE_TYPE, h->type, h->unit);
	put_type(w, PERIOD_TYPE, h->type, h->unit);
	gprof_wire_number(&w->wire, PERIOD, h->period);
	gprof_wire_number(&w->wire, TIME_NANOS, h->time_ns);
	gprof_wire_number(&w->wire, DURATION_NANOS, h->duration_ns);
	for (i = 0; i < h->nr_comments; i++)
		gprof_wire_number(&w->wire, COMMENT, text(w, h->comments[i]));
}

static void put_mapping(struct writer *w, uint64_t id, const struct gprof_address_map *m)
{
	size_t at = gprof_wire_open(&w->wire, MAPPING);

	gprof_wire_number(&w->wire, MAPPING_ID, id);
	gprof_wire_number(&w->wire, MAPPING_START, m->start);
	gprof_wire_number(&w->wire, MAPPING_LIMIT, m->end);
	gprof_wire_number(&w->wire, MAPPING_OFFSET, m->offset);
	gprof_wire_number(&w->wire, MAPPING_FILENAME, m->path);
	gprof_wire_number(&w->wire, MAPPING_BUILD_ID, m->build_id);
	gprof_wire_close(&w->wire, at);
}

static void put_mappings(struct writer *w)
{
	size_t i;

	for (i = 0; i < w->s->nr_maps && !w->err; i++) {
		put_mapping(w, i + 1, &w->s->maps[i]);
		flush(w, PIECE);
	}
	if (w->kernel_used) {
		const struct gprof_address_map kernel = {
			.start = KERNEL_START, .end = UINT64_MAX,
			.path = (uint32_t)text(w, "[kernel]"),
		};

		put_mapping(w, w->kernel, &kernel);
	}
}

static bool location_eq(const void *ctx, uint32_t index, const void *key)
{
	const struct writer *w = ctx;

	return !memcmp(&w->locations[index], key, sizeof(struct location));
}

/* Its id; 0 without memory. */
static uint32_t location_id(struct writer *w, uint64_t address, uint64_t mapping)
{
	const struct location l = { address, mapping };
	uint64_t hash = gprof_hash_bytes(w->table.seed, &l, sizeof(l));
	uint32_t index = gprof_table_find(&w->table, hash, location_eq, w, &l);
	size_t at;

	if (index != GPROF_NONE)
		return index + 1;
	if (gprof_grow(&w->locations, &w->cap_locations, w->nr_locations + 1, sizeof(l)) ||
	    gprof_table_insert(&w->table, hash, (uint32_t)w->nr_locations)) {
		w->err = w->err ? w->err : -ENOMEM;
		return 0;
	}
	w->locations[w->nr_locations++] = l;
	at = gprof_wire_open(&w->wire, LOCATION);
	gprof_wire_number(&w->wire, LOCATION_ID, w->nr_locations);
	gprof_wire_number(&w->wire, LOCATION_MAPPING, mapping);
	gprof_wire_number(&w->wire, LOCATION_ADDRESS, address);
	gprof_wire_close(&w->wire, at);
	return (uint32_t)w->nr_locations;
}

/* Return addresses are moved into the call, which may be the last instruction of its function. */
static size_t locate(struct writer *w, const struct gprof_stack *stack)
{
	const uint64_t *frames = &w->s->stacks.frames[stack->frames];
	size_t n = (size_t)stack->nr_kernel + stack->nr_user, i;

	if (gprof_grow(&w->ids, &w->cap_ids, n + 1, sizeof(*w->ids))) {
		w->err = w->err ? w->err : -ENOMEM;
		return 0;
	}
	for (i = 0; i < n && !w->err; i++) {
		uint64_t addr = i && i != stack->nr_kernel ? frames[i] - 1 : frames[i];
		uint64_t mapping = w->kernel;

		if (i < stack->nr_kernel) {
			w->kernel_used = true;
		} else {
			uint32_t map = gprof_address_map_of(w->s, stack, addr);

			mapping = map == GPROF_NONE ? 0 : map + 1;
			w->unmapped += !mapping;
		}
		w->ids[i] = location_id(w, addr, mapping);
	}
	return n;
}

static void put_label(struct writer *w, const char *key, const char *value, uint64_t number)
{
	size_t at = gprof_wire_open(&w->wire, SAMPLE_LABEL);

	gprof_wire_number(&w->wire, LABEL_KEY, text(w, key));
	gprof_wire_number(&w->wire, LABEL_STR, value ? text(w, value) : 0);
	gprof_wire_number(&w->wire, LABEL_NUM, number);
	gprof_wire_close(&w->wire, at);
}

static bool is_guessed(const struct gprof_stack *stack)
{
	return stack->flags & (GPROF_STACK_REC_F_GUESSED | GPROF_STACK_REC_F_CALLER);
}

static void put_sample(struct writer *w, const struct gprof_stack *stack,
		       const struct gprof_address_count *c)
{
	size_t n = stack ? locate(w, stack) : 0, at, values;

	at = gprof_wire_open(&w->wire, SAMPLE);
	if (n)
		gprof_wire_indexes(&w->wire, SAMPLE_LOCATION, w->ids, n, 0);
	values = gprof_wire_open(&w->wire, SAMPLE_VALUE);
	gprof_wire_varint(&w->wire, c->samples);
	gprof_wire_varint(&w->wire, c->weight);
	gprof_wire_close(&w->wire, values);
	if (stack && stack->process.pid)
		put_label(w, "pid", NULL, stack->process.pid);
	if (stack && is_guessed(stack))
		put_label(w, "stack", "guessed", 0);
	gprof_wire_close(&w->wire, at);
	flush(w, PIECE);
}

static void put_samples(struct writer *w)
{
	const struct gprof_address_samples *s = w->s;
	size_t i;

	for (i = 0; i < s->nr_counts && !w->err; i++)
		if (s->counts[i].samples)
			put_sample(w, &s->stacks.v[i], &s->counts[i]);
	if (s->none.samples && !w->err)
		put_sample(w, NULL, &s->none);
}

static void put_texts(struct writer *w)
{
	const struct gprof_strings *t = &w->s->texts;
	size_t i;

	for (i = 0; i < t->nr && !w->err; i++) {
		gprof_wire_bytes(&w->wire, STRING, t->v[i], strlen(t->v[i]));
		flush(w, PIECE);
	}
}

int gprof_address_pprof_write(struct gprof_address_samples *s,
			      const struct gprof_address_head *head, int fd, uint64_t *unmapped)
{
	struct writer w = { .s = s, .fd = fd, .kernel = s->nr_maps + 1 };

	gprof_table_init(&w.table);
	w.err = gprof_address_maps_sort(s);
	put_head(&w, head);
	put_samples(&w);
	put_mappings(&w);
	put_texts(&w);
	flush(&w, 1);
	*unmapped = w.unmapped;
	gprof_table_free(&w.table);
	gprof_wire_free(&w.wire);
	free(w.locations);
	free(w.ids);
	return w.err;
}
