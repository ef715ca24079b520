// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * pprof_read.c: a profile from a pprof file.
 *
 * The file may come from anyone. Whatever it makes us keep is taken from one
 * budget, and every reference is checked. Each kind of parts is gone through in turn,
 * those that others refer to first, and taken from the bytes as they are: protobuf-c
 * makes objects of a message, which for the samples of a large file takes three times as
 * long as all the rest of reading.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/opts.h"
#include "pprof_fields.h"
#include "pprof_ids.h"
#include "pprof_input.h"
#include "pprof_into.h"
#include "pprof_memo.h"
#include "pprof_plain.h"
#include "profile.h"

#define MEMORY_DEFAULT	(1ULL << 30)
/* Of files that are added up: all of them may be of somebody who likes us to have no memory. */
#define SUM_MEMORY	(4ULL << 30)
/*
 * A stack names locations, and a location lines: without a limit their product is
 * the square of the file. Real files have less than one frame a byte.
 */
#define FRAMES_FREE	(1ULL << 20)
#define FRAMES_RATIO	16		/* frames of all samples, for each byte of the file */

/* Text of the last failure: reading has no object to keep it in. */
static _Thread_local struct gprof_error last;

/**
 * struct reader - what is known while a message becomes a profile
 * @plain: the message
 * @kinds: for each field of it, where the first of its parts begins, and the last ends
 * @p: profile
 * @places: what it has already, where it is a sum of several files; or NULL
 * @text: string number of the message to that of the profile
 * @nr_text: how many
 * @cap_text: room in it
 * @mappings: id to index in @placed
 * @placed: which mapping of the profile that is, and what it lies lower there
 * @cap_placed: room in it
 * @functions: id to index
 * @locations: likewise
 * @nr_frames: of each location
 * @several: one has more than one
 * @cap_nr_frames: room in it
 * @frames: of all samples
 * @stack: room for the locations of a sample
 * @cap_stack: elements of it
 * @values: room for the values of a sample
 * @cap_values: elements of it
 * @labels: room for the labels of a sample
 * @cap_labels: elements of it
 * @lines: room for the lines of a location
 * @cap_lines: elements of it
 * @memo: sets of labels that were read
 */
struct reader {
	struct gprof_parts plain;
	struct gprof_parts kinds[DOC_URL + 1];
	struct gprof_profile *p;
	struct gprof_places *places;
	uint32_t *text;
	size_t nr_text;
	size_t cap_text;
	struct gprof_ids mappings;
	struct placed {
		uint32_t mapping;
		uint64_t lower;
	} *placed;
	size_t nr_placed;
	size_t cap_placed;
	struct gprof_ids functions;
	struct gprof_ids locations;
	uint32_t *nr_frames;
	bool several;
	size_t cap_nr_frames;
	uint64_t frames;
	uint32_t *stack;
	size_t cap_stack;
	int64_t *values;
	size_t cap_values;
	struct gprof_label *labels;
	size_t cap_labels;
	struct gprof_line *lines;
	size_t cap_lines;
	struct gprof_memo memo;
};

static int bad(const char *what)
{
	return gprof_error_set(&last, EBADMSG, "the file is not a profile: %s", what);
}

static int no_memory(const struct gprof_budget *b)
{
	if (b->exceeded)
		return gprof_pprof_exceeded(b, &last);
	return gprof_error_set(&last, ENOMEM, "no memory for the profile");
}

static int not_profile(void)
{
	return bad("it does not follow profile.proto");
}

#define ROOM(r, name, n) \
	gprof_grow_within(&(r)->p->budget, &(r)->name, &(r)->cap_##name, n, sizeof(*(r)->name))

/**
 * read_numbers() - a message of numbers alone
 * @message: the part that it is
 * @values: gets the number of each field, 0 where there is none; of several the last counts
 * @nr: fields from 1 to @nr - 1; others are nobody's business
 */
static int read_numbers(const struct gprof_part *message, uint64_t *values, size_t nr)
{
	const unsigned char *p = message->data, *end = p + message->len;

	memset(values, 0, nr * sizeof(*values));
	while (p < end) {
		struct gprof_parts parts = { p, (size_t)(end - p) };
		const unsigned char *at = p + 1;
		struct gprof_part part;
		uint64_t value;

		/* Nearly all are small numbers, which need nothing in memory. */
		if (p[0] / 8U - 1 < nr - 1 && !(p[0] & 0x87) && gprof_take_small(&at, end, &value)) {
			values[p[0] / 8] = value;
			p = at;
			continue;
		}
		if (gprof_parts_next_any(&parts, &part) < 0)
			return not_profile();
		p = parts.p;
		if (part.field >= nr)
			continue;
		if (part.type)
			return not_profile();
		values[part.field] = part.value;
	}
	return 0;
}

/* All parts of one kind, which most often lie together. */
static int each_part(struct reader *r, unsigned int field,
		     int (*take)(struct reader *r, const struct gprof_part *part))
{
	struct gprof_parts parts = r->kinds[field];
	struct gprof_part part;
	int err = 0;

	while (!err && gprof_parts_next(&parts, &part) > 0)
		if (part.field == field)
			err = take(r, &part);
	return err;
}

static int text(const struct reader *r, uint64_t index, uint32_t *out)
{
	if (index >= r->nr_text)
		return bad("it refers to a string that is not there");
	*out = r->text[index];
	return 0;
}

static void note_kind(struct gprof_parts *kind, const unsigned char *from,
		      const unsigned char *to)
{
	if (!kind->p)
		kind->p = from;
	kind->left = (size_t)(to - kind->p);
}

/* Whether it is of the kind that its field is. */
static inline bool is_right(const struct gprof_part *part)
{
	bool packed, number;

	if (part->field <= STRING || part->field > DOC_URL)
		return part->type == 2 || part->field > DOC_URL;
	packed = part->field == COMMENT && part->type == 2;
	number = part->field >= DROP_FRAMES && part->field != PERIOD_TYPE && !packed;
	return part->type == (number ? 0 : 2);
}

/* Also the first look at all parts: later ones need not ask whether they are whole. */
static int read_strings(struct reader *r)
{
	struct gprof_parts parts = r->plain;
	const unsigned char *at = parts.p;
	struct gprof_part part;
	int ret;

	for (; (ret = gprof_parts_next(&parts, &part)) > 0; at = parts.p) {
		if (!is_right(&part))
			return not_profile();
		if (part.field <= DOC_URL)
			note_kind(&r->kinds[part.field], at, parts.p);
		if (part.field != STRING)
			continue;
		if (!r->nr_text && part.len)
			return bad("its first string is not empty");
		if (gprof_grow_within(&r->p->budget, &r->text, &r->cap_text, r->nr_text + 1,
				      sizeof(*r->text)))
			return no_memory(&r->p->budget);
		r->text[r->nr_text] = gprof_profile_text_of(r->p, (const char *)part.data, part.len);
		if (r->text[r->nr_text++] == GPROF_NONE)
			return no_memory(&r->p->budget);
	}
	if (ret < 0)
		return not_profile();
	return r->nr_text ? 0 : bad("it has no strings");
}

static int read_sample_type(struct reader *r, const struct gprof_part *part)
{
	uint64_t v[TYPE_FIELDS];
	uint32_t type = 0, unit = 0;
	int err = read_numbers(part, v, TYPE_FIELDS);

	if (!err)
		err = text(r, v[TYPE_TYPE], &type);
	if (!err)
		err = text(r, v[TYPE_UNIT], &unit);
	if (!err && gprof_profile_add_column(r->p, r->p->strings.v[type], r->p->strings.v[unit]))
		err = no_memory(&r->p->budget);
	return err;
}

static int read_period_type(struct reader *r, const struct gprof_part *part)
{
	uint64_t v[TYPE_FIELDS];
	int err = read_numbers(part, v, TYPE_FIELDS);

	if (!err && v[TYPE_TYPE])
		err = text(r, v[TYPE_TYPE], &r->p->period_type.type);
	return err || !v[TYPE_UNIT] ? err : text(r, v[TYPE_UNIT], &r->p->period_type.unit);
}

static int read_comment(struct reader *r, uint64_t index)
{
	uint32_t comment = 0;
	int err = text(r, index, &comment);

	if (!err && gprof_profile_add_comment(r->p, r->p->strings.v[comment]))
		err = no_memory(&r->p->budget);
	return err;
}

static int read_comments(struct reader *r, const struct gprof_part *part)
{
	struct gprof_parts numbers;
	uint64_t index;
	int ret, err = 0;

	if (!part->type)
		return read_comment(r, part->value);
	numbers = (struct gprof_parts){ part->data, part->len };
	while (!err && (ret = gprof_parts_number(&numbers, &index)))
		err = ret < 0 ? not_profile() : read_comment(r, index);
	return err;
}

/* Of a number that is there twice, the last counts. */
static int read_head_part(struct reader *r, const struct gprof_part *part)
{
	struct gprof_profile *p = r->p;
	uint64_t value = part->value;

	switch (part->field) {
	case SAMPLE_TYPE:
		return read_sample_type(r, part);
	case PERIOD_TYPE:
		return read_period_type(r, part);
	case COMMENT:
		return read_comments(r, part);
	case DROP_FRAMES:
		return text(r, value, &p->drop_frames);
	case KEEP_FRAMES:
		return text(r, value, &p->keep_frames);
	case DEFAULT_SAMPLE_TYPE:
		return text(r, value, &p->default_type);
	case DOC_URL:
		return text(r, value, &p->doc_url);
	case TIME_NANOS:
		p->time_nanos = (int64_t)value;
		return 0;
	case DURATION_NANOS:
		p->duration_nanos = (int64_t)value;
		return 0;
	case PERIOD:
		p->period = (int64_t)value;
		return 0;
	default:
		return 0;
	}
}

static int read_head(struct reader *r)
{
	static const unsigned char head[] = {
		SAMPLE_TYPE, DROP_FRAMES, KEEP_FRAMES, TIME_NANOS, DURATION_NANOS, PERIOD_TYPE,
		PERIOD, COMMENT, DEFAULT_SAMPLE_TYPE, DOC_URL,
	};
	int err = 0;
	size_t i;

	for (i = 0; i < sizeof(head) && !err; i++)
		err = each_part(r, head[i], read_head_part);
	return err;
}

/* Remember an id, which must be new and not 0. */
static int put_id(struct reader *r, struct gprof_ids *ids, uint64_t id, uint32_t index)
{
	/* as most are: the next one */
	if (id == (uint64_t)ids->nr + 1 && !ids->others.used)
		return gprof_ids_put(ids, id, index) ? no_memory(&r->p->budget) : 0;
	if (!id)
		return bad("an id is 0");
	if (gprof_ids_get(ids, id) != GPROF_NONE)
		return bad("two parts have one id");
	return gprof_ids_put(ids, id, index) ? no_memory(&r->p->budget) : 0;
}

static int read_mapping(struct reader *r, const struct gprof_part *part)
{
	uint64_t v[MAPPING_FIELDS];
	struct gprof_mapping m = { 0 };
	uint32_t index;
	int err = read_numbers(part, v, MAPPING_FIELDS);

	if (!err)
		err = text(r, v[MAPPING_FILENAME], &m.filename);
	if (!err)
		err = text(r, v[MAPPING_BUILD_ID], &m.build_id);
	if (err)
		return err;
	m.start = v[MAPPING_START];
	m.limit = v[MAPPING_LIMIT];
	m.offset = v[MAPPING_OFFSET];
	m.has_functions = v[MAPPING_FUNCTIONS];
	m.has_filenames = v[MAPPING_FILENAMES];
	m.has_line_numbers = v[MAPPING_LINE_NUMBERS];
	m.has_inline_frames = v[MAPPING_INLINE_FRAMES];
	index = r->places ? gprof_places_mapping(r->places, &m) :
			    gprof_profile_add_mapping(r->p, &m);
	if (index == GPROF_NONE || ROOM(r, placed, r->nr_placed + 1))
		return no_memory(&r->p->budget);
	r->placed[r->nr_placed] = (struct placed){ index, m.start - r->p->mappings[index].start };
	return put_id(r, &r->mappings, v[MAPPING_ID], (uint32_t)r->nr_placed++);
}

/* One whose fields are in order; false: of any other nothing is known. */
static bool read_plain_function(const struct gprof_part *message, uint64_t *v)
{
	const unsigned char *p = message->data, *end = p + message->len;

	return gprof_take_field(&p, end, FUNCTION_ID, &v[FUNCTION_ID]) &&
	       gprof_take_field(&p, end, FUNCTION_NAME, &v[FUNCTION_NAME]) &&
	       gprof_take_field(&p, end, FUNCTION_SYSTEM_NAME, &v[FUNCTION_SYSTEM_NAME]) &&
	       gprof_take_field(&p, end, FUNCTION_FILENAME, &v[FUNCTION_FILENAME]) &&
	       gprof_take_field(&p, end, FUNCTION_LINE, &v[FUNCTION_LINE]) && p == end;
}

static int read_function(struct reader *r, const struct gprof_part *part)
{
	uint64_t v[FUNCTION_FIELDS];
	struct gprof_function f = { 0 };
	uint32_t index;
	int err = 0;

	if (!read_plain_function(part, v))
		err = read_numbers(part, v, FUNCTION_FIELDS);
	if (!err)
		err = text(r, v[FUNCTION_NAME], &f.name);
	if (!err)
		err = text(r, v[FUNCTION_SYSTEM_NAME], &f.system_name);
	if (!err)
		err = text(r, v[FUNCTION_FILENAME], &f.filename);
	if (err)
		return err;
	f.start_line = (int64_t)v[FUNCTION_LINE];
	index = gprof_profile_function(r->p, &f);
	if (index == GPROF_NONE)
		return no_memory(&r->p->budget);
	return put_id(r, &r->functions, v[FUNCTION_ID], index);
}

static int read_line(struct reader *r, const struct gprof_part *part, struct gprof_line *l)
{
	uint64_t v[LINE_FIELDS];
	int err = read_numbers(part, v, LINE_FIELDS);

	if (err)
		return err;
	l->line = (int64_t)v[LINE_LINE];
	l->column = (int64_t)v[LINE_COLUMN];
	l->function = gprof_ids_get(&r->functions, v[LINE_FUNCTION]);
	return l->function == GPROF_NONE ? bad("a line names a function that is not there") : 0;
}

/*
 * A location whose fields are in order and one of each kind, but for lines, as they are in
 * nearly all files. False for any other, of which nothing is known then.
 */
static bool read_plain_location(struct reader *r, const struct gprof_part *message, uint64_t *v,
				size_t *nr)
{
	const unsigned char *p = message->data, *end = p + message->len, *line_end;
	uint64_t id;

	*nr = 0;
	if (!gprof_take_field(&p, end, LOCATION_ID, &v[LOCATION_ID]) ||
	    !gprof_take_field(&p, end, LOCATION_MAPPING, &v[LOCATION_MAPPING]) ||
	    !gprof_take_field(&p, end, LOCATION_ADDRESS, &v[LOCATION_ADDRESS]))
		return false;
	while (end - p >= 2 && p[0] == (LOCATION_LINE << 3 | 2) && p[1] <= end - p - 2) {
		struct gprof_line *l;

		if (p[1] & 0x80 || ROOM(r, lines, *nr + 1))
			return false;
		line_end = p + 2 + p[1];
		p += 2;
		l = &r->lines[(*nr)++];
		if (!gprof_take_field(&p, line_end, LINE_FUNCTION, &id) ||
		    !gprof_take_field(&p, line_end, LINE_LINE, (uint64_t *)&l->line) ||
		    !gprof_take_field(&p, line_end, LINE_COLUMN, (uint64_t *)&l->column) || p != line_end)
			return false;
		l->function = gprof_ids_get(&r->functions, id);
		if (l->function == GPROF_NONE)
			return false;
	}
	return gprof_take_field(&p, end, LOCATION_FOLDED, &v[LOCATION_FOLDED]) && p == end;
}

/* The lines of a location, and its numbers. */
static int read_location_parts(struct reader *r, const struct gprof_part *message, uint64_t *v,
			       size_t *nr)
{
	struct gprof_parts parts = { message->data, message->len };
	struct gprof_part part;
	int ret, err;

	memset(v, 0, LOCATION_FIELDS * sizeof(*v));
	*nr = 0;
	while ((ret = gprof_parts_next(&parts, &part)) > 0) {
		if (part.field >= LOCATION_FIELDS)
			continue;
		if (part.type != (part.field == LOCATION_LINE ? 2 : 0))
			return not_profile();
		if (part.field != LOCATION_LINE) {
			v[part.field] = part.value;
			continue;
		}
		if (ROOM(r, lines, *nr + 1))
			return no_memory(&r->p->budget);
		err = read_line(r, &part, &r->lines[(*nr)++]);
		if (err)
			return err;
	}
	return ret ? not_profile() : 0;
}

static uint32_t append_location(struct reader *r, const struct gprof_location *l, size_t nr)
{
	uint32_t index = gprof_profile_append_location(r->p, l->mapping, l->address);

	if (index == GPROF_NONE || gprof_profile_set_lines(r->p, index, r->lines, nr))
		return GPROF_NONE;
	r->p->locations[index].folded = l->folded;
	return index;
}

/* A mapping that is not there is none, as for pprof; all other references must lead somewhere. */
static int read_location(struct reader *r, const struct gprof_part *part)
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
	index = r->places ? gprof_places_location(r->places, &l, r->lines, nr) :
			    append_location(r, &l, nr);
	if (index == GPROF_NONE || ROOM(r, nr_frames, (size_t)index + 1))
		return no_memory(&r->p->budget);
	r->nr_frames[index] = nr ? (uint32_t)nr : 1;
	r->several |= nr > 1;
	return put_id(r, &r->locations, v[LOCATION_ID], index);
}

static inline int add_location(struct reader *r, uint64_t id, size_t nr)
{
	uint32_t l = gprof_ids_get(&r->locations, id);

	if (l == GPROF_NONE)
		return bad("a sample names a location that is not there");
	r->stack[nr] = l;
	r->frames += r->several ? r->nr_frames[l] : 1;
	return 0;
}

/*
 * As many numbers as are ids of a byte or two that are there, which nearly all are; returns
 * where the others begin.
 */
static const unsigned char *read_small_ids(struct reader *r, const unsigned char *p,
					   const unsigned char *end, size_t *nr)
{
	uint32_t *stack = r->stack + *nr;
	const uint32_t *v = r->locations.v;
	size_t nr_v = r->locations.nr;
	uint32_t id, l;

	while (end - p >= 2) {
		id = p[0];
		if (id & 0x80)
			id = (id & 0x7f) | (uint32_t)p[1] << 7;
		/* Of three bytes one is at least this. */
		if (id - 1U >= nr_v || id >= 0x4000)
			break;
		l = v[id - 1];
		p += 1 + (p[0] >> 7);
		*stack++ = l;
		r->frames += r->several ? r->nr_frames[l] : 1;
	}
	*nr = (size_t)(stack - r->stack);
	return p;
}

/* Numbers of a field that may be packed, which each take a byte at least. */
static int read_stack(struct reader *r, const struct gprof_part *part, size_t *nr)
{
	struct gprof_parts numbers;
	const unsigned char *rest;
	uint64_t id;
	int ret, err = 0;

	if (ROOM(r, stack, *nr + (part->type ? part->len : 1)))
		return no_memory(&r->p->budget);
	if (!part->type)
		return add_location(r, part->value, (*nr)++);
	rest = read_small_ids(r, part->data, part->data + part->len, nr);
	numbers = (struct gprof_parts){ rest, part->len - (size_t)(rest - part->data) };
	while (!err && (ret = gprof_parts_number(&numbers, &id)))
		err = ret < 0 ? not_profile() : add_location(r, id, (*nr)++);
	return err;
}

static int read_values(struct reader *r, const struct gprof_part *part, size_t *nr)
{
	struct gprof_parts numbers;
	uint64_t value;
	int ret;

	if (ROOM(r, values, *nr + (part->type ? part->len : 1)))
		return no_memory(&r->p->budget);
	if (!part->type) {
		r->values[(*nr)++] = (int64_t)part->value;
		return 0;
	}
	numbers = (struct gprof_parts){ part->data, part->len };
	while ((ret = gprof_parts_number(&numbers, &value)) > 0)
		r->values[(*nr)++] = (int64_t)value;
	return ret ? not_profile() : 0;
}

static int read_label(struct reader *r, const struct gprof_part *part, size_t *nr)
{
	uint64_t v[LABEL_FIELDS];
	struct gprof_label *l;
	int err = read_numbers(part, v, LABEL_FIELDS);

	if (err)
		return err;
	if (ROOM(r, labels, *nr + 1))
		return no_memory(&r->p->budget);
	l = &r->labels[(*nr)++];
	*l = (struct gprof_label){ .num = (int64_t)v[LABEL_NUM] };
	err = text(r, v[LABEL_KEY], &l->key);
	if (!err)
		err = text(r, v[LABEL_STR], &l->str);
	return err ? err : text(r, v[LABEL_UNIT], &l->unit);
}

/**
 * struct sizes - what was read of a sample
 * @stack: locations
 * @values: values
 * @labels: labels
 * @slot: where their set is, or is to be, when they are all that ends the sample; or NULL
 * @bytes: they are these
 * @len: how many
 */
struct sizes {
	size_t stack;
	size_t values;
	size_t labels;
	struct gprof_memo_slot *slot;
	const unsigned char *bytes;
	size_t len;
};

/* @at: where the first label begins. Whether it and all that follows was read before. */
static bool know_labels(struct reader *r, const struct gprof_part *message,
			const unsigned char *at, struct sizes *n)
{
	n->bytes = at;
	n->len = (size_t)(message->data + message->len - at);
	n->slot = gprof_memo_slot(&r->memo, n->bytes, n->len);
	return n->slot && gprof_memo_is(n->slot, n->bytes, n->len);
}

static int read_sample_parts(struct reader *r, const struct gprof_part *message, struct sizes *n)
{
	struct gprof_parts parts = { message->data, message->len };
	const unsigned char *at = parts.p;
	struct gprof_part part;
	int ret, err = 0;

	for (; !err && (ret = gprof_parts_next(&parts, &part)); at = parts.p) {
		if (ret < 0 || (part.field <= SAMPLE_VALUE && part.type && part.type != 2) ||
		    (part.field == SAMPLE_LABEL && part.type != 2))
			return not_profile();
		if (part.field == SAMPLE_LABEL) {
			if (!n->labels && know_labels(r, message, at, n))
				return 0;
			err = read_label(r, &part, &n->labels);
			continue;
		}
		n->slot = NULL;
		if (part.field == SAMPLE_LOCATION)
			err = read_stack(r, &part, &n->stack);
		else if (part.field == SAMPLE_VALUE)
			err = read_values(r, &part, &n->values);
	}
	return err;
}

static uint32_t label_set(struct reader *r, const struct sizes *n)
{
	uint32_t set;

	if (n->slot && gprof_memo_is(n->slot, n->bytes, n->len))
		return n->slot->set;
	if (r->places)
		gprof_profile_sort_labels(r->labels, n->labels);
	set = gprof_profile_label_set(r->p, r->labels, n->labels);
	if (n->slot && set != GPROF_NONE)
		*n->slot = (struct gprof_memo_slot){ n->bytes, (uint32_t)n->len, set };
	return set;
}

/* Samples that are alike stay apart, as pprof keeps them: nobody's sums tell the difference. */
static int read_sample(struct reader *r, const struct gprof_part *part)
{
	uint64_t before = r->frames;
	struct sizes n = { 0 };
	uint32_t labels;
	int err;

	if (!r->p->nr_columns)
		return bad("it has samples, but does not say of what");
	err = read_sample_parts(r, part, &n);
	if (err)
		return err;
	if (n.values != r->p->nr_columns)
		return bad("a sample has not as many values as there are types");
	if (r->frames > FRAMES_FREE + FRAMES_RATIO * (uint64_t)r->plain.left)
		return gprof_error_set(&last, EFBIG,
				       "its stacks have more frames than those of a profile of its size");
	if (r->frames - before > r->p->frames_max)
		r->p->frames_max = (size_t)(r->frames - before);
	labels = label_set(r, &n);
	if (labels == GPROF_NONE ||
	    gprof_profile_append_sample(r->p, r->stack, n.stack, labels, r->values))
		return no_memory(&r->p->budget);
	return 0;
}

/* What a walk over the samples takes is told now, not when it is begun. */
static int finish(struct gprof_profile *p)
{
	if (gprof_profile_finish(p) ||
	    gprof_budget_take(&p->budget, p->frames_max * sizeof(struct gprof_frame)))
		return no_memory(&p->budget);
	return 0;
}

static int read_message(struct reader *r)
{
	int err = r->plain.left ? read_strings(r) : bad("it is empty");

	if (!err)
		err = read_head(r);
	if (!err)
		err = each_part(r, MAPPING, read_mapping);
	if (!err)
		err = each_part(r, FUNCTION, read_function);
	if (!err)
		err = each_part(r, LOCATION, read_location);
	if (!err)
		err = each_part(r, SAMPLE, read_sample);
	return err;
}

static int read_plain(const struct gprof_bytes *plain, struct gprof_profile *p,
		      struct gprof_places *places)
{
	struct reader r = {
		.plain = { plain->v, plain->len }, .p = p, .places = places,
		.memo.seed = p->label_sets_table.seed,
	};
	int err;

	gprof_ids_init(&r.mappings, &p->budget);
	gprof_ids_init(&r.functions, &p->budget);
	gprof_ids_init(&r.locations, &p->budget);
	err = read_message(&r);
	gprof_ids_free(&r.mappings);
	gprof_ids_free(&r.functions);
	gprof_ids_free(&r.locations);
	gprof_budget_give(&p->budget, r.cap_text * sizeof(*r.text) +
			  r.cap_nr_frames * sizeof(*r.nr_frames) +
			  r.cap_placed * sizeof(*r.placed) +
			  r.cap_stack * sizeof(*r.stack) + r.cap_values * sizeof(*r.values) +
			  r.cap_labels * sizeof(*r.labels) + r.cap_lines * sizeof(*r.lines));
	free(r.text);
	free(r.placed);
	free(r.nr_frames);
	free(r.stack);
	free(r.values);
	free(r.labels);
	free(r.lines);
	gprof_memo_free(&r.memo);
	return err;
}

static int read_file(int fd, const struct gprof_profile_opts *opts, struct gprof_profile *p)
{
	struct gprof_profile_opts o = { 0 };
	struct gprof_bytes plain;
	int err = 0;

	if (opts)
		err = gprof_opts_take(&o, sizeof(o),
				      GPROF_SIZE_WITH(struct gprof_profile_opts, memory_max), opts,
				      "gprof_profile_opts", &last);
	if (err)
		return err;
	p->budget.max = o.memory_max ? o.memory_max : MEMORY_DEFAULT;
	err = gprof_pprof_load(fd, &p->budget, &plain, &last);
	if (!err)
		err = read_plain(&plain, p, NULL);
	gprof_pprof_unload(&p->budget, &plain);
	return err ? err : finish(p);
}

int gprof_pprof_read_into(struct gprof_profile *p, struct gprof_places *places, const void *data,
			  size_t size)
{
	struct gprof_bytes plain;
	int err;

	/* as much for each of them, as long as there is */
	p->budget.max = p->budget.used + MEMORY_DEFAULT;
	if (p->budget.max > SUM_MEMORY)
		p->budget.max = p->budget.used > SUM_MEMORY ? p->budget.used : SUM_MEMORY;
	p->budget.exceeded = false;
	err = gprof_pprof_take(data, size, &p->budget, &plain, &last);
	if (!err)
		err = read_plain(&plain, p, places);
	gprof_pprof_unload(&p->budget, &plain);
	return err;
}

struct gprof_profile *gprof_profile_read_opts(int fd, const struct gprof_profile_opts *opts)
{
	struct gprof_profile *p = gprof_profile_new();
	int err;

	if (p)
		err = read_file(fd, opts, p);
	else
		err = gprof_error_set(&last, ENOMEM, "no memory for the profile");
	if (!err)
		return p;
	gprof_profile_free(p);
	errno = -err;
	return NULL;
}

struct gprof_profile *gprof_profile_read(int fd)
{
	return gprof_profile_read_opts(fd, NULL);
}
