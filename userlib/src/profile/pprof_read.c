// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * pprof_read.c: a profile from a pprof file.
 *
 * The file may come from anyone. Whatever it makes us keep is taken from one
 * budget, and every reference is checked. Its message is never in memory as a
 * whole, which takes up to 40 times the file: each kind of parts is gone through
 * in turn, those that others refer to first, and a part at a time is unpacked.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/opts.h"
#include "pprof_input.h"
#include "profile.h"
#include "profile.pb-c.h"

#define MEMORY_DEFAULT	(1ULL << 30)
/*
 * A stack names locations, and a location lines: without a limit their product is
 * the square of the file. Real files have less than one frame a byte.
 */
#define FRAMES_FREE	(1ULL << 20)
#define FRAMES_RATIO	16		/* frames of all samples, for each byte of the file */

/* Fields of the message Profile. */
enum {
	SAMPLE_TYPE = 1, SAMPLE, MAPPING, LOCATION, FUNCTION, STRING, DROP_FRAMES, KEEP_FRAMES,
	TIME_NANOS, DURATION_NANOS, PERIOD_TYPE, PERIOD, COMMENT, DEFAULT_SAMPLE_TYPE, DOC_URL,
};

/* Text of the last failure: reading has no object to keep it in. */
static _Thread_local struct gprof_error last;

/**
 * struct reader - what is known while a message becomes a profile
 * @plain: the message
 * @p: profile
 * @text: string number of the message to that of the profile
 * @nr_text: how many
 * @cap_text: room in it
 * @mappings: id to index
 * @functions: likewise
 * @locations: likewise
 * @frames: of all samples
 * @stack: room for the locations of a sample
 * @cap_stack: elements of it
 * @labels: room for the labels of a sample
 * @cap_labels: elements of it
 * @lines: room for the lines of a location
 * @cap_lines: elements of it
 */
struct reader {
	struct gprof_parts plain;
	struct gprof_profile *p;
	uint32_t *text;
	size_t nr_text;
	size_t cap_text;
	struct gprof_map64 mappings;
	struct gprof_map64 functions;
	struct gprof_map64 locations;
	uint64_t frames;
	uint32_t *stack;
	size_t cap_stack;
	struct gprof_label *labels;
	size_t cap_labels;
	struct gprof_line *lines;
	size_t cap_lines;
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

/* protobuf-c asks here for the memory of a part, which is given back at once. */
struct loan {
	struct gprof_budget *budget;
	uint64_t taken;
	bool failed;
};

static void *loan_alloc(void *data, size_t size)
{
	struct loan *l = data;
	void *p = NULL;

	if (!gprof_budget_take(l->budget, size + 16)) {
		l->taken += size + 16;
		p = malloc(size);
	}
	l->failed |= !p;
	return p;
}

static void loan_free(void *data, void *p)
{
	(void)data;
	free(p);
}

/* Unpack a part, and hand it to @take. */
static int with_part(struct reader *r, const struct gprof_part *part,
		     const ProtobufCMessageDescriptor *type,
		     int (*take)(struct reader *r, const ProtobufCMessage *m))
{
	struct loan loan = { .budget = &r->p->budget };
	ProtobufCAllocator allocator = { loan_alloc, loan_free, &loan };
	ProtobufCMessage *m = protobuf_c_message_unpack(type, &allocator, part->len, part->data);
	int err;

	if (m)
		err = take(r, m);
	else
		err = loan.failed ? no_memory(&r->p->budget) : bad("it does not follow profile.proto");
	if (m)
		protobuf_c_message_free_unpacked(m, &allocator);
	gprof_budget_give(&r->p->budget, loan.taken);
	return err;
}

/* All parts of one kind. */
static int each_part(struct reader *r, uint64_t field, const ProtobufCMessageDescriptor *type,
		     int (*take)(struct reader *r, const ProtobufCMessage *m))
{
	struct gprof_parts parts = r->plain;
	struct gprof_part part;
	int err = 0;

	while (!err && gprof_parts_next(&parts, &part) > 0)
		if (part.field == field)
			err = with_part(r, &part, type, take);
	return err;
}

static int text(const struct reader *r, int64_t index, uint32_t *out)
{
	if (index < 0 || (uint64_t)index >= r->nr_text)
		return bad("it refers to a string that is not there");
	*out = r->text[index];
	return 0;
}

/* Also the first look at all parts: later ones need not ask whether they are whole. */
static int read_strings(struct reader *r)
{
	struct gprof_parts parts = r->plain;
	struct gprof_part part;
	int ret;

	while ((ret = gprof_parts_next(&parts, &part)) > 0) {
		bool packed = part.field == COMMENT && part.type == 2;
		bool number = (part.field >= DROP_FRAMES && part.field != PERIOD_TYPE &&
			       part.field <= DOC_URL && !packed);

		if (part.field <= DOC_URL && part.type != (number ? 0 : 2))
			return bad("it does not follow profile.proto");
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
		return bad("it does not follow profile.proto");
	return r->nr_text ? 0 : bad("it has no strings");
}

static int read_sample_type(struct reader *r, const ProtobufCMessage *m)
{
	const Perftools__Profiles__ValueType *s = (const void *)m;
	uint32_t type = 0, unit = 0;
	int err = text(r, s->type, &type);

	if (!err)
		err = text(r, s->unit, &unit);
	if (!err && gprof_profile_add_column(r->p, r->p->strings.v[type], r->p->strings.v[unit]))
		err = no_memory(&r->p->budget);
	return err;
}

static int read_period_type(struct reader *r, const ProtobufCMessage *m)
{
	const Perftools__Profiles__ValueType *s = (const void *)m;
	int err = s->type ? text(r, s->type, &r->p->period_type.type) : 0;

	return err || !s->unit ? err : text(r, s->unit, &r->p->period_type.unit);
}

static int read_comment(struct reader *r, uint64_t index)
{
	uint32_t comment = 0;
	int err = text(r, (int64_t)index, &comment);

	if (!err && gprof_profile_add_comment(r->p, r->p->strings.v[comment]))
		err = no_memory(&r->p->budget);
	return err;
}

static int read_comments(struct reader *r, const struct gprof_part *part)
{
	struct gprof_parts numbers = { part->data, part->len };
	uint64_t index;
	int ret, err = 0;

	if (!part->type)
		return read_comment(r, part->value);
	while (!err && (ret = gprof_parts_number(&numbers, &index)))
		err = ret < 0 ? bad("it does not follow profile.proto") : read_comment(r, index);
	return err;
}

/* Of a number that is there twice, the last counts. */
static int read_head_part(struct reader *r, const struct gprof_part *part)
{
	struct gprof_profile *p = r->p;
	int64_t value = (int64_t)part->value;

	switch (part->field) {
	case SAMPLE_TYPE:
		return with_part(r, part, &perftools__profiles__value_type__descriptor,
				 read_sample_type);
	case PERIOD_TYPE:
		return with_part(r, part, &perftools__profiles__value_type__descriptor,
				 read_period_type);
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
		p->time_nanos = value;
		return 0;
	case DURATION_NANOS:
		p->duration_nanos = value;
		return 0;
	case PERIOD:
		p->period = value;
		return 0;
	default:
		return 0;
	}
}

static int read_head(struct reader *r)
{
	struct gprof_parts parts = r->plain;
	struct gprof_part part;
	int err = 0;

	while (!err && gprof_parts_next(&parts, &part) > 0)
		err = read_head_part(r, &part);
	return err;
}

/* Remember an id, which must be new and not 0. */
static int put_id(struct reader *r, struct gprof_map64 *ids, uint64_t id, uint32_t index)
{
	if (!id)
		return bad("an id is 0");
	if (gprof_map64_get(ids, id) != GPROF_NONE)
		return bad("two parts have one id");
	return gprof_map64_put(ids, id, index) ? no_memory(&r->p->budget) : 0;
}

static int read_mapping(struct reader *r, const ProtobufCMessage *message)
{
	const Perftools__Profiles__Mapping *s = (const void *)message;
	struct gprof_mapping m = {
		.start = s->memory_start,
		.limit = s->memory_limit,
		.offset = s->file_offset,
		.has_functions = s->has_functions,
		.has_filenames = s->has_filenames,
		.has_line_numbers = s->has_line_numbers,
		.has_inline_frames = s->has_inline_frames,
	};
	uint32_t index;
	int err;

	err = text(r, s->filename, &m.filename);
	if (!err)
		err = text(r, s->build_id, &m.build_id);
	if (err)
		return err;
	index = gprof_profile_add_mapping(r->p, &m);
	if (index == GPROF_NONE)
		return no_memory(&r->p->budget);
	return put_id(r, &r->mappings, s->id, index);
}

static int read_function(struct reader *r, const ProtobufCMessage *m)
{
	const Perftools__Profiles__Function *s = (const void *)m;
	struct gprof_function f = { .start_line = s->start_line };
	uint32_t index;
	int err;

	err = text(r, s->name, &f.name);
	if (!err)
		err = text(r, s->system_name, &f.system_name);
	if (!err)
		err = text(r, s->filename, &f.filename);
	if (err)
		return err;
	index = gprof_profile_function(r->p, &f);
	if (index == GPROF_NONE)
		return no_memory(&r->p->budget);
	return put_id(r, &r->functions, s->id, index);
}

static int read_lines(struct reader *r, const Perftools__Profiles__Location *s, uint32_t location)
{
	size_t i;

	if (gprof_grow_within(&r->p->budget, &r->lines, &r->cap_lines, s->n_line,
			      sizeof(*r->lines)))
		return no_memory(&r->p->budget);
	for (i = 0; i < s->n_line; i++) {
		struct gprof_line *l = &r->lines[i];

		l->line = s->line[i]->line;
		l->column = s->line[i]->column;
		l->function = gprof_map64_get(&r->functions, s->line[i]->function_id);
		if (l->function == GPROF_NONE)
			return bad("a line names a function that is not there");
	}
	return gprof_profile_set_lines(r->p, location, r->lines, s->n_line) ?
	       no_memory(&r->p->budget) : 0;
}

/* A mapping that is not there is none, as for pprof; all other references must lead somewhere. */
static int read_location(struct reader *r, const ProtobufCMessage *m)
{
	const Perftools__Profiles__Location *s = (const void *)m;
	uint32_t mapping = gprof_map64_get(&r->mappings, s->mapping_id), index;
	int err;

	index = gprof_profile_append_location(r->p, mapping == GPROF_NONE ? 0 : mapping + 1,
					      s->address);
	if (index == GPROF_NONE)
		return no_memory(&r->p->budget);
	r->p->locations[index].folded = s->is_folded;
	err = put_id(r, &r->locations, s->id, index);
	return err ? err : read_lines(r, s, index);
}

static int read_stack(struct reader *r, const Perftools__Profiles__Sample *s)
{
	size_t i;

	if (gprof_grow_within(&r->p->budget, &r->stack, &r->cap_stack, s->n_location_id,
			      sizeof(*r->stack)))
		return no_memory(&r->p->budget);
	for (i = 0; i < s->n_location_id; i++) {
		uint32_t l = gprof_map64_get(&r->locations, s->location_id[i]);

		if (l == GPROF_NONE)
			return bad("a sample names a location that is not there");
		r->stack[i] = l;
		r->frames += r->p->locations[l].nr_lines ? r->p->locations[l].nr_lines : 1;
	}
	if (r->frames > FRAMES_FREE + FRAMES_RATIO * (uint64_t)r->plain.left)
		return gprof_error_set(&last, EFBIG,
				       "its stacks have more frames than those of a profile of its size");
	return 0;
}

static int read_sample(struct reader *r, const ProtobufCMessage *m)
{
	const Perftools__Profiles__Sample *s = (const void *)m;
	size_t i;
	int err;

	if (!r->p->nr_columns)
		return bad("it has samples, but does not say of what");
	if (s->n_value != r->p->nr_columns)
		return bad("a sample has not as many values as there are types");
	err = read_stack(r, s);
	if (!err && gprof_grow_within(&r->p->budget, &r->labels, &r->cap_labels, s->n_label,
				      sizeof(*r->labels)))
		err = no_memory(&r->p->budget);
	for (i = 0; i < s->n_label && !err; i++) {
		struct gprof_label *l = &r->labels[i];

		l->num = s->label[i]->num;
		err = text(r, s->label[i]->key, &l->key);
		if (!err)
			err = text(r, s->label[i]->str, &l->str);
		if (!err)
			err = text(r, s->label[i]->num_unit, &l->unit);
	}
	if (!err && gprof_profile_add_sample(r->p, r->stack, s->n_location_id, r->labels,
					     s->n_label, s->value))
		err = no_memory(&r->p->budget);
	return err;
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
		err = each_part(r, MAPPING, &perftools__profiles__mapping__descriptor,
				read_mapping);
	if (!err)
		err = each_part(r, FUNCTION, &perftools__profiles__function__descriptor,
				read_function);
	if (!err)
		err = each_part(r, LOCATION, &perftools__profiles__location__descriptor,
				read_location);
	if (!err)
		err = each_part(r, SAMPLE, &perftools__profiles__sample__descriptor, read_sample);
	return err;
}

static int read_plain(const struct gprof_bytes *plain, struct gprof_profile *p)
{
	struct reader r = { .plain = { plain->v, plain->len }, .p = p };
	int err;

	gprof_map64_init(&r.mappings);
	gprof_map64_init(&r.functions);
	gprof_map64_init(&r.locations);
	r.mappings.budget = r.functions.budget = r.locations.budget = &p->budget;
	err = read_message(&r);
	gprof_map64_free(&r.mappings);
	gprof_map64_free(&r.functions);
	gprof_map64_free(&r.locations);
	gprof_budget_give(&p->budget, r.cap_text * sizeof(*r.text) +
			  r.cap_stack * sizeof(*r.stack) + r.cap_labels * sizeof(*r.labels) +
			  r.cap_lines * sizeof(*r.lines));
	free(r.text);
	free(r.stack);
	free(r.labels);
	free(r.lines);
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
		err = read_plain(&plain, p);
	gprof_pprof_unload(&p->budget, &plain);
	return err ? err : finish(p);
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
