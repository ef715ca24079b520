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

struct walk {
	struct functions *fs;
	size_t type;
};

static int add_sample(void *ctx, const struct gprof_frame *frames, size_t nr_frames,
		      const int64_t *values)
{
	struct walk *w = ctx;

	functions_add(w->fs, frames, nr_frames, values[w->type]);
	return 0;
}

int functions_of(struct functions *fs, const struct view *v)
{
	struct walk w = { fs, v->type };

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
