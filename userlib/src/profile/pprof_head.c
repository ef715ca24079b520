// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * pprof_head.c: strings of a pprof file, and all that is there once.
 */

#include "pprof_reader.h"

static void note_kind(struct gprof_pprof_parts *kind, const unsigned char *from,
		      const unsigned char *to)
{
	if (!kind->p)
		kind->p = from;
	kind->left = (size_t)(to - kind->p);
}

/* Whether it is of the kind that its field is. */
static inline bool is_right(const struct gprof_pprof_part *part)
{
	bool packed, number;

	if (part->field <= STRING || part->field > DOC_URL)
		return part->type == 2 || part->field > DOC_URL;
	packed = part->field == COMMENT && part->type == 2;
	number = part->field >= DROP_FRAMES && part->field != PERIOD_TYPE && !packed;
	return part->type == (number ? 0 : 2);
}

/* Also the first look at all parts: later ones need not ask whether they are whole. */
static int read_strings(struct gprof_pprof_reader *r)
{
	struct gprof_pprof_parts parts = r->plain;
	const unsigned char *at = parts.p;
	struct gprof_pprof_part part;
	int ret;

	for (; (ret = gprof_pprof_parts_next(&parts, &part)) > 0; at = parts.p) {
		if (!is_right(&part))
			return gprof_pprof_invalid(r);
		if (part.field <= DOC_URL)
			note_kind(&r->kinds[part.field], at, parts.p);
		if (part.field != STRING)
			continue;
		if (!r->nr_text && part.len)
			return gprof_pprof_bad(r, "its first string is not empty");
		if (gprof_grow_within(&r->p->budget, &r->text, &r->cap_text, r->nr_text + 1,
				      sizeof(*r->text)))
			return gprof_pprof_no_memory(r);
		r->text[r->nr_text] = gprof_profile_text_of(r->p, (const char *)part.data, part.len);
		if (r->text[r->nr_text++] == GPROF_NONE)
			return gprof_pprof_no_memory(r);
	}
	if (ret < 0)
		return gprof_pprof_invalid(r);
	return r->nr_text ? 0 : gprof_pprof_bad(r, "it has no strings");
}

static int read_sample_type(struct gprof_pprof_reader *r, const struct gprof_pprof_part *part)
{
	uint64_t v[TYPE_FIELDS];
	uint32_t type = 0, unit = 0;
	int err = gprof_pprof_numbers(r, part, v, TYPE_FIELDS);

	if (!err)
		err = gprof_pprof_text(r, v[TYPE_TYPE], &type);
	if (!err)
		err = gprof_pprof_text(r, v[TYPE_UNIT], &unit);
	if (!err && gprof_profile_add_column(r->p, r->p->strings.v[type], r->p->strings.v[unit]))
		err = gprof_pprof_no_memory(r);
	return err;
}

static int read_period_type(struct gprof_pprof_reader *r, const struct gprof_pprof_part *part)
{
	uint64_t v[TYPE_FIELDS];
	int err = gprof_pprof_numbers(r, part, v, TYPE_FIELDS);

	if (!err && v[TYPE_TYPE])
		err = gprof_pprof_text(r, v[TYPE_TYPE], &r->p->period_type.type);
	return err || !v[TYPE_UNIT] ? err : gprof_pprof_text(r, v[TYPE_UNIT], &r->p->period_type.unit);
}

static int read_comment(struct gprof_pprof_reader *r, uint64_t index)
{
	uint32_t comment = 0;
	int err = gprof_pprof_text(r, index, &comment);

	if (!err && gprof_profile_add_comment(r->p, r->p->strings.v[comment]))
		err = gprof_pprof_no_memory(r);
	return err;
}

static int read_comments(struct gprof_pprof_reader *r, const struct gprof_pprof_part *part)
{
	struct gprof_pprof_parts numbers;
	uint64_t index;
	int ret, err = 0;

	if (!part->type)
		return read_comment(r, part->value);
	numbers = (struct gprof_pprof_parts){ part->data, part->len };
	while (!err && (ret = gprof_pprof_parts_number(&numbers, &index)))
		err = ret < 0 ? gprof_pprof_invalid(r) : read_comment(r, index);
	return err;
}

/* Of a number that is there twice, the last counts. */
static int read_head_part(struct gprof_pprof_reader *r, const struct gprof_pprof_part *part)
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
		return gprof_pprof_text(r, value, &p->drop_frames);
	case KEEP_FRAMES:
		return gprof_pprof_text(r, value, &p->keep_frames);
	case DEFAULT_SAMPLE_TYPE:
		return gprof_pprof_text(r, value, &p->default_type);
	case DOC_URL:
		return gprof_pprof_text(r, value, &p->doc_url);
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

int gprof_pprof_head(struct gprof_pprof_reader *r)
{
	static const unsigned char head[] = {
		SAMPLE_TYPE, DROP_FRAMES, KEEP_FRAMES, TIME_NANOS, DURATION_NANOS, PERIOD_TYPE,
		PERIOD, COMMENT, DEFAULT_SAMPLE_TYPE, DOC_URL,
	};
	int err = r->plain.left ? read_strings(r) : gprof_pprof_bad(r, "it is empty");
	size_t i;

	for (i = 0; i < sizeof(head) && !err; i++)
		err = gprof_pprof_each(r, head[i], read_head_part);
	return err;
}
