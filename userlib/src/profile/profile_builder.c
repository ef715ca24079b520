// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * profile_builder.c: a profile of a program's own counts.
 */
#include <errno.h>
#include <gprof/profile_builder.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/opts.h"
#include "locations.h"
#include "profile.h"

/**
 * struct gprof_profile_builder - a builder
 * @p: profile in the making; its strings begin with those of the configuration
 * @places: of it
 * @stack: room for the locations of a sample
 * @cap_stack: elements of it
 * @lines: room for the lines of a location
 * @cap_lines: elements of it
 * @labels: room for the labels of a sample
 * @cap_labels: elements of it
 */
struct gprof_profile_builder {
	struct gprof_profile *p;
	struct gprof_locations places;
	uint32_t *stack;
	size_t cap_stack;
	struct gprof_line *lines;
	size_t cap_lines;
	struct gprof_label *labels;
	size_t cap_labels;
};

static int publish_error(int err, const char *sentence)
{
	struct gprof_error e;

	gprof_error_set(&e, err, "%s", sentence);
	gprof_error_publish(&e);
	return -err;
}

static int no_memory(void)
{
	return publish_error(ENOMEM, "no memory for the profile");
}

static int intern_text(struct gprof_profile *p, const char *text, uint32_t *index)
{
	*index = text ? gprof_profile_text(p, text) : 0;
	return *index == GPROF_NONE ? -ENOMEM : 0;
}

static int set_head(struct gprof_profile *p, const struct gprof_profile_builder_config *cfg)
{
	size_t i;

	for (i = 0; i < cfg->nr_types; i++)
		if (gprof_profile_add_column(p, cfg->types[i].type, cfg->types[i].unit))
			return -ENOMEM;
	p->period = cfg->period;
	if (intern_text(p, cfg->default_type, &p->default_type) ||
	    intern_text(p, cfg->period_type.type, &p->period_type.type) ||
	    intern_text(p, cfg->period_type.unit, &p->period_type.unit))
		return -ENOMEM;
	return 0;
}

static int check_config(const struct gprof_profile_builder_config *cfg)
{
	bool has_default = !cfg->default_type;
	size_t i, j;

	if (!cfg->nr_types || !cfg->types)
		return publish_error(EINVAL, "a profile needs at least one type of values");
	for (i = 0; i < cfg->nr_types; i++) {
		if (!cfg->types[i].type || !cfg->types[i].type[0] || !cfg->types[i].unit)
			return publish_error(EINVAL, "a type of values has no name or no unit");
		for (j = 0; j < i; j++)
			if (!strcmp(cfg->types[i].type, cfg->types[j].type))
				return publish_error(EINVAL, "two types of values have one name");
		has_default |= !has_default && !strcmp(cfg->types[i].type, cfg->default_type);
	}
	return has_default ? 0 : publish_error(EINVAL, "the default type is none of the types");
}

struct gprof_profile_builder *
gprof_profile_builder_new(const struct gprof_profile_builder_config *cfg)
{
	const size_t least = GPROF_SIZE_WITH(struct gprof_profile_builder_config, period);
	struct gprof_profile_builder_config c = { 0 };
	struct gprof_profile_builder *b;
	struct gprof_error e = { 0 };

	if (gprof_opts_copy_in(&c, sizeof(c), least, cfg, "gprof_profile_builder_config", &e)) {
		gprof_error_publish(&e);
		return NULL;
	}
	if (check_config(&c))
		return NULL;
	b = calloc(1, sizeof(*b));
	if (b)
		b->p = gprof_profile_new();
	if (b)
		gprof_locations_init(&b->places, b->p);
	if (b && b->p && !set_head(b->p, &c))
		return b;
	gprof_profile_builder_free(b);
	no_memory();
	return NULL;
}

void gprof_profile_builder_free(struct gprof_profile_builder *b)
{
	if (!b)
		return;
	gprof_profile_free(b->p);
	gprof_locations_free(&b->places);
	free(b->stack);
	free(b->lines);
	free(b->labels);
	free(b);
}

static bool is_text(const char *text)
{
	return text && text[0];
}

static int make_line(struct gprof_profile *p, const struct gprof_frame *f, struct gprof_line *l)
{
	struct gprof_function function = { 0 };

	if (intern_text(p, f->function, &function.name) ||
	    intern_text(p, f->file, &function.filename))
		return -ENOMEM;
	function.system_name = function.name;
	*l = (struct gprof_line){ .function = gprof_profile_function(p, &function),
				  .line = f->line };
	return l->function == GPROF_NONE ? -ENOMEM : 0;
}

/* All there is to know of it is said in the frames: pprof need not look for more. */
static int intern_mapping(struct gprof_profile_builder *b, const char *file, uint32_t *mapping)
{
	struct gprof_mapping m = { .has_functions = true, .has_filenames = true,
				   .has_line_numbers = true, .has_inline_frames = true };
	uint32_t index;

	*mapping = 0;
	if (!is_text(file))
		return 0;
	if (intern_text(b->p, file, &m.filename))
		return -ENOMEM;
	index = gprof_locations_add_mapping(&b->places, &m);
	*mapping = index + 1;
	return index == GPROF_NONE ? -ENOMEM : 0;
}

/* @nr frames, all but the last inlined into that. */
static int intern_location(struct gprof_profile_builder *b, const struct gprof_frame *frames,
			   size_t nr, uint32_t *location)
{
	const struct gprof_frame *outer = &frames[nr - 1];
	struct gprof_location l = { .address = outer->address };
	size_t i, nr_lines = 0;

	if (intern_mapping(b, outer->mapping, &l.mapping) ||
	    gprof_grow(&b->lines, &b->cap_lines, nr, sizeof(*b->lines)))
		return -ENOMEM;
	for (i = 0; i < nr; i++)
		if (is_text(frames[i].function) &&
		    make_line(b->p, &frames[i], &b->lines[nr_lines++]))
			return -ENOMEM;
	*location = gprof_locations_add(&b->places, &l, b->lines, nr_lines);
	return *location == GPROF_NONE ? -ENOMEM : 0;
}

static int intern_stack(struct gprof_profile_builder *b, const struct gprof_frame *frames,
			size_t nr, size_t *nr_locations)
{
	size_t i, first = 0;

	*nr_locations = 0;
	if (gprof_grow(&b->stack, &b->cap_stack, nr, sizeof(*b->stack)))
		return -ENOMEM;
	for (i = 0; i < nr; i++) {
		if (frames[i].inlined)
			continue;
		if (intern_location(b, &frames[first], i + 1 - first, &b->stack[(*nr_locations)++]))
			return -ENOMEM;
		first = i + 1;
	}
	return 0;
}

static int intern_tags(struct gprof_profile_builder *b, const struct gprof_tag *tags, size_t nr)
{
	size_t i;

	if (gprof_grow(&b->labels, &b->cap_labels, nr, sizeof(*b->labels)))
		return -ENOMEM;
	for (i = 0; i < nr; i++) {
		struct gprof_label *l = &b->labels[i];

		*l = (struct gprof_label){ .num = is_text(tags[i].text) ? 0 : tags[i].num };
		if (intern_text(b->p, tags[i].key, &l->key) ||
		    intern_text(b->p, tags[i].text, &l->str) ||
		    (!l->str && intern_text(b->p, tags[i].unit, &l->unit)))
			return -ENOMEM;
	}
	return 0;
}

static int check_sample(const struct gprof_frame *frames, size_t nr_frames,
			const struct gprof_tag *tags, size_t nr_tags)
{
	size_t i;

	for (i = 0; i < nr_frames; i++)
		if (!is_text(frames[i].function) && (!frames[i].address || frames[i].inlined))
			return publish_error(EINVAL,
					     "a frame has neither a function nor an address");
	if (nr_frames && frames[nr_frames - 1].inlined)
		return publish_error(EINVAL, "the last frame is inlined into none");
	for (i = 0; i < nr_tags; i++)
		if (!is_text(tags[i].key))
			return publish_error(EINVAL, "a label has no key");
	return 0;
}

int gprof_profile_builder_add(struct gprof_profile_builder *b, const struct gprof_frame *frames,
			      size_t nr_frames, const struct gprof_tag *tags, size_t nr_tags,
			      const int64_t *values)
{
	size_t nr_locations;
	int err = check_sample(frames, nr_frames, tags, nr_tags);

	if (err)
		return err;
	if (intern_stack(b, frames, nr_frames, &nr_locations) || intern_tags(b, tags, nr_tags) ||
	    gprof_profile_add_sample(b->p, b->stack, nr_locations, b->labels, nr_tags, values))
		return no_memory();
	return 0;
}

int gprof_profile_builder_comment(struct gprof_profile_builder *b, const char *text)
{
	return gprof_profile_add_comment(b->p, text) ? no_memory() : 0;
}

void gprof_profile_builder_time(struct gprof_profile_builder *b, int64_t start_ns,
				int64_t duration_ns)
{
	b->p->time_nanos = start_ns;
	b->p->duration_nanos = duration_ns;
}

/* An empty profile of the same kind. */
static struct gprof_profile *another(const struct gprof_profile *p)
{
	struct gprof_profile *q = gprof_profile_new();
	char *const *text = p->strings.v;
	int err = !q;
	size_t i;

	for (i = 0; !err && i < p->nr_columns; i++)
		err = gprof_profile_add_column(q, text[p->columns[i].type],
					       text[p->columns[i].unit]);
	if (!err)
		err = intern_text(q, text[p->default_type], &q->default_type);
	if (!err)
		err = intern_text(q, text[p->period_type.type], &q->period_type.type);
	if (!err)
		err = intern_text(q, text[p->period_type.unit], &q->period_type.unit);
	if (!err) {
		q->period = p->period;
		return q;
	}
	gprof_profile_free(q);
	return NULL;
}

struct gprof_profile *gprof_profile_builder_finish(struct gprof_profile_builder *b)
{
	struct gprof_profile *next = another(b->p), *p = b->p;

	if (!next || gprof_profile_finish(p)) {
		gprof_profile_free(next);
		no_memory();
		return NULL;
	}
	gprof_locations_free(&b->places);
	b->p = next;
	gprof_locations_init(&b->places, next);
	return p;
}
