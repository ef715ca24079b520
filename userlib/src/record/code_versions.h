/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * code_versions.h: locations of generated code that is no longer the newest at its address.
 */
#ifndef GPROF_CODE_VERSIONS_H
#define GPROF_CODE_VERSIONS_H

#include <stdint.h>

#include "base/table.h"
#include "profile/profile.h"

/**
 * struct gprof_code_version - a location, and which code it is of
 * @location: index in the profile
 * @version: gprof_jit_code.version
 */
struct gprof_code_version {
	uint32_t location;
	uint32_t version;
};

/**
 * struct gprof_code_versions - such locations, each once
 * @p: their profile
 * @table: finds them
 */
struct gprof_code_versions {
	struct gprof_profile *p;
	struct gprof_table table;
	GPROF_ARRAY(struct gprof_code_version, v);
};

void gprof_code_versions_init(struct gprof_code_versions *v, struct gprof_profile *p);
void gprof_code_versions_free(struct gprof_code_versions *v);

/**
 * gprof_code_versions_location() - the location of a version of the code at an address
 * @v: such locations
 * @mapping: index + 1 of the mapping in the profile
 * @address: address
 * @version: not 0
 * @is_new: set to whether it has no lines yet
 *
 * Return: index, or GPROF_NONE without memory.
 */
uint32_t gprof_code_versions_location(struct gprof_code_versions *v, uint32_t mapping,
				      uint64_t address, uint32_t version, bool *is_new);

#endif /* GPROF_CODE_VERSIONS_H */
