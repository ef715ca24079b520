// SPDX-License-Identifier: GPL-2.0-only
/*
 * The functions of a profile, told apart by name, as go tool pprof does.
 */
#include "functions.h"

#include <stdlib.h>
#include <string.h>

#include "base/unnamed.h"
#include "cli/cmd.h"
#include "cli/diag.h"
#include "cli/json.h"
#include "cli/text.h"

/* A frame that was not there before. */
static uint32_t find_function(struct functions *fs, const struct gprof_frame *frame)
{
	char text[VIEW_NAME_MAX];
	const char *name = view_function(frame, text);
	size_t n = intern_add(&fs->names, name, strlen(name) + 1);
	struct function *f;

	fs->all = xgrow(fs->all, n, &fs->room, sizeof(*fs->all));
	fs->sums = xgrow(fs->sums, n, &fs->room_sums, sizeof(*fs->sums));
	f = &fs->all[n];
	if (n == fs->nr) {
		fs->nr++;
		f->name = n;
		f->mapping = frame->mapping;
		f->kind = frame_kind(frame);
	} else if (strcmp(f->mapping, frame->mapping)) {
		f->elsewhere = true;
	}
	f->inlined |= frame->inlined;
	f->plain |= !frame->inlined;
	return n;
}

static uint32_t function_of(struct functions *fs, const struct view *v, uint32_t frame)
{
	while (frame >= fs->room_known)
		fs->known = xgrow(fs->known, fs->room_known, &fs->room_known, sizeof(*fs->known));
	if (!fs->known[frame])
		fs->known[frame] = find_function(fs, &v->frames->all[frame]) + 1;
	return fs->known[frame] - 1;
}

/* The prefetched line is there by now. */
static void add_sums(struct functions *fs)
{
	if (fs->nr_before)
		fs->all[fs->before[0]].flat = view_sum(fs->all[fs->before[0]].flat, fs->value);
	for (size_t i = 0; i < fs->nr_before; i++) {
		struct function_sum *sum = &fs->sums[fs->before[i]];

		if (sum->sample == fs->samples)
			continue;
		sum->sample = fs->samples;
		sum->cum = view_sum(sum->cum, fs->value);
	}
}

/* The stack that was added last is the one before now. */
static void swap_stacks(struct functions *fs)
{
	uint32_t *stack = fs->before;
	size_t room = fs->room_before;

	fs->before = fs->stack;
	fs->room_before = fs->room_stack;
	fs->nr_before = fs->nr_stack;
	fs->stack = stack;
	fs->room_stack = room;
}

void functions_add(struct functions *fs, const struct view *v, const struct view_sample *s,
		   int64_t value)
{
	swap_stacks(fs);
	while (fs->room_stack < s->nr)
		fs->stack = xgrow(fs->stack, fs->room_stack, &fs->room_stack, sizeof(*fs->stack));
	/* Sums of so many functions are far away: they are sent for a sample before. */
	for (size_t i = 0; i < s->nr; i++) {
		fs->stack[i] = function_of(fs, v, s->frames[i]);
		__builtin_prefetch(&fs->sums[fs->stack[i]], 1);
	}
	if (s->nr)
		__builtin_prefetch(&fs->all[fs->stack[0]].flat, 1);
	fs->nr_stack = s->nr;
	add_sums(fs);
	fs->samples++;
	fs->value = value;
}

void functions_finish(struct functions *fs)
{
	swap_stacks(fs);
	add_sums(fs);
	fs->nr_stack = 0;
	for (size_t i = 0; i < fs->nr; i++)
		fs->all[i].cum = fs->sums[i].cum;
}

/**
 * struct walk - over a view's samples
 * @fs: functions
 * @samples: likewise, of the numbers of samples, or NULL
 * @view: the view
 * @side: samples that are of it
 * @type: of the values
 * @count: of the numbers of samples, or @type where there are none
 */
struct walk {
	struct functions *fs;
	struct functions *samples;
	const struct view *view;
	enum functions_side side;
	size_t type;
	size_t count;
};

static int add_sample(void *ctx, const struct view_sample *s)
{
	struct walk *w = ctx;
	int64_t value = s->values[w->type], count = s->values[w->count];

	if (w->side != FUNCTIONS_ALL) {
		bool base = view_is_base(w->view, s->labels);

		if (base != (w->side == FUNCTIONS_BASE))
			return 0;
		value = base ? view_negative(value) : value;
		count = base ? view_negative(count) : count;
	}
	functions_add(w->fs, w->view, s, value);
	if (w->samples)
		functions_add(w->samples, w->view, s, count);
	if (value < 0 || count < 0)
		w->fs->counted = -1;
	if (w->count != w->type && count > 0 && w->fs->counted >= 0) {
		int64_t each = value / count;

		w->fs->counted = view_sum(w->fs->counted, count);
		if (each > w->fs->heaviest)
			w->fs->heaviest = each;
	}
	return 0;
}

/* SIZE_MAX: there is no such type. */
static size_t count_type(const struct view *v, const char *type)
{
	const struct gprof_value_type *types;
	size_t nr = gprof_profile_types(v->profile, &types);

	for (size_t i = 0; i < nr; i++)
		if (!strcmp(types[i].type, type) && !strcmp(types[i].unit, "count"))
			return i;
	return SIZE_MAX;
}

int functions_of(struct functions *fs, struct view *v)
{
	/* Of waits and the like each is told as long as it was: only of samples is weight chance. */
	size_t count = count_type(v, "samples");
	struct walk w = { fs, NULL, v, FUNCTIONS_ALL, v->type, count == SIZE_MAX ? v->type : count };
	int status = view_each(v, add_sample, &w);

	functions_finish(fs);
	return status;
}

int functions_counted(struct functions *fs, struct functions *samples, struct view *v,
		      enum functions_side side)
{
	size_t count = count_type(v, "samples");
	struct walk w = { fs, samples, v, side, v->type, 0 };
	int status;

	if (count == SIZE_MAX)
		count = count_type(v, "contentions");
	w.count = count;
	if (count == SIZE_MAX) {
		w.samples = NULL;
		w.count = v->type;
	}
	status = view_each(v, add_sample, &w);
	functions_finish(fs);
	functions_finish(samples);
	return status;
}

/* A name or a place of which less is left says nothing. */
#define TEXT_LEAST	8

char *functions_label(const struct functions *fs, const struct function *f, const char *behind,
		      bool place, size_t columns)
{
	const char *name = functions_name(fs, f);
	char module[MODULE_TEXT_MAX], *where = NULL, *shown, *label;
	size_t room = columns > strlen(behind) + TEXT_LEAST ? columns - strlen(behind) : TEXT_LEAST;
	size_t whole = text_columns(name), for_place = room > whole ? room - whole : 0;

	if (place && for_place >= TEXT_LEAST && !gprof_is_unnamed(name) &&
	    *module_text(f->kind, f->mapping, module)) {
		label = xprintf(" [%s%s]", module, f->elsewhere ? ", ..." : "");
		where = text_short(label, for_place);
		free(label);
		room -= columns == SIZE_MAX ? 0 : text_columns(where);
	}
	if (columns != SIZE_MAX && room > FUNCTION_COLUMNS)
		room = FUNCTION_COLUMNS;
	shown = text_short(name, room);
	label = xprintf("%s%s%s", shown, behind, where ? where : "");
	free(shown);
	free(where);
	return label;
}

const char *functions_name(const struct functions *fs, const struct function *f)
{
	size_t length;

	return intern_key(&fs->names, f->name, &length);
}

void functions_free(struct functions *fs)
{
	intern_free(&fs->names);
	free(fs->all);
	free(fs->sums);
	free(fs->known);
	free(fs->stack);
	free(fs->before);
	*fs = (struct functions){ 0 };
}

void functions_json(struct json *j, const struct functions *fs, const struct function *f)
{
	json_string(j, "name", functions_name(fs, f));
	json_string(j, "mapping", f->mapping);
	json_string(j, "kind", frame_kinds[f->kind]);
}
