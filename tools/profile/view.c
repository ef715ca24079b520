// SPDX-License-Identifier: GPL-2.0-only
/*
 * Common parts of views of a profile: see view.h.
 */
#include "view.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/cmd.h"
#include "cli/file_kind.h"
#include "cli/diag.h"
#include "cli/json.h"
#include "cli/text.h"

static int choose_type(struct view *v, const char *file, const char *type)
{
	const struct gprof_value_type *types;
	size_t nr = gprof_profile_types(v->profile, &types);
	char *all;

	if (!nr)
		return fail("%s has no values", file);
	v->type = gprof_profile_default_type(v->profile);
	for (size_t i = 0; type && i < nr; i++)
		if (!strcmp(types[i].type, type)) {
			v->type = i;
			type = NULL;
		}
	v->name = text_safe(types[v->type].type);
	v->unit = types[v->type].unit;
	if (!type)
		return STATUS_OK;
	all = text_safe(types[0].type);
	for (size_t i = 1; i < nr; i++) {
		char *one = text_safe(types[i].type), *more = xprintf("%s, %s", all, one);

		free(one);
		free(all);
		all = more;
	}
	misused("%s has no values of type \"%s\", but of %s", file, type, all);
	free(all);
	return STATUS_USAGE;
}

static int read_profile(struct gprof_profile **p, const char *file)
{
	int fd = STDIN_FILENO, status = STATUS_OK;

	if (!*file)
		return misused("\"\" is no file; give the name of a profile, or \"-\" for stdin");
	if (strcmp(file, "-"))
		fd = open(file, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return fail("%s cannot be read: %s", file, strerror(errno));
	*p = gprof_profile_read(fd);
	if (!*p)
		status = file_not_opened(file, fd, FILE_PROFILE);
	if (fd != STDIN_FILENO)
		close(fd);
	return status;
}

/* @v's profile is there; it is closed again on failure. */
static int set_up(struct view *v, const char *file, const char *type)
{
	int status = choose_type(v, file, type);

	if (status != STATUS_OK) {
		view_close(v);
		return status;
	}
	v->total = gprof_profile_whole(v->profile, v->type);
	return STATUS_OK;
}

int view_open(struct view *v, const char *file, const char *type)
{
	int status;

	*v = (struct view){ 0 };
	status = read_profile(&v->profile, file);
	return status == STATUS_OK ? set_up(v, file, type) : status;
}

int view_of(struct view *v, struct gprof_profile *p, const char *file, const char *type)
{
	*v = (struct view){ .profile = p };
	return set_up(v, file, type);
}

int view_open_diff(struct view *v, const char *base, const char *file, const char *type,
		   unsigned int flags)
{
	struct gprof_profile *old = NULL, *new = NULL;
	int status;

	*v = (struct view){ 0 };
	if (!strcmp(base, "-") && !strcmp(file, "-"))
		return misused("only one of the profiles can be stdin");
	status = read_profile(&old, base);
	if (status == STATUS_OK)
		status = read_profile(&new, file);
	if (status == STATUS_OK) {
		int64_t start;

		gprof_profile_time(old, &start, &v->old_ns);
		gprof_profile_time(new, &start, &v->new_ns);
		v->profile = gprof_profile_diff(new, old, flags);
		status = v->profile ? set_up(v, file, type) :
			 fail("%s and %s cannot be compared: %s", base, file, gprof_error());
	}
	gprof_profile_free(old);
	gprof_profile_free(new);
	return status;
}

bool view_is_base(const struct view *v, uint32_t labels)
{
	return gprof_profile_label_of(v->profile, labels, "pprof::base", NULL) != NULL;
}

void view_close(struct view *v)
{
	gprof_profile_free(v->profile);
	frames_free(v->frames);
	free(v->name);
	v->frames = NULL;
	v->profile = NULL;
	v->name = NULL;
}

struct frames *view_frames(struct view *v)
{
	if (!v->frames)
		v->frames = frames_of(v->profile);
	return v->frames;
}

int view_each(struct view *v, int (*fn)(void *ctx, const struct view_sample *s), void *ctx)
{
	struct gprof_profile_stack stack;
	int ret = 0;

	view_frames(v);
	if (v->filter)
		waits_look(&v->filter->waits, v->profile, v->type, v->name);
	for (size_t i = 0; !ret && !gprof_profile_stack(v->profile, i, &stack); i++) {
		struct view_sample s = { .labels = stack.labels, .values = stack.values };

		if (v->filter && !sample_filter_labels(v->filter, v->profile, stack.labels))
			continue;
		s.nr = frames_stack(v->frames, &stack);
		if (v->filter &&
		    !sample_filter_frames(v->filter, v->profile, v->frames, stack.labels, &s.nr))
			continue;
		s.frames = v->frames->stack;
		ret = fn(ctx, &s);
	}
	if (v->filter) {
		waits_report(&v->filter->waits);
		sample_filter_report(v->filter);
	}
	return ret ? STATUS_FAILED : STATUS_OK;
}

/* The library calls an address without a name "[FILE+0xOFFSET]", or "0xADDRESS". */
const char *view_function(const struct gprof_frame *frame, char text[VIEW_NAME_MAX])
{
	const char *name = frame->function;
	const char *plus = strrchr(name, '+');

	if (!strncmp(name, "0x", 2))
		return "[unknown]";
	if (name[0] != '[' || !plus || strncmp(plus, "+0x", 3))
		return name;
	snprintf(text, VIEW_NAME_MAX, "%.*s]", (int)(plus - name), name);
	return text;
}

const char *view_value(const struct view *v, int64_t value, char text[HUMAN_MAX])
{
	return human((double)value, v->unit, text);
}

double view_percent(const struct view *v, int64_t value)
{
	return v->total ? 100.0 * value / v->total : 0;
}

const char *view_time(const struct view *v, char text[VIEW_TEXT_MAX])
{
	int64_t start, duration;
	struct tm tm;
	time_t seconds;

	text[0] = '\0';
	gprof_profile_time(v->profile, &start, &duration);
	seconds = start / 1000000000;
	if (start && localtime_r(&seconds, &tm))
		strftime(text, VIEW_TEXT_MAX, "%Y-%m-%d %H:%M:%S %Z", &tm);
	return text;
}

double view_duration(const struct view *v)
{
	int64_t start, duration;

	gprof_profile_time(v->profile, &start, &duration);
	return duration / 1e9;
}

const char *view_loss(const struct view *v, size_t *nth)
{
	const char *comment;

	while ((comment = gprof_profile_comment(v->profile, (*nth)++)))
		if (!strncmp(comment, "lost ", 5))
			return comment;
	return NULL;
}

void view_json_open(struct json *j, const struct view *v, const char *command)
{
	*j = (struct json){ 0 };
	json_open(j, stdout, command);
	json_string(j, "type", v->name);
	json_string(j, "unit", v->unit);
	json_s64(j, "total", v->total);
}

void view_json_value(struct json *j, const struct view *v, const char *name, int64_t value)
{
	char key[64];

	json_s64(j, name, value);
	snprintf(key, sizeof(key), "%s_percent", name);
	json_double(j, key, view_percent(v, value), 6);
}

void view_json_close(struct json *j, const struct view *v, const char *file)
{
	const char *loss;
	size_t nth = 0;

	while ((loss = view_loss(v, &nth)))
		json_loss(j, file, "%s", loss);
	json_close(j);
}
