// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * profile_view.c: looking at a profile from outside of the library.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
	uint64_t sum = 0;
	size_t i;

	if (type >= p->nr_columns)
		return 0;
	for (i = 0; i < p->nr_samples; i++)
		sum += (uint64_t)p->values[i * p->nr_columns + type];
	return (int64_t)sum;
}

const char *gprof_profile_comment(const struct gprof_profile *p, size_t i)
{
	return i < p->nr_comments ? p->strings.v[p->comments[i]] : NULL;
}

void gprof_profile_time(const struct gprof_profile *p, int64_t *start_ns, int64_t *duration_ns)
{
	if (start_ns)
		*start_ns = p->time_nanos;
	if (duration_ns)
		*duration_ns = p->duration_nanos;
}

/* A name for an address that has none: "[file+0x...]" or "0x...". */
static const char *unnamed(struct gprof_profile *p, const struct gprof_location *l)
{
	const char *file = "", *base;
	char text[512];
	uint32_t index;

	if (l->mapping) {
		const struct gprof_mapping *m = &p->mappings[l->mapping - 1];

		file = p->strings.v[m->filename];
		base = strrchr(file, '/');
		/* "[kernel.kallsyms]" and the like go without their brackets. */
		if (file[0] == '[')
			snprintf(text, sizeof(text), "[%.*s+0x%llx]", (int)strcspn(file + 1, "]"),
				 file + 1, (unsigned long long)l->address);
		else if (file[0])
			snprintf(text, sizeof(text), "[%.400s+0x%llx]", base ? base + 1 : file,
				 (unsigned long long)(l->address - m->start + m->offset));
	}
	if (!file[0])
		snprintf(text, sizeof(text), "0x%llx", (unsigned long long)l->address);
	index = gprof_strings_add(&p->made, text, strlen(text));
	return index == GPROF_NONE ? "?" : p->made.v[index];
}

static void put_location(struct gprof_profile *p, const struct gprof_location *l,
			 struct gprof_frame *frames, size_t *nr)
{
	const char *mapping = "";
	uint32_t i;

	if (l->mapping)
		mapping = p->strings.v[p->mappings[l->mapping - 1].filename];
	for (i = 0; i < l->nr_lines; i++) {
		const struct gprof_line *line = &p->lines[l->lines + i];
		const struct gprof_function *f = &p->functions[line->function];
		const char *name = p->strings.v[f->name];

		frames[(*nr)++] = (struct gprof_frame){
			.function = name[0] ? name : p->strings.v[f->system_name],
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
		.function = unnamed(p, l),
		.file = "",
		.mapping = mapping,
		.address = l->address,
	};
}

int gprof_profile_each(const struct gprof_profile *cp,
		       int (*fn)(void *ctx, const struct gprof_frame *frames, size_t nr_frames,
				 const int64_t *values),
		       void *ctx)
{
	/* The walk remembers where it is for gprof_profile_label(); the profile is ours. */
	struct gprof_profile *p = (struct gprof_profile *)cp;
	struct gprof_frame *frames = NULL;
	size_t cap = 0, i, j;
	int ret = 0;

	for (i = 0; i < p->nr_samples && !ret; i++) {
		const struct gprof_sample *s = &p->samples[i];
		size_t nr = 0, need = 0;

		for (j = 0; j < s->nr_locations; j++) {
			uint32_t n = p->locations[p->stacks[s->locations + j]].nr_lines;

			need += n ? n : 1;
		}
		if (gprof_grow(&frames, &cap, need ? need : 1, sizeof(*frames))) {
			ret = -ENOMEM;
			break;
		}
		for (j = 0; j < s->nr_locations; j++)
			put_location(p, &p->locations[p->stacks[s->locations + j]], frames, &nr);
		p->current = i;
		ret = fn(ctx, frames, nr, &p->values[i * p->nr_columns]);
	}
	p->current = SIZE_MAX;
	free(frames);
	return ret;
}

const char *gprof_profile_label(const struct gprof_profile *p, const char *key, int64_t *num)
{
	const struct gprof_sample *s;
	size_t i;

	if (p->current == SIZE_MAX)
		return NULL;
	s = &p->samples[p->current];
	for (i = 0; i < s->nr_labels; i++) {
		const struct gprof_label *l = &p->labels[s->labels + i];

		if (strcmp(p->strings.v[l->key], key))
			continue;
		if (!l->str && num)
			*num = l->num;
		return p->strings.v[l->str];
	}
	return NULL;
}
