// SPDX-License-Identifier: GPL-2.0-only
/*
 * The functions of a profile, told apart by name, as go tool pprof does.
 */
#include "functions.h"

#include <stdlib.h>
#include <string.h>

#include "say.h"

static struct function *function_of(struct functions *fs, const struct gprof_frame *frame)
{
	char text[VIEW_NAME_MAX];
	const char *name;
	bool found;
	uint32_t *n = memo_find(&fs->known, frame->function, frame->mapping, NULL, &found);
	struct function *f;

	if (found)
		return &fs->all[*n];
	name = view_function(frame, text);
	*n = intern_add(&fs->names, name, strlen(name) + 1);
	fs->all = xgrow(fs->all, *n, &fs->room, sizeof(*fs->all));
	f = &fs->all[*n];
	if (*n == fs->nr) {
		fs->nr++;
		f->name = *n;
		f->mapping = frame->mapping;
		f->kind = frame_kind(frame);
	} else if (strcmp(f->mapping, frame->mapping)) {
		f->elsewhere = true;
	}
	return f;
}

size_t functions_number(struct functions *fs, const struct gprof_frame *frame)
{
	const struct function *f = function_of(fs, frame);

	return f - fs->all;
}

void functions_add(struct functions *fs, const struct gprof_frame *frames, size_t nr_frames,
		   int64_t value)
{
	fs->samples++;
	for (size_t i = 0; i < nr_frames; i++) {
		struct function *f = function_of(fs, &frames[i]);

		f->frames++;
		f->inlined += frames[i].inlined;
		if (i == 0)
			f->flat = view_sum(f->flat, value);
		if (f->sample != fs->samples) {
			f->sample = fs->samples;
			f->cum = view_sum(f->cum, value);
		}
	}
}

/**
 * struct walk - over what a view shows
 * @fs: functions
 * @type: of the values
 * @count: of the numbers of samples, or @type where there are none
 */
struct walk {
	struct functions *fs;
	size_t type;
	size_t count;
};

static int add_sample(void *ctx, const struct gprof_frame *frames, size_t nr_frames,
		      const int64_t *values)
{
	struct walk *w = ctx;

	functions_add(w->fs, frames, nr_frames, values[w->type]);
	if (values[w->type] < 0 || values[w->count] < 0)
		w->fs->counted = -1;
	if (w->count != w->type && values[w->count] > 0 && w->fs->counted >= 0) {
		int64_t each = values[w->type] / values[w->count];

		w->fs->counted = view_sum(w->fs->counted, values[w->count]);
		if (each > w->fs->heaviest)
			w->fs->heaviest = each;
	}
	return 0;
}

/* Of waits and the like each is told as long as it was: only of samples is weight chance. */
static size_t count_type(const struct view *v)
{
	const struct gprof_value_type *types;
	size_t nr = gprof_profile_types(v->profile, &types);

	for (size_t i = 0; i < nr; i++)
		if (!strcmp(types[i].type, "samples") && !strcmp(types[i].unit, "count"))
			return i;
	return v->type;
}

int functions_of(struct functions *fs, const struct view *v)
{
	struct walk w = { fs, v->type, count_type(v) };

	return view_each(v, add_sample, &w);
}

const char *functions_name(const struct functions *fs, const struct function *f)
{
	size_t length;

	return intern_key(&fs->names, f->name, &length);
}

void functions_free(struct functions *fs)
{
	intern_free(&fs->names);
	memo_free(&fs->known);
	free(fs->all);
	*fs = (struct functions){ 0 };
}
