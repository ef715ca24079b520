// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * name_cache.c: functions and lines at addresses of files, for the next profile.
 */
#include "name_cache.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

#define MEMORY_MAX	(2U << 20)	/* some 20,000 places */
#define OLD_NS		(600 * 1000000000ULL)
#define FULL_NS		(60 * 1000000000ULL)	/* of a full cache, full of old files too */

void gprof_name_cache_init(struct gprof_name_cache *k)
{
	memset(k, 0, sizeof(*k));
	k->budget.max = MEMORY_MAX;
}

void gprof_name_cache_free(struct gprof_name_cache *k)
{
	bool on = k->on;

	gprof_strings_free(&k->texts);
	free(k->frames);
	free(k->places);
	gprof_name_cache_init(k);
	k->on = on;
	k->since_ns = now_ns();
}

bool gprof_name_cache_old(struct gprof_name_cache *k)
{
	if (k->on)
		return now_ns() - k->since_ns > (k->budget.exceeded ? FULL_NS : OLD_NS);
	k->on = true;
	k->since_ns = now_ns();
	return false;
}

void gprof_name_cache_of(struct gprof_name_cache *k, struct gprof_map64 *map)
{
	gprof_map64_init(map);
	map->budget = &k->budget;
}

bool gprof_name_cache_get(const struct gprof_name_cache *k, const struct gprof_map64 *map,
			  uint64_t addr, struct gprof_symbol_frame *frames, size_t *nr,
			  bool *inlines)
{
	uint32_t at = gprof_map64_get(map, addr);
	const struct gprof_cached_address *p;
	size_t i;

	if (at == GPROF_NONE)
		return false;
	p = &k->places[at];
	for (i = 0; i < p->nr; i++) {
		const struct gprof_cached_frame *f = &k->frames[p->first + i];

		frames[i] = (struct gprof_symbol_frame){
			.name = k->texts.v[f->name],
			.file = f->file ? k->texts.v[f->file] : NULL,
			.line = f->line,
			.column = f->column,
			.start_line = f->start_line,
		};
	}
	*nr = p->nr;
	*inlines = p->inlines;
	return true;
}

static uint32_t text(struct gprof_name_cache *k, const char *s)
{
	return gprof_strings_add(&k->texts, s, strlen(s));
}

/* Unusual entries are not cached. */
static bool pack(struct gprof_name_cache *k, const struct gprof_symbol_frame *from,
		 struct gprof_cached_frame *to)
{
	if ((uint64_t)from->line > UINT32_MAX || (uint64_t)from->column > UINT32_MAX ||
	    (uint64_t)from->start_line > UINT32_MAX || (from->file && !from->file[0]))
		return false;
	to->name = text(k, from->name);
	to->file = from->file ? text(k, from->file) : 0;
	to->line = (uint32_t)from->line;
	to->column = (uint32_t)from->column;
	to->start_line = (uint32_t)from->start_line;
	return to->name != GPROF_NONE && to->file != GPROF_NONE;
}

void gprof_name_cache_put(struct gprof_name_cache *k, struct gprof_map64 *map, uint64_t addr,
			  const struct gprof_symbol_frame *frames, size_t nr, bool inlines)
{
	struct gprof_cached_address place = {
		.first = (uint32_t)k->nr_frames, .nr = (uint16_t)nr, .inlines = inlines,
	};
	size_t i;

	if (!k->on || k->budget.exceeded)
		return;
	if (!k->texts.nr) {
		if (gprof_strings_init(&k->texts))
			return;
		k->texts.table.budget = &k->budget;
	}
	if (gprof_grow_within(&k->budget, &k->frames, &k->cap_frames, k->nr_frames + nr,
			      sizeof(*k->frames)) ||
	    gprof_grow_within(&k->budget, &k->places, &k->cap_places, k->nr_places + 1,
			      sizeof(*k->places)))
		return;
	for (i = 0; i < nr; i++)
		if (!pack(k, &frames[i], &k->frames[k->nr_frames + i]))
			return;
	if (gprof_map64_put(map, addr, (uint32_t)k->nr_places))
		return;
	k->nr_frames += nr;
	k->places[k->nr_places++] = place;
}
