// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * code_versions.c: locations of generated code, of which there were several at an address.
 */
#include "code_versions.h"

#include <stdlib.h>
#include <string.h>

/* What tells them apart. */
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
	memset(v, 0, sizeof(*v));
}

static bool version_eq(const void *ctx, uint32_t index, const void *key)
{
	const struct gprof_code_versions *v = ctx;
	const struct gprof_location *l = &v->p->locations[v->v[index].location];
	const struct key *k = key;

	return v->v[index].function == k->function && v->v[index].line == k->line &&
	       l->mapping == k->mapping && l->address == k->address;
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
	v->v[v->nr_v++] = (struct gprof_code_version){ location, function, line };
	return location;
}
