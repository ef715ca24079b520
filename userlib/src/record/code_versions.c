// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * code_versions.c: locations of generated code, of which there were several at an address.
 */
#include "code_versions.h"

#include <stdlib.h>
#include <string.h>

#define KNOWN	(1U << 15)	/* most stacks have the same frames */

/* The key. */
struct key {
	uint32_t mapping;
	uint32_t function;
	uint32_t line;
	uint64_t address;
};

void gprof_code_versions_init(struct gprof_code_versions *v, struct gprof_profile *p)
{
	memset(v, 0, sizeof(*v));
	v->p = p;
	gprof_table_init(&v->table);
}

void gprof_code_versions_free(struct gprof_code_versions *v)
{
	gprof_table_free(&v->table);
	free(v->v);
	free(v->known);
	memset(v, 0, sizeof(*v));
}

static bool version_eq(const void *ctx, uint32_t index, const void *key)
{
	const struct gprof_code_versions *v = ctx;
	const struct gprof_code_version *is = &v->v[index];
	const struct key *k = key;

	return is->function == k->function && is->line == k->line &&
	       is->mapping == k->mapping && is->address == k->address;
}

uint32_t gprof_code_versions_location(struct gprof_code_versions *v, uint32_t mapping,
				      uint64_t address, uint32_t function, uint32_t line)
{
	const struct gprof_line of = { .function = function, .line = line };
	const struct key key = { mapping, function, line, address };
	uint64_t hash = gprof_hash_u64(v->table.seed, address);
	uint32_t index, location;

	hash = gprof_hash_u64(hash, (uint64_t)mapping << 32 | function);
	hash = gprof_hash_u64(hash, line);
	index = gprof_table_find(&v->table, hash, version_eq, v, &key);
	if (index != GPROF_NONE)
		return v->v[index].location;
	location = gprof_profile_append_location(v->p, mapping, address);
	if (location == GPROF_NONE || gprof_profile_set_lines(v->p, location, &of, 1) ||
	    gprof_grow(&v->v, &v->cap_v, v->nr_v + 1, sizeof(*v->v)) ||
	    gprof_table_insert(&v->table, hash, (uint32_t)v->nr_v))
		return GPROF_NONE;
	v->v[v->nr_v++] = (struct gprof_code_version){ address, mapping, location, function, line };
	return location;
}

struct gprof_code_entry *gprof_code_versions_find(struct gprof_code_versions *v, uint32_t mapping,
						  uint64_t address, uint64_t id)
{
	uint64_t hash = gprof_hash_u64(gprof_hash_u64(v->table.seed ^ mapping, address), id);

	if (!v->known)
		v->known = calloc(KNOWN, sizeof(*v->known));
	return v->known ? &v->known[hash % KNOWN] : NULL;
}
