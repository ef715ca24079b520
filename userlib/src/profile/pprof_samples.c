// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * pprof_samples.c: samples of a pprof file.
 */
#include <errno.h>

#include "base/error.h"
#include "pprof_plain.h"
#include "pprof_reader.h"

/*
 * A stack names locations, and a location lines: without a limit their product is
 * the square of the file. Real files have less than one frame a byte.
 */
#define FRAMES_FREE	(1ULL << 20)
#define FRAMES_RATIO	16		/* frames of all samples, for each byte of the file */

static inline int add_location(struct gprof_pprof_reader *r, uint64_t id, size_t nr)
{
	uint32_t l = gprof_ids_get(&r->locations, id);

	if (l == GPROF_NONE)
		return gprof_pprof_bad(r, "a sample names a location that is not there");
	r->stack[nr] = l;
	r->frames += r->several ? r->nr_frames[l] : 1;
	return 0;
}

/*
 * As many numbers as are ids of a byte or two that are there, which nearly all are; returns
 * where the others begin.
 */
static const unsigned char *read_small_ids(struct gprof_pprof_reader *r, const unsigned char *p,
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
static int read_stack(struct gprof_pprof_reader *r, const struct gprof_pprof_part *part, size_t *nr)
{
	struct gprof_pprof_parts numbers;
	const unsigned char *rest;
	uint64_t id;
	int ret, err = 0;

	if (GPROF_PPROF_ROOM(r, stack, *nr + (part->type ? part->len : 1)))
		return gprof_pprof_no_memory(r);
	if (!part->type)
		return add_location(r, part->value, (*nr)++);
	/* There may be no room at all yet. */
	if (!part->len)
		return 0;
	rest = read_small_ids(r, part->data, part->data + part->len, nr);
	numbers = (struct gprof_pprof_parts){ rest, part->len - (size_t)(rest - part->data) };
	while (!err && (ret = gprof_pprof_parts_number(&numbers, &id)))
		err = ret < 0 ? gprof_pprof_invalid(r) : add_location(r, id, (*nr)++);
	return err;
}

static int read_values(struct gprof_pprof_reader *r, const struct gprof_pprof_part *part,
		       size_t *nr)
{
	struct gprof_pprof_parts numbers;
	uint64_t value;
	int ret;

	if (GPROF_PPROF_ROOM(r, values, *nr + (part->type ? part->len : 1)))
		return gprof_pprof_no_memory(r);
	if (!part->type) {
		r->values[(*nr)++] = (int64_t)part->value;
		return 0;
	}
	numbers = (struct gprof_pprof_parts){ part->data, part->len };
	while ((ret = gprof_pprof_parts_number(&numbers, &value)) > 0)
		r->values[(*nr)++] = (int64_t)value;
	return ret ? gprof_pprof_invalid(r) : 0;
}

static int read_label(struct gprof_pprof_reader *r, const struct gprof_pprof_part *part, size_t *nr)
{
	uint64_t v[LABEL_FIELDS];
	struct gprof_label *l;
	int err = gprof_pprof_numbers(r, part, v, LABEL_FIELDS);

	if (err)
		return err;
	if (GPROF_PPROF_ROOM(r, labels, *nr + 1))
		return gprof_pprof_no_memory(r);
	l = &r->labels[(*nr)++];
	*l = (struct gprof_label){ .num = (int64_t)v[LABEL_NUM] };
	err = gprof_pprof_text(r, v[LABEL_KEY], &l->key);
	if (!err)
		err = gprof_pprof_text(r, v[LABEL_STR], &l->str);
	return err ? err : gprof_pprof_text(r, v[LABEL_UNIT], &l->unit);
}

/**
 * struct sizes - sizes of a sample's parts
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
static bool find_labels(struct gprof_pprof_reader *r, const struct gprof_pprof_part *message,
			const unsigned char *at, struct sizes *n)
{
	n->bytes = at;
	n->len = (size_t)(message->data + message->len - at);
	n->slot = gprof_memo_slot(&r->memo, n->bytes, n->len);
	return n->slot && gprof_memo_is(n->slot, n->bytes, n->len);
}

static int read_sample_parts(struct gprof_pprof_reader *r, const struct gprof_pprof_part *message,
			     struct sizes *n)
{
	struct gprof_pprof_parts parts = { message->data, message->len };
	const unsigned char *at = parts.p;
	struct gprof_pprof_part part;
	int ret, err = 0;

	for (; !err && (ret = gprof_pprof_parts_next(&parts, &part)); at = parts.p) {
		if (ret < 0 || (part.field <= SAMPLE_VALUE && part.type && part.type != 2) ||
		    (part.field == SAMPLE_LABEL && part.type != 2))
			return gprof_pprof_invalid(r);
		if (part.field == SAMPLE_LABEL) {
			if (!n->labels && find_labels(r, message, at, n))
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

static uint32_t label_set(struct gprof_pprof_reader *r, const struct sizes *n)
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

/* Equal samples stay apart, as pprof keeps them: sums do not differ. */
static int read_sample(struct gprof_pprof_reader *r, const struct gprof_pprof_part *part)
{
	uint64_t before = r->frames;
	struct sizes n = { 0 };
	uint32_t labels;
	int err;

	if (!r->p->nr_columns)
		return gprof_pprof_bad(r, "it has samples, but does not say of what");
	err = read_sample_parts(r, part, &n);
	if (err)
		return err;
	if (n.values != r->p->nr_columns)
		return gprof_pprof_bad(r, "a sample has not as many values as there are types");
	if (r->frames > FRAMES_FREE + FRAMES_RATIO * (uint64_t)r->plain.left)
		return gprof_error_set(r->error, EFBIG,
				       "its stacks have more frames than those of a profile of its size");
	if (r->frames - before > r->p->frames_max)
		r->p->frames_max = (size_t)(r->frames - before);
	labels = label_set(r, &n);
	if (labels == GPROF_NONE ||
	    gprof_profile_append_sample(r->p, r->stack, n.stack, labels, r->values))
		return gprof_pprof_no_memory(r);
	return 0;
}

int gprof_pprof_samples(struct gprof_pprof_reader *r)
{
	return gprof_pprof_each(r, SAMPLE, read_sample);
}
