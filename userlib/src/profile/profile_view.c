// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * profile_view.c: looking at a profile from outside of the library.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "profile.h"

size_t gprof_profile_types(const struct gprof_profile *p, const struct gprof_value_type **types)
{
	*types = p->types;
	return p->nr_columns;
}

size_t gprof_profile_default_type(const struct gprof_profile *p)
{
	size_t i;

	for (i = 0; p->default_type && i < p->nr_columns; i++)
		if (p->columns[i].type == p->default_type)
			return i;
	/* As pprof: the last one. */
	return p->nr_columns ? p->nr_columns - 1 : 0;
}

int64_t gprof_profile_total(const struct gprof_profile *p, size_t type)
{
	int64_t sum = 0;
	size_t i;

	if (type >= p->nr_columns)
		return 0;
	for (i = 0; i < p->nr_samples; i++)
		sum = gprof_sum(sum, p->values[i * p->nr_columns + type]);
	return sum;
}

const char *gprof_profile_comment(const struct gprof_profile *p, size_t i)
{
	return i < p->nr_comments ? p->strings.v[p->comments[i]] : NULL;
}

void gprof_profile_system_names(struct gprof_profile *p, bool on)
{
	p->system_names = on;
}

void gprof_profile_time(const struct gprof_profile *p, int64_t *start_ns, int64_t *duration_ns)
{
	if (start_ns)
		*start_ns = p->time_nanos;
	if (duration_ns)
		*duration_ns = p->duration_nanos;
}

static void put_location(const struct gprof_profile *p, const struct gprof_location *l,
			 struct gprof_frame *frames, size_t *nr)
{
	const char *mapping = "";
	uint32_t i;

	if (l->mapping)
		mapping = p->strings.v[p->mappings[l->mapping - 1].filename];
	for (i = 0; i < l->nr_lines; i++) {
		const struct gprof_line *line = &p->lines[l->lines + i];
		const struct gprof_function *f = &p->functions[line->function];
		uint32_t first = p->system_names ? f->system_name : f->name;
		uint32_t second = p->system_names ? f->name : f->system_name;
		const char *name = p->strings.v[first];

		if (!name[0])
			name = p->strings.v[second];
		frames[(*nr)++] = (struct gprof_frame){
			.function = name,
			.file = p->strings.v[f->filename],
			.mapping = mapping,
			.line = line->line,
			.address = l->address,
			.inlined = i + 1 < l->nr_lines,
		};
	}
	if (l->nr_lines)
		return;
	frames[(*nr)++] = (struct gprof_frame){
		.function = p->made.v[l->made],
		.file = "",
		.mapping = mapping,
		.address = l->address,
	};
}

/**
 * struct walk - where a gprof_profile_each() is
 * @p: over which profile
 * @sample: it is at
 * @outer: walk whose callback began it, or NULL
 */
struct walk {
	const struct gprof_profile *p;
	const struct gprof_sample *sample;
	struct walk *outer;
};

/* The thread's innermost: a profile that several threads read belongs to none of them. */
static _Thread_local struct walk *walks;

/* The frames of the sample that a walk is at. */
static size_t put_sample(const struct gprof_profile *p, const struct gprof_sample *s,
			 struct gprof_frame *frames)
{
	size_t nr = 0, j;

	for (j = 0; j < s->nr_locations; j++)
		put_location(p, &p->locations[p->stacks[s->locations + j]], frames, &nr);
	return nr;
}

static struct gprof_frame *alloc_frames(const struct gprof_profile *p)
{
	struct gprof_frame *frames = calloc(p->frames_max ? p->frames_max : 1, sizeof(*frames));

	if (!frames)
		gprof_error_set(NULL, ENOMEM, "no memory for the frames of a sample");
	return frames;
}

int gprof_profile_each(const struct gprof_profile *p,
		       int (*fn)(void *ctx, const struct gprof_frame *frames, size_t nr_frames,
				 const int64_t *values),
		       void *ctx)
{
	struct gprof_frame *frames = alloc_frames(p);
	struct walk walk = { .p = p, .outer = walks };
	size_t i;
	int ret = 0;

	if (!frames)
		return -ENOMEM;
	walks = &walk;
	for (i = 0; i < p->nr_samples && !ret; i++) {
		walk.sample = &p->samples[i];
		ret = fn(ctx, frames, put_sample(p, walk.sample, frames),
			 &p->values[i * p->nr_columns]);
	}
	walks = walk.outer;
	free(frames);
	return ret;
}

int gprof_profile_filter(struct gprof_profile *p,
			 int (*keep)(void *ctx, const struct gprof_frame *frames, size_t nr_frames,
				     const int64_t *values),
			 void *ctx)
{
	struct gprof_frame *frames = alloc_frames(p);
	struct walk walk = { .p = p, .outer = walks };
	size_t size = p->nr_columns * sizeof(*p->values);
	size_t i, nr = 0;

	if (!frames)
		return -ENOMEM;
	walks = &walk;
	for (i = 0; i < p->nr_samples; i++) {
		const int64_t *values = &p->values[i * p->nr_columns];

		walk.sample = &p->samples[i];
		if (!keep(ctx, frames, put_sample(p, walk.sample, frames), values))
			continue;
		p->samples[nr] = p->samples[i];
		memmove(&p->values[nr++ * p->nr_columns], values, size);
	}
	walks = walk.outer;
	p->nr_samples = nr;
	free(frames);
	return 0;
}

void gprof_profile_clear(struct gprof_profile *p, size_t type)
{
	size_t i;

	for (i = 0; type < p->nr_columns && i < p->nr_samples; i++)
		p->values[i * p->nr_columns + type] = 0;
}

const char *gprof_profile_label(const struct gprof_profile *p, const char *key, int64_t *num)
{
	const struct walk *walk = walks;

	while (walk && walk->p != p)
		walk = walk->outer;
	return walk ? gprof_profile_label_of(p, walk->sample->labels, key, num) : NULL;
}

int gprof_profile_stack(const struct gprof_profile *p, size_t i, struct gprof_profile_stack *s)
{
	const struct gprof_sample *found;

	if (i >= p->nr_samples)
		return -ENOENT;
	found = &p->samples[i];
	*s = (struct gprof_profile_stack){
		.locations = p->stacks + found->locations,
		.nr_locations = found->nr_locations,
		.labels = found->labels,
		.values = p->values + i * p->nr_columns,
	};
	return 0;
}

size_t gprof_profile_location(const struct gprof_profile *p, uint32_t location,
			      struct gprof_frame *frames, size_t room)
{
	const struct gprof_location *l;
	size_t nr = 0;

	if (location >= p->nr_locations)
		return 0;
	l = &p->locations[location];
	if ((l->nr_lines ? l->nr_lines : 1) > room)
		return l->nr_lines ? l->nr_lines : 1;
	put_location(p, l, frames, &nr);
	return nr;
}

const char *gprof_profile_label_of(const struct gprof_profile *p, uint32_t labels,
				   const char *key, int64_t *num)
{
	const struct gprof_label_set *set;
	size_t i;

	if (labels >= p->nr_label_sets)
		return NULL;
	set = &p->label_sets[labels];
	for (i = 0; i < set->nr; i++) {
		const struct gprof_label *l = &p->labels[set->first + i];

		if (strcmp(p->strings.v[l->key], key))
			continue;
		if (!l->str && num)
			*num = l->num;
		return p->strings.v[l->str];
	}
	return NULL;
}

int gprof_profile_mapping(const struct gprof_profile *p, size_t i, struct gprof_profile_mapping *m)
{
	const struct gprof_mapping *found;

	if (i >= p->nr_mappings)
		return -ENOENT;
	found = &p->mappings[i];
	*m = (struct gprof_profile_mapping){
		.file = p->strings.v[found->filename],
		.build_id = p->strings.v[found->build_id],
		.start = found->start,
		.limit = found->limit,
		.offset = found->offset,
	};
	return 0;
}
