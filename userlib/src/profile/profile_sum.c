// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * profile_sum.c: one profile out of many files, one after the other.
 *
 * A file does not become a profile of its own: its parts are looked up in the sum, once. Files
 * with other types of values begin another sum, and gprof_profile_merge() merges all sums at the
 * end, so that locations without samples go.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/opts.h"
#include "locations.h"
#include "pprof_into.h"
#include "profile.h"

#define ROWS	16

/**
 * struct gprof_profile_sum - files that were added
 * @rows: sums of those with other types of values
 * @nr_rows: how many
 * @p: the sum that grows, or NULL
 * @places: of @p
 * @kind: the event that all files are of, and the types of values that all have; NULL: no file yet
 * @time_ns: label of what is added; below 0: none
 * @broken: memory ended while samples were added up
 */
struct gprof_profile_sum {
	struct gprof_profile *rows[ROWS];
	size_t nr_rows;
	struct gprof_profile *p;
	struct gprof_locations places;
	struct gprof_profile *kind;
	int64_t time_ns;
	bool broken;
};

static int no_memory(void)
{
	struct gprof_error e = { 0 };
	int err = gprof_error_set(&e, ENOMEM, "no memory for the merged profile");

	gprof_error_publish(&e);
	return err;
}

struct gprof_profile_sum *gprof_profile_sum_new(void)
{
	struct gprof_profile_sum *s = calloc(1, sizeof(*s));

	if (!s)
		no_memory();
	else
		s->time_ns = -1;
	return s;
}

void gprof_profile_sum_time(struct gprof_profile_sum *s, int64_t ns)
{
	s->time_ns = ns;
}

static void drop(struct gprof_profile_sum *s)
{
	if (s->p)
		gprof_locations_free(&s->places);
	gprof_profile_free(s->p);
	s->p = NULL;
}

void gprof_profile_sum_free(struct gprof_profile_sum *s)
{
	if (!s)
		return;
	drop(s);
	gprof_profile_free(s->kind);
	while (s->nr_rows)
		gprof_profile_free(s->rows[--s->nr_rows]);
	free(s);
}

/* The head of a file. */
static void move_head(struct gprof_profile *to, const struct gprof_profile *from)
{
#define TAKE(member)	(to->member = from->member)
	TAKE(columns);
	TAKE(nr_columns);
	TAKE(cap_columns);
	TAKE(comments);
	TAKE(nr_comments);
	TAKE(cap_comments);
	TAKE(period_type);
	TAKE(period);
	TAKE(time_nanos);
	TAKE(duration_nanos);
	TAKE(default_type);
	TAKE(drop_frames);
	TAKE(keep_frames);
	TAKE(doc_url);
#undef TAKE
}

static bool same_head(const struct gprof_profile *a, const struct gprof_profile *b)
{
	return a->nr_columns == b->nr_columns &&
	       !memcmp(a->columns, b->columns, a->nr_columns * sizeof(*a->columns)) &&
	       !memcmp(&a->period_type, &b->period_type, sizeof(a->period_type));
}

static bool has_comment(const struct gprof_profile *p, uint32_t text)
{
	size_t i;

	for (i = 0; i < p->nr_comments && p->comments[i] != text; i++)
		;
	return i < p->nr_comments;
}

/* As gprof_profile_merge() does. Both are of the same texts. */
static int add_head(struct gprof_profile *p, const struct gprof_profile *head)
{
	size_t i;

	if (head->time_nanos && (!p->time_nanos || head->time_nanos < p->time_nanos))
		p->time_nanos = head->time_nanos;
	p->duration_nanos = gprof_sum(p->duration_nanos, head->duration_nanos);
	if (head->period > p->period)
		p->period = head->period;
	if (!p->doc_url)
		p->doc_url = head->doc_url;
	if (!p->default_type)
		p->default_type = head->default_type;
	for (i = 0; i < head->nr_comments; i++)
		if (!has_comment(p, head->comments[i]) &&
		    gprof_profile_add_comment(p, p->strings.v[head->comments[i]]))
			return -ENOMEM;
	return 0;
}

/* Its event and types of values alone, with texts of their own. */
static struct gprof_profile *kind_of(const struct gprof_profile *p)
{
	struct gprof_profile *kind = gprof_profile_new();
	char *const *text = p->strings.v;
	int err = kind ? 0 : -ENOMEM;
	size_t i;

	for (i = 0; i < p->nr_columns && !err; i++)
		err = gprof_profile_add_column(kind, text[p->columns[i].type],
					       text[p->columns[i].unit]);
	if (!err) {
		kind->period_type.type = gprof_profile_text(kind, text[p->period_type.type]);
		kind->period_type.unit = gprof_profile_text(kind, text[p->period_type.unit]);
	}
	if (!err && kind->period_type.type != GPROF_NONE && kind->period_type.unit != GPROF_NONE)
		return kind;
	gprof_profile_free(kind);
	return NULL;
}

static bool same_column(const struct gprof_profile *a, const struct gprof_column *x,
			const struct gprof_profile *b, const struct gprof_column *y)
{
	return !strcmp(a->strings.v[x->type], b->strings.v[y->type]) &&
	       !strcmp(a->strings.v[x->unit], b->strings.v[y->unit]);
}

static bool has_column(const struct gprof_profile *p, const struct gprof_profile *of,
		       const struct gprof_column *c)
{
	size_t i;

	for (i = 0; i < p->nr_columns && !same_column(p, &p->columns[i], of, c); i++)
		;
	return i < p->nr_columns;
}

/* Of the types that all files before have those that this one has as well: there has to be one. */
static int keep_common(struct gprof_profile *kind, const struct gprof_profile *p)
{
	struct gprof_error e = { 0 };
	size_t i, nr = 0;
	int err;

	if (!same_column(kind, &kind->period_type, p, &p->period_type)) {
		err = gprof_error_set(&e, EINVAL, "the file is of %s, those before are of %s; "
				      "profiles of one event can be put together",
				      p->strings.v[p->period_type.type],
				      kind->strings.v[kind->period_type.type]);
		gprof_error_publish(&e);
		return err;
	}
	for (i = 0; i < kind->nr_columns; i++)
		nr += has_column(p, kind, &kind->columns[i]);
	if (!nr) {
		err = gprof_error_set(&e, EINVAL, "the file has no type of values that those "
				      "before have");
		gprof_error_publish(&e);
		return err;
	}
	for (i = 0, nr = 0; i < kind->nr_columns; i++)
		if (has_column(p, kind, &kind->columns[i]))
			kind->columns[nr++] = kind->columns[i];
	kind->nr_columns = nr;
	return 0;
}

/* One that does not go together with the others is refused here, lest there is no sum of any. */
static int check_kind(struct gprof_profile_sum *s, const struct gprof_profile *p)
{
	struct gprof_error e = { 0 };
	int err;

	if (!p->nr_columns) {
		err = gprof_error_set(&e, EINVAL, "the file has no type of values");
		gprof_error_publish(&e);
		return err;
	}
	if (s->kind)
		return keep_common(s->kind, p);
	s->kind = kind_of(p);
	return s->kind ? 0 : no_memory();
}

static void clear_in_use(struct gprof_profile *p, size_t nr_samples)
{
	size_t i, j;

	for (i = 0; i < p->nr_columns; i++) {
		if (strncmp(p->strings.v[p->columns[i].type], "inuse_", 6))
			continue;
		for (j = 0; j < nr_samples; j++)
			p->values[j * p->nr_columns + i] = 0;
	}
}

/* A set of labels with another time. */
static uint32_t with_time(struct gprof_profile *p, uint32_t set, const struct gprof_label *time)
{
	const struct gprof_label_set *of = &p->label_sets[set];
	struct gprof_label *labels = malloc((of->nr + 1) * sizeof(*labels));
	uint32_t made = GPROF_NONE, i, nr = 0;

	if (labels) {
		for (i = 0; i < of->nr; i++)
			if (p->labels[of->first + i].key != time->key)
				labels[nr++] = p->labels[of->first + i];
		labels[nr++] = *time;
		gprof_profile_sort_labels(labels, nr);
		made = gprof_profile_label_set(p, labels, nr);
	}
	free(labels);
	return made;
}

/* Each set is looked for once. */
static int label_time(struct gprof_profile *p, size_t from, int64_t ns)
{
	const struct gprof_label time = {
		.key = gprof_profile_text(p, "time"),
		.unit = gprof_profile_text(p, "nanoseconds"),
		.num = ns,
	};
	uint32_t *made = calloc(p->nr_label_sets + 1, sizeof(*made));
	int err = made && time.key != GPROF_NONE && time.unit != GPROF_NONE ? 0 : -ENOMEM;
	size_t i;

	for (i = from; i < p->nr_samples && !err; i++) {
		uint32_t set = p->samples[i].labels;

		if (!made[set])
			made[set] = with_time(p, set, &time) + 1;
		if (!made[set])
			err = -ENOMEM;
		p->samples[i].labels = made[set] - 1;
	}
	free(made);
	return err;
}

/* -EXDEV: its types of values are others. */
static int add(struct gprof_profile_sum *s, const void *data, size_t size, unsigned int flags)
{
	struct gprof_profile *p = s->p, head = { 0 };
	size_t samples = p->nr_samples, stacks = p->nr_stacks, values = p->nr_values;
	struct gprof_profile old = { 0 };
	int err;

	move_head(&old, p);
	move_head(p, &head);
	err = gprof_pprof_read_into(p, &s->places, data, size);
	if (!err)
		err = check_kind(s, p);
	move_head(&head, p);
	if (!old.nr_columns && !err) {
		/* the first */
		old = head;
		memset(&head, 0, sizeof(head));
	} else if (!err && !same_head(&old, &head)) {
		err = -EXDEV;
	}
	move_head(p, &old);
	if (err) {
		p->nr_samples = samples;
		p->nr_stacks = stacks;
		p->nr_values = values;
	} else {
		if (flags & GPROF_SUM_LAST_IN_USE)
			clear_in_use(p, samples);
		if (add_head(p, &head) ||
		    (s->time_ns >= 0 && label_time(p, samples, s->time_ns)) ||
		    gprof_profile_add_up(p, samples)) {
			s->broken = true;
			err = no_memory();
		}
	}
	free(head.columns);
	free(head.comments);
	return err;
}

static int begin(struct gprof_profile_sum *s)
{
	s->p = gprof_profile_new();
	if (!s->p)
		return no_memory();
	gprof_locations_init(&s->places, s->p);
	return 0;
}

/* The sum until now waits for the end. */
static int put_aside(struct gprof_profile_sum *s)
{
	struct gprof_profile *merged;

	if (s->nr_rows == ROWS) {
		merged = gprof_profile_merge((const struct gprof_profile *const *)s->rows, ROWS);
		if (!merged)
			return -errno;
		while (s->nr_rows)
			gprof_profile_free(s->rows[--s->nr_rows]);
		s->rows[s->nr_rows++] = merged;
	}
	gprof_locations_free(&s->places);
	s->rows[s->nr_rows++] = s->p;
	s->p = NULL;
	return begin(s);
}

int gprof_profile_sum_add(struct gprof_profile_sum *s, const void *data, size_t size,
			  unsigned int flags)
{
	int err = s->p ? 0 : begin(s);

	if (err || s->broken)
		return err ? err : no_memory();
	err = add(s, data, size, flags);
	if (err != -EXDEV)
		return err;
	if (flags & GPROF_SUM_LAST_IN_USE)
		clear_in_use(s->p, s->p->nr_samples);
	err = put_aside(s);
	return err ? err : add(s, data, size, flags);
}

struct gprof_profile *gprof_profile_sum_end(struct gprof_profile_sum *s)
{
	const struct gprof_profile *all[ROWS + 1];
	struct gprof_profile *merged = NULL;
	size_t i, nr = 0;

	for (i = 0; i < s->nr_rows; i++)
		all[nr++] = s->rows[i];
	if (s->p && s->p->nr_columns)
		all[nr++] = s->p;
	if (s->broken)
		no_memory();
	else
		merged = gprof_profile_merge(all, nr);
	gprof_profile_sum_free(s);
	return merged;
}
