/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * code_versions.h: locations of generated code, of which there were several at an address.
 */
#ifndef GPROF_CODE_VERSIONS_H
#define GPROF_CODE_VERSIONS_H

#include <stdint.h>

#include "base/table.h"
#include "profile/profile.h"

/**
 * struct gprof_code_version - a location, and which code it is of
 * @address: address
 * @mapping: index + 1 of the mapping in the profile
 * @location: index in the profile
 * @function: likewise
 * @line: in its source, or 0
 */
struct gprof_code_version {
	uint64_t address;
	uint32_t mapping;
	uint32_t location;
	uint32_t function;
	uint32_t line;
};

/**
 * struct gprof_code_entry - a location that was asked for of late
 * @address: address
 * @id: gprof_jit_code.id
 * @mapping: index + 1 of the mapping in the profile
 * @location: index in the profile
 */
struct gprof_code_entry {
	uint64_t address;
	uint64_t id;
	uint32_t mapping;
	uint32_t location;
};

/**
 * struct gprof_code_versions - such locations, each once
 * @p: their profile
 * @table: finds them
 * @known: some of them, by the hash of their keys; NULL: none yet
 */
struct gprof_code_versions {
	struct gprof_profile *p;
	struct gprof_table table;
	struct gprof_code_entry *known;
	GPROF_ARRAY(struct gprof_code_version, v);
};

void gprof_code_versions_init(struct gprof_code_versions *v, struct gprof_profile *p);
void gprof_code_versions_free(struct gprof_code_versions *v);

/**
 * gprof_code_versions_location() - the location of a function at an address
 * @v: such locations
 * @mapping: index + 1 of the mapping in the profile
 * @address: address
 * @function: index in the profile, which may change as more is read
 * @line: in its source, or 0
 *
 * Return: index, or GPROF_NONE without memory.
 */
uint32_t gprof_code_versions_location(struct gprof_code_versions *v, uint32_t mapping,
				      uint64_t address, uint32_t function, uint32_t line);

/**
 * gprof_code_versions_find() - where a location may be, so that its function need not be found
 *
 * Return: a place of @v->known: it is that of the code if address, id and mapping are the same,
 * else for the caller to fill; NULL without memory.
 */
struct gprof_code_entry *gprof_code_versions_find(struct gprof_code_versions *v, uint32_t mapping,
						  uint64_t address, uint64_t id);

#endif /* GPROF_CODE_VERSIONS_H */
