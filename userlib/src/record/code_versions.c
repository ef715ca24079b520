// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * code_versions.c: locations of generated code that is no longer the newest at its address.
 */
#include "code_versions.h"

#include <stdlib.h>
#include <string.h>

/* What tells them apart. */
struct key {
	uint32_t mapping;
	uint32_t version;
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

	return v->v[index].version == k->version && l->mapping == k->mapping &&
	       l->address == k->address;
}

uint32_t gprof_code_versions_location(struct gprof_code_versions *v, uint32_t mapping,
				      uint64_t address, uint32_t version, bool *is_new)
{
	const struct key key = { mapping, version, address };
	uint64_t hash = gprof_hash_u64(gprof_hash_u64(v->table.seed, address),
				       (uint64_t)mapping << 32 | version);
	uint32_t index = gprof_table_find(&v->table, hash, version_eq, v, &key), location;

	*is_new = index == GPROF_NONE;
	if (!*is_new)
		return v->v[index].location;
	location = gprof_profile_append_location(v->p, mapping, address);
	if (location == GPROF_NONE || gprof_grow(&v->v, &v->cap_v, v->nr_v + 1, sizeof(*v->v)) ||
	    gprof_table_insert(&v->table, hash, (uint32_t)v->nr_v))
		return GPROF_NONE;
	v->v[v->nr_v++] = (struct gprof_code_version){ location, version };
	return location;
}
