/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * name_cache.h: functions and lines at addresses of files, for the next profile.
 *
 * A recording that goes on meets the same addresses again, for which the debug data of files would
 * be unpacked and read once more, each time.
 */
#ifndef GPROF_NAME_CACHE_H
#define GPROF_NAME_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbolizer.h"
#include "base/table.h"

/** struct gprof_cached_frame - a struct gprof_symbol_frame, with numbers of texts */
struct gprof_cached_frame {
	uint32_t name;
	uint32_t file;		/* 0: not known */
	uint32_t line;
	uint32_t column;
	uint32_t start_line;
};

/** struct gprof_cached_address - frames of an address */
struct gprof_cached_address {
	uint32_t first;
	uint16_t nr;
	bool inlines;
};

/**
 * struct gprof_name_cache - names at addresses of all files
 * @on: there is to be another profile
 * @since_ns: the first was noted then, or later
 * @budget: all memory
 * @texts: names, each once
 * @frames: frames
 * @nr_frames: how many
 * @cap_frames: room
 * @places: addresses, by the number that the map of a file has
 * @nr_places: how many
 * @cap_places: room
 */
struct gprof_name_cache {
	bool on;
	uint64_t since_ns;
	struct gprof_budget budget;
	struct gprof_strings texts;
	struct gprof_cached_frame *frames;
	size_t nr_frames;
	size_t cap_frames;
	struct gprof_cached_address *places;
	size_t nr_places;
	size_t cap_places;
};

/** gprof_name_cache_init() - nothing is known, and nothing noted yet */
void gprof_name_cache_init(struct gprof_name_cache *k);

/** gprof_name_cache_free() - nothing is known; the maps of files are freed before */
void gprof_name_cache_free(struct gprof_name_cache *k);

/**
 * gprof_name_cache_old() - is all of it to be forgotten, and learned anew?
 *
 * From the first call on it is noted. Debug files that come later are to be seen some time.
 */
bool gprof_name_cache_old(struct gprof_name_cache *k);

/** gprof_name_cache_of() - an empty map of a file */
void gprof_name_cache_of(struct gprof_name_cache *k, struct gprof_map64 *map);

/**
 * gprof_name_cache_get() - as gprof_symbolizer_frames()
 * @k: names
 * @map: of the file
 * @addr: address in it
 * @frames: texts live as long as the cache
 * @nr: how many, 0: it is known that there is none
 * @inlines: DWARF told of it
 *
 * Return: whether it is known.
 */
bool gprof_name_cache_get(const struct gprof_name_cache *k, const struct gprof_map64 *map,
			  uint64_t addr, struct gprof_symbol_frame *frames, size_t *nr,
			  bool *inlines);

/** gprof_name_cache_put() - keep the result of gprof_symbolizer_frames(), if there is room */
void gprof_name_cache_put(struct gprof_name_cache *k, struct gprof_map64 *map, uint64_t addr,
			  const struct gprof_symbol_frame *frames, size_t nr, bool inlines);

#endif /* GPROF_NAME_CACHE_H */
