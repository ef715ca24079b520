// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * pprof_code.c: mappings, functions and locations of a pprof file.
 */
#include <string.h>

#include "pprof_plain.h"
#include "pprof_reader.h"

/* Remember an id, which must be new and not 0. */
static int put_id(struct gprof_pprof_reader *r, struct gprof_ids *ids, uint64_t id, uint32_t index)
{
	/* as most are: the next one */
	if (id == (uint64_t)ids->nr + 1 && !ids->others.used)
		return gprof_ids_put(ids, id, index) ? gprof_pprof_no_memory(r) : 0;
	if (!id)
		return gprof_pprof_bad(r, "an id is 0");
	if (gprof_ids_get(ids, id) != GPROF_NONE)
		return gprof_pprof_bad(r, "two parts have one id");
	return gprof_ids_put(ids, id, index) ? gprof_pprof_no_memory(r) : 0;
}

static int read_mapping(struct gprof_pprof_reader *r, const struct gprof_pprof_part *part)
{
	uint64_t v[MAPPING_FIELDS];
	struct gprof_mapping m = { 0 };
	uint32_t index;
	int err = gprof_pprof_numbers(r, part, v, MAPPING_FIELDS);

	if (!err)
		err = gprof_pprof_text(r, v[MAPPING_FILENAME], &m.filename);
	if (!err)
		err = gprof_pprof_text(r, v[MAPPING_BUILD_ID], &m.build_id);
	if (err)
		return err;
	m.start = v[MAPPING_START];
	m.limit = v[MAPPING_LIMIT];
	m.offset = v[MAPPING_OFFSET];
	m.has_functions = v[MAPPING_FUNCTIONS];
	m.has_filenames = v[MAPPING_FILENAMES];
	m.has_line_numbers = v[MAPPING_LINE_NUMBERS];
	m.has_inline_frames = v[MAPPING_INLINE_FRAMES];
	index = r->places ? gprof_locations_add_mapping(r->places, &m) :
			    gprof_profile_add_mapping(r->p, &m);
	if (index == GPROF_NONE || GPROF_PPROF_ROOM(r, placed, r->nr_placed + 1))
		return gprof_pprof_no_memory(r);
	r->placed[r->nr_placed] = (struct gprof_pprof_placed){ index, m.start - r->p->mappings[index].start };
	return put_id(r, &r->mappings, v[MAPPING_ID], (uint32_t)r->nr_placed++);
}

/* One whose fields are in order; false: of any other nothing is known. */
static bool read_plain_function(const struct gprof_pprof_part *message, uint64_t *v)
{
	const unsigned char *p = message->data, *end = p + message->len;

	return gprof_varint_field(&p, end, FUNCTION_ID, &v[FUNCTION_ID]) &&
	       gprof_varint_field(&p, end, FUNCTION_NAME, &v[FUNCTION_NAME]) &&
	       gprof_varint_field(&p, end, FUNCTION_SYSTEM_NAME, &v[FUNCTION_SYSTEM_NAME]) &&
	       gprof_varint_field(&p, end, FUNCTION_FILENAME, &v[FUNCTION_FILENAME]) &&
	       gprof_varint_field(&p, end, FUNCTION_LINE, &v[FUNCTION_LINE]) && p == end;
}

static int read_function(struct gprof_pprof_reader *r, const struct gprof_pprof_part *part)
{
	uint64_t v[FUNCTION_FIELDS];
	struct gprof_function f = { 0 };
	uint32_t index;
	int err = 0;

	if (!read_plain_function(part, v))
		err = gprof_pprof_numbers(r, part, v, FUNCTION_FIELDS);
	if (!err)
		err = gprof_pprof_text(r, v[FUNCTION_NAME], &f.name);
	if (!err)
		err = gprof_pprof_text(r, v[FUNCTION_SYSTEM_NAME], &f.system_name);
	if (!err)
		err = gprof_pprof_text(r, v[FUNCTION_FILENAME], &f.filename);
	if (err)
		return err;
	f.start_line = (int64_t)v[FUNCTION_LINE];
	index = gprof_profile_function(r->p, &f);
	if (index == GPROF_NONE)
		return gprof_pprof_no_memory(r);
	return put_id(r, &r->functions, v[FUNCTION_ID], index);
}

static int read_line(struct gprof_pprof_reader *r, const struct gprof_pprof_part *part,
		     struct gprof_line *l)
{
	uint64_t v[LINE_FIELDS];
	int err = gprof_pprof_numbers(r, part, v, LINE_FIELDS);

	if (err)
		return err;
	l->line = (int64_t)v[LINE_LINE];
	l->column = (int64_t)v[LINE_COLUMN];
	l->function = gprof_ids_get(&r->functions, v[LINE_FUNCTION]);
	return l->function == GPROF_NONE ? gprof_pprof_bad(r, "a line names a function that is not there") : 0;
}

/*
 * A location whose fields are in order and one of each kind, but for lines, as they are in
 * nearly all files. False for any other, of which nothing is known then.
 */
static bool read_plain_location(struct gprof_pprof_reader *r,
				const struct gprof_pprof_part *message, uint64_t *v, size_t *nr)
{
	const unsigned char *p = message->data, *end = p + message->len, *line_end;
	uint64_t id;

	*nr = 0;
	if (!gprof_varint_field(&p, end, LOCATION_ID, &v[LOCATION_ID]) ||
	    !gprof_varint_field(&p, end, LOCATION_MAPPING, &v[LOCATION_MAPPING]) ||
	    !gprof_varint_field(&p, end, LOCATION_ADDRESS, &v[LOCATION_ADDRESS]))
		return false;
	while (end - p >= 2 && p[0] == (LOCATION_LINE << 3 | 2) && p[1] <= end - p - 2) {
		struct gprof_line *l;

		if (p[1] & 0x80 || GPROF_PPROF_ROOM(r, lines, *nr + 1))
			return false;
		line_end = p + 2 + p[1];
		p += 2;
		l = &r->lines[(*nr)++];
		if (!gprof_varint_field(&p, line_end, LINE_FUNCTION, &id) ||
		    !gprof_varint_field(&p, line_end, LINE_LINE, (uint64_t *)&l->line) ||
		    !gprof_varint_field(&p, line_end, LINE_COLUMN, (uint64_t *)&l->column) ||
		    p != line_end)
			return false;
		l->function = gprof_ids_get(&r->functions, id);
		if (l->function == GPROF_NONE)
			return false;
	}
	return gprof_varint_field(&p, end, LOCATION_FOLDED, &v[LOCATION_FOLDED]) && p == end;
}

/* The lines of a location, and its numbers. */
static int read_location_parts(struct gprof_pprof_reader *r, const struct gprof_pprof_part *message,
			       uint64_t *v, size_t *nr)
{
	struct gprof_pprof_parts parts = { message->data, message->len };
	struct gprof_pprof_part part;
	int ret, err;

	memset(v, 0, LOCATION_FIELDS * sizeof(*v));
	*nr = 0;
	while ((ret = gprof_pprof_parts_next(&parts, &part)) > 0) {
		if (part.field >= LOCATION_FIELDS)
			continue;
		if (part.type != (part.field == LOCATION_LINE ? 2 : 0))
			return gprof_pprof_invalid(r);
		if (part.field != LOCATION_LINE) {
			v[part.field] = part.value;
			continue;
		}
		if (GPROF_PPROF_ROOM(r, lines, *nr + 1))
			return gprof_pprof_no_memory(r);
		err = read_line(r, &part, &r->lines[(*nr)++]);
		if (err)
			return err;
	}
	return ret ? gprof_pprof_invalid(r) : 0;
}

static uint32_t append_location(struct gprof_pprof_reader *r, const struct gprof_location *l, size_t nr)
{
	uint32_t index = gprof_profile_append_location(r->p, l->mapping, l->address);

	if (index == GPROF_NONE || gprof_profile_set_lines(r->p, index, r->lines, nr))
		return GPROF_NONE;
	r->p->locations[index].folded = l->folded;
	return index;
}

/* A mapping that is not there is none, as for pprof; all other references must lead somewhere. */
static int read_location(struct gprof_pprof_reader *r, const struct gprof_pprof_part *part)
{
	struct gprof_location l = { 0 };
	uint64_t v[LOCATION_FIELDS];
	uint32_t mapping, index;
	size_t nr;
	int err = 0;

	if (!read_plain_location(r, part, v, &nr))
		err = read_location_parts(r, part, v, &nr);
	if (err)
		return err;
	mapping = gprof_ids_get(&r->mappings, v[LOCATION_MAPPING]);
	l.address = v[LOCATION_ADDRESS];
	l.folded = v[LOCATION_FOLDED];
	if (mapping != GPROF_NONE) {
		/* The same code, though it may have lain elsewhere. */
		l.mapping = r->placed[mapping].mapping + 1;
		l.address -= r->placed[mapping].lower;
	}
	index = r->places ? gprof_locations_add(r->places, &l, r->lines, nr) :
			    append_location(r, &l, nr);
	if (index == GPROF_NONE || GPROF_PPROF_ROOM(r, nr_frames, (size_t)index + 1))
		return gprof_pprof_no_memory(r);
	r->nr_frames[index] = nr ? (uint32_t)nr : 1;
	r->several |= nr > 1;
	return put_id(r, &r->locations, v[LOCATION_ID], index);
}

int gprof_pprof_code(struct gprof_pprof_reader *r)
{
	int err = gprof_pprof_each(r, MAPPING, read_mapping);

	if (!err)
		err = gprof_pprof_each(r, FUNCTION, read_function);
	return err ? err : gprof_pprof_each(r, LOCATION, read_location);
}
