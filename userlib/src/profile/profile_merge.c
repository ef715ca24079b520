// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * profile_merge.c: one profile out of several, and the difference of two.
 *
 * Parts are equal as for pprof: samples by their places and labels, places by mapping, address and
 * lines, mappings by size, offset and file.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "locations.h"
#include "profile.h"

/* pprof's label on the samples of the base of a difference. */
#define BASE_KEY	"pprof::base"
#define BASE_VALUE	"true"

/**
 * struct source - a profile that is merged
 * @from: the profile
 * @negate: its values count as taken away
 * @base: its samples get the label of a base
 * @columns: for each column of the result, its number here
 * @text: for each string, its number in the result, or GPROF_NONE as long as unknown
 * @functions: likewise functions
 * @mappings: likewise mappings
 * @locations: likewise locations
 */
struct source {
	const struct gprof_profile *from;
	bool negate;
	bool base;
	size_t *columns;
	uint32_t *text;
	uint32_t *functions;
	uint32_t *mappings;
	uint32_t *locations;
};

/**
 * struct merger - the result in the making
 * @p: result
 * @places: of it
 * @lines: room for the lines of a location
 * @cap_lines: elements of it
 * @stack: room for the locations of a sample
 * @cap_stack: elements of it
 * @labels: room for the labels of a sample
 * @cap_labels: elements of it
 * @values: room for the values of a sample
 * @comments: texts that are comments already
 */
struct merger {
	struct gprof_profile *p;
	struct gprof_locations places;
	struct gprof_line *lines;
	size_t cap_lines;
	uint32_t *stack;
	size_t cap_stack;
	struct gprof_label *labels;
	size_t cap_labels;
	int64_t *values;
	struct gprof_map64 comments;
};

static uint32_t *unknown(size_t nr)
{
	uint32_t *v = malloc((nr + 1) * sizeof(*v));

	if (v)
		memset(v, 0xff, (nr + 1) * sizeof(*v));
	return v;
}

static int open_source(struct source *s)
{
	const struct gprof_profile *p = s->from;

	s->columns = calloc(p->nr_columns + 1, sizeof(*s->columns));
	s->text = unknown(p->strings.nr);
	s->functions = unknown(p->nr_functions);
	s->mappings = unknown(p->nr_mappings);
	s->locations = unknown(p->nr_locations);
	return s->columns && s->text && s->functions && s->mappings && s->locations ? 0 : -ENOMEM;
}

static void close_source(struct source *s)
{
	free(s->columns);
	free(s->text);
	free(s->functions);
	free(s->mappings);
	free(s->locations);
}

static const char *text_of(const struct gprof_profile *p, uint32_t index)
{
	return p->strings.v[index];
}

static bool same_text(const struct gprof_profile *a, uint32_t x, const struct gprof_profile *b,
		      uint32_t y)
{
	return !strcmp(text_of(a, x), text_of(b, y));
}

static bool same_column(const struct gprof_profile *a, const struct gprof_column *x,
			const struct gprof_profile *b, const struct gprof_column *y)
{
	return same_text(a, x->type, b, y->type) && same_text(a, x->unit, b, y->unit);
}

/* The number of a column of another profile in this one. */
static size_t find_column(const struct gprof_profile *p, const struct gprof_profile *other,
			  const struct gprof_column *c)
{
	size_t i;

	for (i = 0; i < p->nr_columns; i++)
		if (same_column(p, &p->columns[i], other, c))
			return i;
	return SIZE_MAX;
}

static int no_memory(struct gprof_error *e)
{
	return gprof_error_set(e, ENOMEM, "no memory for the merged profile");
}

/* Of the first one's columns those that all of them have. */
static int merge_columns(struct merger *m, struct source *sources, size_t nr,
			 struct gprof_error *e)
{
	const struct gprof_profile *first = sources[0].from;
	size_t c, i;

	for (i = 1; i < nr; i++)
		if (!same_column(first, &first->period_type, sources[i].from,
				 &sources[i].from->period_type))
			return gprof_error_set(e, EINVAL,
					       "one profile is of %s, another of %s; profiles of "
					       "one event can be put together",
					       text_of(first, first->period_type.type),
					       text_of(sources[i].from,
						       sources[i].from->period_type.type));
	for (c = 0; c < first->nr_columns; c++) {
		const struct gprof_column *column = &first->columns[c];
		size_t common = 1;

		while (common < nr &&
		       find_column(sources[common].from, first, column) != SIZE_MAX)
			common++;
		/* A type that is there twice counts once. */
		if (common < nr || find_column(m->p, first, column) != SIZE_MAX)
			continue;
		for (i = 0; i < nr; i++)
			sources[i].columns[m->p->nr_columns] =
				find_column(sources[i].from, first, column);
		if (gprof_profile_add_column(m->p, text_of(first, column->type),
					     text_of(first, column->unit)))
			return no_memory(e);
	}
	if (!m->p->nr_columns)
		return gprof_error_set(e, EINVAL,
				       "the profiles have no type of values in common");
	m->values = calloc(m->p->nr_columns, sizeof(*m->values));
	return m->values ? 0 : no_memory(e);
}

static int merge_text(struct merger *m, struct source *s, uint32_t index, uint32_t *to)
{
	if (s->text[index] == GPROF_NONE)
		s->text[index] = gprof_profile_text(m->p, text_of(s->from, index));
	*to = s->text[index];
	return *to == GPROF_NONE ? -ENOMEM : 0;
}

static int merge_function(struct merger *m, struct source *s, uint32_t index, uint32_t *to)
{
	const struct gprof_function *from = &s->from->functions[index];
	struct gprof_function f = { .start_line = from->start_line };

	if (s->functions[index] == GPROF_NONE) {
		if (merge_text(m, s, from->name, &f.name) ||
		    merge_text(m, s, from->system_name, &f.system_name) ||
		    merge_text(m, s, from->filename, &f.filename))
			return -ENOMEM;
		s->functions[index] = gprof_profile_function(m->p, &f);
	}
	*to = s->functions[index];
	return *to == GPROF_NONE ? -ENOMEM : 0;
}

static int merge_mapping(struct merger *m, struct source *s, uint32_t index, uint32_t *to)
{
	struct gprof_mapping mapping = s->from->mappings[index];

	if (s->mappings[index] == GPROF_NONE) {
		if (merge_text(m, s, mapping.filename, &mapping.filename) ||
		    merge_text(m, s, mapping.build_id, &mapping.build_id))
			return -ENOMEM;
		s->mappings[index] = gprof_locations_add_mapping(&m->places, &mapping);
	}
	*to = s->mappings[index];
	return *to == GPROF_NONE ? -ENOMEM : 0;
}

static int merge_location(struct merger *m, struct source *s, uint32_t index, uint32_t *to)
{
	const struct gprof_location *from = &s->from->locations[index];
	struct gprof_location l = { .address = from->address, .folded = from->folded };
	uint32_t i, mapping;

	*to = s->locations[index];
	if (*to != GPROF_NONE)
		return 0;
	if (from->mapping) {
		if (merge_mapping(m, s, from->mapping - 1, &mapping))
			return -ENOMEM;
		l.mapping = mapping + 1;
		/* The same code, though it lay elsewhere. */
		l.address += m->p->mappings[mapping].start -
			     s->from->mappings[from->mapping - 1].start;
	}
	if (gprof_grow(&m->lines, &m->cap_lines, from->nr_lines, sizeof(*m->lines)))
		return -ENOMEM;
	for (i = 0; i < from->nr_lines; i++) {
		m->lines[i] = s->from->lines[from->lines + i];
		if (merge_function(m, s, m->lines[i].function, &m->lines[i].function))
			return -ENOMEM;
	}
	*to = s->locations[index] = gprof_locations_add(&m->places, &l, m->lines,
							  from->nr_lines);
	return *to == GPROF_NONE ? -ENOMEM : 0;
}

static int merge_labels(struct merger *m, struct source *s, const struct gprof_label_set *from,
			size_t *nr)
{
	uint32_t i;

	if (gprof_grow(&m->labels, &m->cap_labels, (size_t)from->nr + 1,
		       sizeof(*m->labels)))
		return -ENOMEM;
	*nr = 0;
	for (i = 0; i < from->nr; i++) {
		struct gprof_label *l = &m->labels[*nr];

		*l = s->from->labels[from->first + i];
		if (s->base && !strcmp(text_of(s->from, l->key), BASE_KEY))
			continue;
		if (merge_text(m, s, l->key, &l->key) || merge_text(m, s, l->str, &l->str) ||
		    merge_text(m, s, l->unit, &l->unit))
			return -ENOMEM;
		(*nr)++;
	}
	if (s->base) {
		struct gprof_label *l = &m->labels[(*nr)++];

		*l = (struct gprof_label){ .key = gprof_profile_text(m->p, BASE_KEY),
					   .str = gprof_profile_text(m->p, BASE_VALUE) };
		if (l->key == GPROF_NONE || l->str == GPROF_NONE)
			return -ENOMEM;
	}
	/* Two samples are one in any order of their labels. */
	gprof_profile_sort_labels(m->labels, *nr);
	return 0;
}

/* Whether a sample says anything. */
static bool merge_values(struct merger *m, const struct source *s, size_t sample)
{
	const int64_t *from = &s->from->values[sample * s->from->nr_columns];
	bool any = false;
	size_t i;

	for (i = 0; i < m->p->nr_columns; i++) {
		int64_t value = from[s->columns[i]];

		if (s->negate)
			value = value == INT64_MIN ? INT64_MAX : -value;
		m->values[i] = value;
		any |= value != 0;
	}
	return any;
}

static int merge_samples(struct merger *m, struct source *s)
{
	size_t i, j, nr_labels = 0;

	for (i = 0; i < s->from->nr_samples; i++) {
		const struct gprof_sample *from = &s->from->samples[i];

		if (!merge_values(m, s, i))
			continue;
		if (gprof_grow(&m->stack, &m->cap_stack, from->nr_locations, sizeof(*m->stack)))
			return -ENOMEM;
		for (j = 0; j < from->nr_locations; j++)
			if (merge_location(m, s, s->from->stacks[from->locations + j],
					   &m->stack[j]))
				return -ENOMEM;
		if (merge_labels(m, s, &s->from->label_sets[from->labels], &nr_labels) ||
		    gprof_profile_add_sample(m->p, m->stack, from->nr_locations, m->labels,
					     nr_labels, m->values))
			return -ENOMEM;
	}
	return 0;
}

static int merge_head(struct merger *m, struct source *s)
{
	const struct gprof_profile *from = s->from;
	struct gprof_profile *p = m->p;
	uint32_t text;
	size_t i;

	if (from->time_nanos && (!p->time_nanos || from->time_nanos < p->time_nanos))
		p->time_nanos = from->time_nanos;
	p->duration_nanos = gprof_sum(p->duration_nanos, from->duration_nanos);
	if (from->period > p->period)
		p->period = from->period;
	if (!p->doc_url && merge_text(m, s, from->doc_url, &p->doc_url))
		return -ENOMEM;
	for (i = 0; i < from->nr_comments; i++) {
		if (merge_text(m, s, from->comments[i], &text))
			return -ENOMEM;
		if (gprof_map64_get(&m->comments, text) != GPROF_NONE)
			continue;
		if (gprof_map64_put(&m->comments, text, 0) ||
		    gprof_profile_add_comment(p, text_of(p, text)))
			return -ENOMEM;
	}
	/* A column that is not in all of them can no longer be shown. */
	if (merge_text(m, s, from->default_type, &text))
		return -ENOMEM;
	for (i = 0; i < p->nr_columns && !p->default_type; i++)
		if (p->columns[i].type == text)
			p->default_type = text;
	return 0;
}

static int merge_first_head(struct merger *m, struct source *s)
{
	const struct gprof_profile *from = s->from;

	if (merge_text(m, s, from->period_type.type, &m->p->period_type.type) ||
	    merge_text(m, s, from->period_type.unit, &m->p->period_type.unit) ||
	    merge_text(m, s, from->drop_frames, &m->p->drop_frames) ||
	    merge_text(m, s, from->keep_frames, &m->p->keep_frames))
		return -ENOMEM;
	return 0;
}

static int merge_into(struct merger *m, struct source *sources, size_t nr, struct gprof_error *e)
{
	int err = 0;
	size_t i;

	for (i = 0; i < nr && !err; i++)
		err = open_source(&sources[i]);
	if (err)
		return no_memory(e);
	err = merge_columns(m, sources, nr, e);
	if (err)
		return err;
	err = merge_first_head(m, &sources[0]);
	for (i = 0; i < nr && !err; i++)
		err = merge_head(m, &sources[i]);
	for (i = 0; i < nr && !err; i++)
		err = merge_samples(m, &sources[i]);
	return err ? no_memory(e) : 0;
}

static struct gprof_profile *merge_once(struct source *sources, size_t nr, struct gprof_error *e)
{
	struct merger m = { .p = gprof_profile_new() };
	int err;
	size_t i;

	if (!m.p) {
		no_memory(e);
		return NULL;
	}
	gprof_locations_init(&m.places, m.p);
	gprof_map64_init(&m.comments);
	err = merge_into(&m, sources, nr, e);
	for (i = 0; i < nr; i++)
		close_source(&sources[i]);
	gprof_locations_free(&m.places);
	gprof_map64_free(&m.comments);
	free(m.lines);
	free(m.stack);
	free(m.labels);
	free(m.values);
	if (!err)
		return m.p;
	gprof_profile_free(m.p);
	return NULL;
}

static bool has_empty_sample(const struct gprof_profile *p)
{
	size_t i, j;

	for (i = 0; i < p->nr_samples; i++) {
		for (j = 0; j < p->nr_columns && !p->values[i * p->nr_columns + j]; j++)
			;
		if (j == p->nr_columns)
			return true;
	}
	return false;
}

static struct gprof_profile *merge(struct source *sources, size_t nr)
{
	struct gprof_error e = { 0 };
	struct gprof_profile *p = merge_once(sources, nr, &e);

	/* Samples that cancelled out go, and locations without samples. */
	if (p && has_empty_sample(p)) {
		struct source again = { .from = p };
		struct gprof_profile *rest = merge_once(&again, 1, &e);

		gprof_profile_free(p);
		p = rest;
	}
	if (p && gprof_profile_finish(p)) {
		gprof_profile_free(p);
		p = NULL;
		no_memory(&e);
	}
	if (!p)
		gprof_error_publish(&e);
	return p;
}

struct gprof_profile *gprof_profile_merge(const struct gprof_profile *const *profiles, size_t nr)
{
	struct gprof_error e = { 0 };
	struct gprof_profile *p;
	struct source *sources;
	size_t i;

	sources = nr ? calloc(nr, sizeof(*sources)) : NULL;
	if (!sources) {
		if (nr)
			no_memory(&e);
		else
			gprof_error_set(&e, EINVAL, "there is no profile to merge");
		gprof_error_publish(&e);
		return NULL;
	}
	for (i = 0; i < nr; i++)
		sources[i].from = profiles[i];
	p = merge(sources, nr);
	free(sources);
	return p;
}

struct gprof_profile *gprof_profile_diff(const struct gprof_profile *profile,
					 const struct gprof_profile *base, unsigned int flags)
{
	struct source sources[] = {
		{ .from = profile },
		{ .from = base, .negate = true, .base = !(flags & GPROF_DIFF_SUBTRACT) },
	};
	struct gprof_error e = { 0 };

	if (!(flags & ~GPROF_DIFF_SUBTRACT))
		return merge(sources, 2);
	gprof_error_set(&e, EINVAL, "unknown flags %#x for a difference", flags);
	gprof_error_publish(&e);
	return NULL;
}

static int64_t size_of(int64_t value)
{
	return value == INT64_MIN ? INT64_MAX : value < 0 ? -value : value;
}

static bool of_base(const struct gprof_profile *p, const struct gprof_label_set *set)
{
	size_t i;

	for (i = 0; i < set->nr; i++) {
		const struct gprof_label *l = &p->labels[set->first + i];

		if (!strcmp(text_of(p, l->key), BASE_KEY) &&
		    !strcmp(text_of(p, l->str), BASE_VALUE))
			return true;
	}
	return false;
}

int64_t gprof_profile_whole(const struct gprof_profile *p, size_t type)
{
	int64_t sum = 0, base = 0;
	bool any = false;
	size_t i;

	if (type >= p->nr_columns)
		return 0;
	for (i = 0; i < p->nr_label_sets && !any; i++)
		any = of_base(p, &p->label_sets[i]);
	for (i = 0; i < p->nr_samples; i++) {
		int64_t value = size_of(p->values[i * p->nr_columns + type]);

		sum = gprof_sum(sum, value);
		if (any && of_base(p, &p->label_sets[p->samples[i].labels]))
			base = gprof_sum(base, value);
	}
	return base ? base : sum;
}
