// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * pprof_write.c: a profile as gzipped pprof.
 *
 * It is written field by field, for protobuf-c makes objects of messages first, which takes
 * four times the instructions; and given to the compressor piece by piece, so that no second
 * copy of a large profile is ever in memory.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/fd_write.h"
#include "base/wire.h"
#include "gzip_output.h"
#include "base/pprof_fields.h"
#include "profile.h"

/**
 * struct writer - a profile on its way out
 * @gzip: where to
 * @wire: bytes that it has not got yet
 * @piece: counts how often it was empty
 * @sets: for each set of labels, where it is in @wire, encoded
 */
struct writer {
	struct gprof_gzip gzip;
	struct gprof_wire wire;
	uint64_t piece;
	struct encoded {
		uint64_t piece;
		size_t len;
		size_t at;
	} *sets;
};

/* A part is complete: whether there is to be another. */
static bool go_on(struct writer *w)
{
	if (w->wire.failed && !w->gzip.err)
		w->gzip.err = -ENOMEM;
	if (!w->gzip.err && w->wire.nr >= GPROF_GZIP_PIECE) {
		gprof_gzip_put(&w->gzip, w->wire.v, w->wire.nr);
		gprof_wire_clear(&w->wire);
		w->piece++;
	}
	return !w->gzip.err;
}

static void put_type(struct gprof_wire *w, unsigned int field, const struct gprof_column *c)
{
	size_t at = gprof_wire_open(w, field);

	gprof_wire_number(w, TYPE_TYPE, c->type);
	gprof_wire_number(w, TYPE_UNIT, c->unit);
	gprof_wire_close(w, at);
}

static void put_head(struct gprof_wire *w, const struct gprof_profile *p)
{
	size_t i;

	for (i = 0; i < p->nr_columns; i++)
		put_type(w, SAMPLE_TYPE, &p->columns[i]);
	if (p->nr_comments)
		gprof_wire_indexes(w, COMMENT, p->comments, p->nr_comments, 0);
	gprof_wire_number(w, DROP_FRAMES, p->drop_frames);
	gprof_wire_number(w, KEEP_FRAMES, p->keep_frames);
	gprof_wire_number(w, TIME_NANOS, (uint64_t)p->time_nanos);
	gprof_wire_number(w, DURATION_NANOS, (uint64_t)p->duration_nanos);
	if (p->period_type.type || p->period_type.unit)
		put_type(w, PERIOD_TYPE, &p->period_type);
	gprof_wire_number(w, PERIOD, (uint64_t)p->period);
	gprof_wire_number(w, DEFAULT_SAMPLE_TYPE, p->default_type);
	gprof_wire_number(w, DOC_URL, p->doc_url);
}

static void put_label(struct gprof_wire *w, const struct gprof_label *l)
{
	size_t at = gprof_wire_open(w, SAMPLE_LABEL);

	gprof_wire_number(w, LABEL_KEY, l->key);
	gprof_wire_number(w, LABEL_STR, l->str);
	gprof_wire_number(w, LABEL_NUM, (uint64_t)l->num);
	gprof_wire_number(w, LABEL_UNIT, l->unit);
	gprof_wire_close(w, at);
}

/*
 * A few hundred sets are those of a million samples. Returns bytes of the labels, which are
 * the end of the sample.
 */
static size_t put_labels(struct writer *w, const struct gprof_profile *p, uint32_t index)
{
	const struct gprof_label_set *set = &p->label_sets[index];
	const struct encoded *e = &w->sets[index];
	size_t at = w->wire.nr, i;

	if (e->piece == w->piece) {
		if (gprof_wire_room(&w->wire, e->len))
			gprof_wire_raw(&w->wire, w->wire.v + e->at, e->len);
		return e->len;
	}
	for (i = 0; i < set->nr; i++)
		put_label(&w->wire, &p->labels[set->first + i]);
	return w->wire.nr - at;
}

static void put_sample(struct writer *writer, const struct gprof_profile *p, size_t index)
{
	const struct gprof_sample *s = &p->samples[index];
	const int64_t *values = p->values + index * p->nr_columns;
	struct gprof_wire *w = &writer->wire;
	size_t at = gprof_wire_open(w, SAMPLE), packed, labels, i;

	/* There may be none at all. */
	if (s->nr_locations)
		gprof_wire_indexes(w, SAMPLE_LOCATION, p->stacks + s->locations, s->nr_locations, 1);
	packed = gprof_wire_open(w, SAMPLE_VALUE);
	for (i = 0; i < p->nr_columns; i++)
		gprof_wire_varint(w, (uint64_t)values[i]);
	gprof_wire_close(w, packed);
	labels = put_labels(writer, p, s->labels);
	gprof_wire_close(w, at);
	writer->sets[s->labels] = (struct encoded){ writer->piece, labels, w->nr - labels };
}

static void put_samples(struct writer *w, const struct gprof_profile *p)
{
	size_t i;

	w->piece = 1;
	w->sets = calloc(p->nr_label_sets + 1, sizeof(*w->sets));
	if (!w->sets)
		w->wire.failed = true;
	for (i = 0; i < p->nr_samples && go_on(w); i++)
		put_sample(w, p, i);
	free(w->sets);
}

static void put_mapping(struct gprof_wire *w, const struct gprof_profile *p, size_t index)
{
	const struct gprof_mapping *m = &p->mappings[index];
	size_t at = gprof_wire_open(w, MAPPING);

	gprof_wire_number(w, MAPPING_ID, index + 1);
	gprof_wire_number(w, MAPPING_START, m->start);
	gprof_wire_number(w, MAPPING_LIMIT, m->limit);
	gprof_wire_number(w, MAPPING_OFFSET, m->offset);
	gprof_wire_number(w, MAPPING_FILENAME, m->filename);
	gprof_wire_number(w, MAPPING_BUILD_ID, m->build_id);
	gprof_wire_number(w, MAPPING_FUNCTIONS, m->has_functions);
	gprof_wire_number(w, MAPPING_FILENAMES, m->has_filenames);
	gprof_wire_number(w, MAPPING_LINE_NUMBERS, m->has_line_numbers);
	gprof_wire_number(w, MAPPING_INLINE_FRAMES, m->has_inline_frames);
	gprof_wire_close(w, at);
}

static void put_location(struct gprof_wire *w, const struct gprof_profile *p, size_t index)
{
	const struct gprof_location *l = &p->locations[index];
	size_t at = gprof_wire_open(w, LOCATION), line_at, i;

	gprof_wire_number(w, LOCATION_ID, index + 1);
	gprof_wire_number(w, LOCATION_MAPPING, l->mapping);
	gprof_wire_number(w, LOCATION_ADDRESS, l->address);
	for (i = 0; i < l->nr_lines; i++) {
		const struct gprof_line *line = &p->lines[l->lines + i];

		line_at = gprof_wire_open(w, LOCATION_LINE);
		gprof_wire_number(w, LINE_FUNCTION, (uint64_t)line->function + 1);
		gprof_wire_number(w, LINE_LINE, (uint64_t)line->line);
		gprof_wire_number(w, LINE_COLUMN, (uint64_t)line->column);
		gprof_wire_close(w, line_at);
	}
	gprof_wire_number(w, LOCATION_FOLDED, l->folded);
	gprof_wire_close(w, at);
}

static void put_function(struct gprof_wire *w, const struct gprof_profile *p, size_t index)
{
	const struct gprof_function *f = &p->functions[index];
	size_t at = gprof_wire_open(w, FUNCTION);

	gprof_wire_number(w, FUNCTION_ID, index + 1);
	gprof_wire_number(w, FUNCTION_NAME, f->name);
	gprof_wire_number(w, FUNCTION_SYSTEM_NAME, f->system_name);
	gprof_wire_number(w, FUNCTION_FILENAME, f->filename);
	gprof_wire_number(w, FUNCTION_LINE, (uint64_t)f->start_line);
	gprof_wire_close(w, at);
}

static void put_string(struct gprof_wire *w, const struct gprof_profile *p, size_t index)
{
	const char *text = p->strings.v[index];

	gprof_wire_bytes(w, STRING, text, strlen(text));
}

static void put_each(struct writer *w, const struct gprof_profile *p, size_t nr,
		     void (*put)(struct gprof_wire *w, const struct gprof_profile *p, size_t index))
{
	size_t i;

	for (i = 0; i < nr && go_on(w); i++)
		put(&w->wire, p, i);
}

static void put_profile(struct writer *w, const struct gprof_profile *p)
{
	put_head(&w->wire, p);
	put_samples(w, p);
	put_each(w, p, p->nr_mappings, put_mapping);
	put_each(w, p, p->nr_locations, put_location);
	put_each(w, p, p->nr_functions, put_function);
	put_each(w, p, p->strings.nr, put_string);
	go_on(w);
}

static int write_all(const struct gprof_profile *p,
		     int (*write)(void *ctx, const void *data, size_t len), void *ctx)
{
	struct writer w = { .gzip = { .write = write, .ctx = ctx } };
	int err;

	put_profile(&w, p);
	err = gprof_gzip_end(&w.gzip, w.wire.v, w.wire.nr);
	gprof_wire_free(&w.wire);
	return err;
}

static int publish_error(int err)
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
	return publish_error(write_all(p, write, ctx));
}

static int write_fd(void *ctx, const void *data, size_t len)
{
	return gprof_fd_write(*(const int *)ctx, data, len);
}

int gprof_profile_write(const struct gprof_profile *p, int fd)
{
	return publish_error(write_all(p, write_fd, &fd));
}
