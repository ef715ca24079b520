// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * pprof_write.c: a profile as gzipped pprof.
 *
 * A concatenation of protobuf messages is the message merged from them, so the
 * profile goes out as many small Profile messages, each with one sample, one
 * location, ...: no second copy of the profile is ever in memory.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/error.h"
#include "base/output.h"
#include "profile.h"
#include "profile.pb-c.h"

#define OUT_SIZE	65536
#define GZIP_FORMAT	16	/* added to windowBits: a gzip header */

typedef Perftools__Profiles__Profile Message;

/**
 * struct writer - a gzip stream
 * @z: compressor
 * @write: where to
 * @ctx: for it
 * @err: first -errno; what comes after it is dropped
 * @packed: room for a packed message
 * @cap_packed: bytes of it
 * @ids: room for the location ids of a sample
 * @cap_ids: elements of it
 * @labels: room for the labels of a sample
 * @label_ptrs: pointers to them
 * @cap_labels: elements of it
 * @cap_label_ptrs: likewise
 * @lines: room for the lines of a location
 * @line_ptrs: pointers to them
 * @cap_lines: elements of it
 * @cap_line_ptrs: likewise
 * @out: compressed bytes
 */
struct writer {
	z_stream z;
	int (*write)(void *ctx, const void *data, size_t len);
	void *ctx;
	int err;
	uint8_t *packed;
	size_t cap_packed;
	uint64_t *ids;
	size_t cap_ids;
	Perftools__Profiles__Label *labels;
	Perftools__Profiles__Label **label_ptrs;
	size_t cap_labels;
	size_t cap_label_ptrs;
	Perftools__Profiles__Line *lines;
	Perftools__Profiles__Line **line_ptrs;
	size_t cap_lines;
	size_t cap_line_ptrs;
	unsigned char out[OUT_SIZE];
};

static void deflate_bytes(struct writer *w, const void *data, size_t len, int flush)
{
	int ret;

	w->z.next_in = (unsigned char *)data;
	w->z.avail_in = (uInt)len;
	do {
		w->z.next_out = w->out;
		w->z.avail_out = sizeof(w->out);
		ret = deflate(&w->z, flush);
		if (ret == Z_STREAM_ERROR)
			w->err = -EIO;
		if (!w->err && w->z.avail_out < sizeof(w->out))
			w->err = w->write(w->ctx, w->out, sizeof(w->out) - w->z.avail_out);
	} while (!w->err && w->z.avail_out == 0);
}

static void emit(struct writer *w, const Message *m)
{
	size_t len = perftools__profiles__profile__get_packed_size(m);

	if (w->err)
		return;
	if (len > INT32_MAX || gprof_grow(&w->packed, &w->cap_packed, len ? len : 1, 1)) {
		w->err = -ENOMEM;
		return;
	}
	perftools__profiles__profile__pack(m, w->packed);
	deflate_bytes(w, w->packed, len, Z_NO_FLUSH);
}

static void emit_head(struct writer *w, const struct gprof_profile *p)
{
	Perftools__Profiles__ValueType type = PERFTOOLS__PROFILES__VALUE_TYPE__INIT;
	Perftools__Profiles__ValueType *types[] = { &type };
	size_t i;

	for (i = 0; i < p->nr_columns; i++) {
		Message m = PERFTOOLS__PROFILES__PROFILE__INIT;

		type.type = p->columns[i].type;
		type.unit = p->columns[i].unit;
		m.n_sample_type = 1;
		m.sample_type = types;
		emit(w, &m);
	}
	for (i = 0; i < p->nr_comments; i++) {
		Message m = PERFTOOLS__PROFILES__PROFILE__INIT;
		int64_t comment = p->comments[i];

		m.n_comment = 1;
		m.comment = &comment;
		emit(w, &m);
	}
	{
		Message m = PERFTOOLS__PROFILES__PROFILE__INIT;

		type.type = p->period_type.type;
		type.unit = p->period_type.unit;
		if (type.type || type.unit)
			m.period_type = &type;
		m.period = p->period;
		m.time_nanos = p->time_nanos;
		m.duration_nanos = p->duration_nanos;
		m.default_sample_type = p->default_type;
		m.drop_frames = p->drop_frames;
		m.keep_frames = p->keep_frames;
		m.doc_url = p->doc_url;
		emit(w, &m);
	}
}

static void emit_sample(struct writer *w, const struct gprof_profile *p, size_t index)
{
	Perftools__Profiles__Sample sample = PERFTOOLS__PROFILES__SAMPLE__INIT;
	Perftools__Profiles__Sample *samples[] = { &sample };
	const struct gprof_sample *s = &p->samples[index];
	const struct gprof_label_set *set = &p->label_sets[s->labels];
	Message m = PERFTOOLS__PROFILES__PROFILE__INIT;
	size_t i;

	if (gprof_grow(&w->ids, &w->cap_ids, s->nr_locations, sizeof(*w->ids)) ||
	    gprof_grow(&w->labels, &w->cap_labels, set->nr, sizeof(*w->labels)) ||
	    gprof_grow(&w->label_ptrs, &w->cap_label_ptrs, set->nr, sizeof(*w->label_ptrs))) {
		w->err = -ENOMEM;
		return;
	}
	for (i = 0; i < s->nr_locations; i++)
		w->ids[i] = (uint64_t)p->stacks[s->locations + i] + 1;
	for (i = 0; i < set->nr; i++) {
		const struct gprof_label *l = &p->labels[set->first + i];

		w->labels[i] = (Perftools__Profiles__Label)PERFTOOLS__PROFILES__LABEL__INIT;
		w->labels[i].key = l->key;
		w->labels[i].str = l->str;
		w->labels[i].num = l->num;
		w->labels[i].num_unit = l->unit;
		w->label_ptrs[i] = &w->labels[i];
	}
	sample.n_location_id = s->nr_locations;
	sample.location_id = w->ids;
	sample.n_value = p->nr_columns;
	sample.value = p->values + index * p->nr_columns;
	sample.n_label = set->nr;
	sample.label = w->label_ptrs;
	m.n_sample = 1;
	m.sample = samples;
	emit(w, &m);
}

static void emit_mapping(struct writer *w, const struct gprof_profile *p, size_t index)
{
	Perftools__Profiles__Mapping mapping = PERFTOOLS__PROFILES__MAPPING__INIT;
	Perftools__Profiles__Mapping *mappings[] = { &mapping };
	const struct gprof_mapping *s = &p->mappings[index];
	Message m = PERFTOOLS__PROFILES__PROFILE__INIT;

	mapping.id = index + 1;
	mapping.memory_start = s->start;
	mapping.memory_limit = s->limit;
	mapping.file_offset = s->offset;
	mapping.filename = s->filename;
	mapping.build_id = s->build_id;
	mapping.has_functions = s->has_functions;
	mapping.has_filenames = s->has_filenames;
	mapping.has_line_numbers = s->has_line_numbers;
	mapping.has_inline_frames = s->has_inline_frames;
	m.n_mapping = 1;
	m.mapping = mappings;
	emit(w, &m);
}

static void emit_location(struct writer *w, const struct gprof_profile *p, size_t index)
{
	Perftools__Profiles__Location location = PERFTOOLS__PROFILES__LOCATION__INIT;
	Perftools__Profiles__Location *locations[] = { &location };
	const struct gprof_location *s = &p->locations[index];
	Message m = PERFTOOLS__PROFILES__PROFILE__INIT;
	size_t i;

	if (gprof_grow(&w->lines, &w->cap_lines, s->nr_lines, sizeof(*w->lines)) ||
	    gprof_grow(&w->line_ptrs, &w->cap_line_ptrs, s->nr_lines, sizeof(*w->line_ptrs))) {
		w->err = -ENOMEM;
		return;
	}
	for (i = 0; i < s->nr_lines; i++) {
		const struct gprof_line *l = &p->lines[s->lines + i];

		w->lines[i] = (Perftools__Profiles__Line)PERFTOOLS__PROFILES__LINE__INIT;
		w->lines[i].function_id = (uint64_t)l->function + 1;
		w->lines[i].line = l->line;
		w->lines[i].column = l->column;
		w->line_ptrs[i] = &w->lines[i];
	}
	location.id = index + 1;
	location.mapping_id = s->mapping;
	location.address = s->address;
	location.n_line = s->nr_lines;
	location.line = w->line_ptrs;
	location.is_folded = s->folded;
	m.n_location = 1;
	m.location = locations;
	emit(w, &m);
}

static void emit_function(struct writer *w, const struct gprof_profile *p, size_t index)
{
	Perftools__Profiles__Function function = PERFTOOLS__PROFILES__FUNCTION__INIT;
	Perftools__Profiles__Function *functions[] = { &function };
	const struct gprof_function *s = &p->functions[index];
	Message m = PERFTOOLS__PROFILES__PROFILE__INIT;

	function.id = index + 1;
	function.name = s->name;
	function.system_name = s->system_name;
	function.filename = s->filename;
	function.start_line = s->start_line;
	m.n_function = 1;
	m.function = functions;
	emit(w, &m);
}

static void emit_string(struct writer *w, const struct gprof_profile *p, size_t index)
{
	char *strings[] = { p->strings.v[index] };
	Message m = PERFTOOLS__PROFILES__PROFILE__INIT;

	m.n_string_table = 1;
	m.string_table = strings;
	emit(w, &m);
}

static void emit_profile(struct writer *w, const struct gprof_profile *p)
{
	size_t i;

	emit_head(w, p);
	for (i = 0; i < p->nr_samples && !w->err; i++)
		emit_sample(w, p, i);
	for (i = 0; i < p->nr_mappings && !w->err; i++)
		emit_mapping(w, p, i);
	for (i = 0; i < p->nr_locations && !w->err; i++)
		emit_location(w, p, i);
	for (i = 0; i < p->nr_functions && !w->err; i++)
		emit_function(w, p, i);
	for (i = 0; i < p->strings.nr && !w->err; i++)
		emit_string(w, p, i);
}

static int write_all(const struct gprof_profile *p,
		     int (*write)(void *ctx, const void *data, size_t len), void *ctx)
{
	struct writer *w = calloc(1, sizeof(*w));
	int err;

	if (!w)
		return -ENOMEM;
	w->write = write;
	w->ctx = ctx;
	/* As Go does: more would be a third of all that a profile takes. */
	if (deflateInit2(&w->z, Z_BEST_SPEED, Z_DEFLATED, MAX_WBITS + GZIP_FORMAT, 8,
			 Z_DEFAULT_STRATEGY) != Z_OK) {
		free(w);
		return -ENOMEM;
	}
	emit_profile(w, p);
	if (!w->err)
		deflate_bytes(w, NULL, 0, Z_FINISH);
	deflateEnd(&w->z);
	err = w->err;
	free(w->packed);
	free(w->ids);
	free(w->labels);
	free(w->label_ptrs);
	free(w->lines);
	free(w->line_ptrs);
	free(w);
	return err;
}

static int tell(int err)
{
	struct gprof_error e;

	if (err >= 0)
		return err;
	gprof_error_set(&e, -err, "the profile cannot be written (%s)", gprof_strerror(-err));
	gprof_error_publish(&e);
	return err;
}

int gprof_profile_write_to(const struct gprof_profile *p,
			   int (*write)(void *ctx, const void *data, size_t len), void *ctx)
{
	return tell(write_all(p, write, ctx));
}

static int write_fd(void *ctx, const void *data, size_t len)
{
	return gprof_output_write(*(const int *)ctx, data, len);
}

int gprof_profile_write(const struct gprof_profile *p, int fd)
{
	return tell(write_all(p, write_fd, &fd));
}
