/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * locations.h: mappings and locations of a profile that is put together from others, or by hand:
 * each once, compared by contents.
 */
#ifndef GPROF_LOCATIONS_H
#define GPROF_LOCATIONS_H

#include "profile.h"
#include "base/table.h"

/**
 * struct gprof_locations - finds the mappings and locations of a profile, each once
 * @p: the profile, to which no other code adds mappings or locations
 * @mappings: its mappings, by size, offset and file
 * @locations: its locations, by mapping, address and lines
 */
struct gprof_locations {
	struct gprof_profile *p;
	struct gprof_table mappings;
	struct gprof_table locations;
};

void gprof_locations_init(struct gprof_locations *s, struct gprof_profile *p);
void gprof_locations_free(struct gprof_locations *s);

/**
 * gprof_locations_add_mapping() - the mapping like this one, added where there is none
 *
 * Alike, for pprof too, are two mappings of one size, in pages, and one offset, with one
 * build-id, or without any and of one file; they may lie at other addresses.
 *
 * Return: index, or GPROF_NONE without memory.
 */
uint32_t gprof_locations_add_mapping(struct gprof_locations *s, const struct gprof_mapping *m);

/**
 * gprof_locations_add() - the location like this one, added where there is none
 * @s: places
 * @l: mapping (index + 1), address and folded
 * @lines: its lines, not among those of the profile
 * @nr: how many
 *
 * Return: index, or GPROF_NONE without memory.
 */
uint32_t gprof_locations_add(struct gprof_locations *s, const struct gprof_location *l,
			     const struct gprof_line *lines, size_t nr);

#endif /* GPROF_LOCATIONS_H */
