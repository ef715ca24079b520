// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * locations.c: mappings and locations, each once.
 */
#include "locations.h"

#define PAGE	4096ULL		/* pprof's, on any machine */

void gprof_locations_init(struct gprof_locations *s, struct gprof_profile *p)
{
	s->p = p;
	gprof_table_init(&s->mappings);
	gprof_table_init(&s->locations);
}

void gprof_locations_free(struct gprof_locations *s)
{
	gprof_table_free(&s->mappings);
	gprof_table_free(&s->locations);
}

static uint64_t pages(const struct gprof_mapping *m)
{
	uint64_t size = m->limit - m->start;

	return size / PAGE + !!(size % PAGE);
}

/* Identifies the file; a name beside a build-id may be anything. */
static uint64_t file_of(const struct gprof_mapping *m)
{
	return m->build_id ? m->build_id : m->filename;
}

static bool mapping_eq(const void *ctx, uint32_t index, const void *key)
{
	const struct gprof_mapping *a = &((const struct gprof_profile *)ctx)->mappings[index];
	const struct gprof_mapping *b = key;

	return pages(a) == pages(b) && a->offset == b->offset && file_of(a) == file_of(b) &&
	       !a->build_id == !b->build_id;
}

uint32_t gprof_locations_add_mapping(struct gprof_locations *s, const struct gprof_mapping *m)
{
	uint64_t hash = gprof_hash_u64(s->mappings.seed, pages(m));
	uint32_t index;

	hash = gprof_hash_u64(hash, m->offset);
	hash = gprof_hash_u64(hash, file_of(m) << 1 | !m->build_id);
	index = gprof_table_find(&s->mappings, hash, mapping_eq, s->p, m);
	if (index != GPROF_NONE)
		return index;
	index = gprof_profile_add_mapping(s->p, m);
	if (index == GPROF_NONE || gprof_table_insert(&s->mappings, hash, index))
		return GPROF_NONE;
	return index;
}

struct location_key {
	const struct gprof_location *l;
	const struct gprof_line *lines;
	size_t nr;
};

static bool location_eq(const void *ctx, uint32_t index, const void *key)
{
	const struct gprof_profile *p = ctx;
	const struct gprof_location *l = &p->locations[index];
	const struct location_key *k = key;
	size_t i;

	if (l->mapping != k->l->mapping || l->address != k->l->address ||
	    l->folded != k->l->folded || l->nr_lines != k->nr)
		return false;
	for (i = 0; i < k->nr; i++) {
		const struct gprof_line *a = &p->lines[l->lines + i], *b = &k->lines[i];

		if (a->function != b->function || a->line != b->line || a->column != b->column)
			return false;
	}
	return true;
}

uint32_t gprof_locations_add(struct gprof_locations *s, const struct gprof_location *l,
			     const struct gprof_line *lines, size_t nr)
{
	struct location_key key = { l, lines, nr };
	uint64_t hash = gprof_hash_u64(s->locations.seed, (uint64_t)l->mapping << 1 | l->folded);
	uint32_t index;
	size_t i;

	hash = gprof_hash_u64(hash, l->address);
	for (i = 0; i < nr; i++) {
		hash = gprof_hash_u64(hash, lines[i].function);
		hash = gprof_hash_u64(hash, (uint64_t)lines[i].line);
		hash = gprof_hash_u64(hash, (uint64_t)lines[i].column);
	}
	index = gprof_table_find(&s->locations, hash, location_eq, s->p, &key);
	if (index != GPROF_NONE)
		return index;
	index = gprof_profile_append_location(s->p, l->mapping, l->address);
	if (index == GPROF_NONE || gprof_profile_set_lines(s->p, index, lines, nr) ||
	    gprof_table_insert(&s->locations, hash, index))
		return GPROF_NONE;
	s->p->locations[index].folded = l->folded;
	return index;
}
