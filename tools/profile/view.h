/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Common parts of views of a profile: opening it, choosing one of its value types, and writing
 * values for people.
 */
#ifndef TOOLS_VIEW_H
#define TOOLS_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gprof/profile.h>

#include "cli/human.h"
#include "sample_filter.h"
#include "frames.h"

/**
 * struct view - one value type of a profile
 * @profile: the profile
 * @type: index of the value type
 * @name: its name, such as "cpu"
 * @unit: its unit, such as "nanoseconds"
 * @total: the whole of shares: the sum over all samples; with values below 0 among them, of their
 *	sizes, and in a difference of those of the base, as for go tool pprof
 * @old_ns: of a difference: how long the base took, 0: not known
 * @new_ns: likewise the other
 * @filter: chosen samples, or NULL; the caller's
 * @frames: for the numbers in a sample; there from the first view_each() on
 */
struct view {
	struct gprof_profile *profile;
	size_t type;
	char *name;
	const char *unit;
	int64_t total;
	int64_t old_ns;
	int64_t new_ns;
	struct sample_filter *filter;
	struct frames *frames;
};

/**
 * struct view_sample - a sample of a view
 * @frames: numbers of its frames in the view's frames, leaf first
 * @nr: how many
 * @labels: number of its labels, for gprof_profile_label_of()
 * @values: one for each type of the profile
 */
struct view_sample {
	const uint32_t *frames;
	size_t nr;
	uint32_t labels;
	const int64_t *values;
};

/**
 * view_open() - open a profile
 * @v: gets filled
 * @file: path; "-" is stdin
 * @type: name of the value type, NULL for the profile's default
 *
 * Return: STATUS_OK, or another status after a sentence.
 */
int view_open(struct view *v, const char *file, const char *type);
/* view_of() - likewise, of a profile that is the view's from now on; @file: what it is called */
int view_of(struct view *v, struct gprof_profile *p, const char *file, const char *type);
/* view_open_diff() - likewise, of the difference of @file from @base; @flags: GPROF_DIFF_* */
int view_open_diff(struct view *v, const char *base, const char *file, const char *type,
		   unsigned int flags);
void view_close(struct view *v);

/* view_is_base() - are samples with these labels those of the base of a difference? */
bool view_is_base(const struct view *v, uint32_t labels);

/* view_frames() - all frames of a view; those of --by come to them as samples do */
struct frames *view_frames(struct view *v);

/*
 * view_each() - call a function for each chosen sample, with a sentence where there is none; a
 * return of @fn other than 0 ends the walk
 *
 * Return: STATUS_OK or STATUS_FAILED.
 */
int view_each(struct view *v, int (*fn)(void *ctx, const struct view_sample *s), void *ctx);

/* view_sum() - of values from a file: the largest or smallest number where it does not fit */
static inline int64_t view_sum(int64_t a, int64_t b)
{
	int64_t sum;

	if (!__builtin_add_overflow(a, b, &sum))
		return sum;
	return b < 0 ? INT64_MIN : INT64_MAX;
}

/* view_negative() - likewise, of another sign */
static inline int64_t view_negative(int64_t value)
{
	return value == INT64_MIN ? INT64_MAX : -value;
}

/* view_size() - absolute value */
static inline int64_t view_size(int64_t value)
{
	return value < 0 ? view_negative(value) : value;
}

#define VIEW_TEXT_MAX	40	/* of a time of day, and of a value */
#define VIEW_NAME_MAX	512

/*
 * view_function() - the name that a frame is shown under: its function's, or
 * "[FILE]" for all code of a file that has no names; returns @text or a name
 */
const char *view_function(const struct gprof_frame *frame, char text[VIEW_NAME_MAX]);

/* view_value() - a value with its unit, as human(); returns @text */
const char *view_value(const struct view *v, int64_t value, char text[HUMAN_MAX]);

/* view_percent() - share of the total */
double view_percent(const struct view *v, int64_t value);

/* view_loss() - a comment on samples that the profile lacks; @nth: where to look on, from 0 */
const char *view_loss(const struct view *v, size_t *nth);

struct json;
/* view_json_open() - the envelope of @command, and the type of the values */
void view_json_open(struct json *j, const struct view *v, const char *command);
/* view_json_value() - and its share of the total, as NAME_percent */
void view_json_value(struct json *j, const struct view *v, const char *name, int64_t value);
/* view_json_close() - with the losses of @file; NULL: of two files */
void view_json_close(struct json *j, const struct view *v, const char *file);

/* view_time() - when the profile was taken, "" when it does not say; returns @text */
const char *view_time(const struct view *v, char text[VIEW_TEXT_MAX]);

/* view_duration() - how long it took in seconds, 0 when it does not say */
double view_duration(const struct view *v);

#endif /* TOOLS_VIEW_H */
