// SPDX-License-Identifier: GPL-2.0-only
/*
 * gprofctl top --ratio: the ratio of two profiles, function by function: cache misses for each
 * reference, instructions for each cycle.
 *
 * Both are estimates from samples. Of n samples taken at random the number varies by
 * its root, so a ratio varies by the roots of both in shares of them.
 */
#include "ratio.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/cmd.h"
#include "cli/diag.h"
#include "cli/json.h"
#include "cli/text.h"
#include "functions.h"
#include "view.h"

#define SMALL_SHARE	0.005	/* as of gprofctl top */
#define NAME_COLUMNS	100

/**
 * struct half - one of the two profiles
 * @view: the view
 * @functions: of it
 * @samples: likewise, with the numbers of samples; none where the profile has none
 */
struct half {
	struct view view;
	struct functions functions;
	struct functions samples;
};

/**
 * struct row - a function that is in one of both, or in both
 * @name: its name
 * @value: in A and in B
 * @samples: likewise
 */
struct row {
	const char *name;
	int64_t value[2];
	int64_t samples[2];
};

/**
 * struct table - rows of both
 * @halves: A and B
 * @names: numbers of rows
 * @rows: rows
 * @nr: how many
 * @room: of @rows
 * @cum: with all that they call
 */
struct table {
	struct half halves[2];
	struct intern names;
	struct row *rows;
	size_t nr;
	size_t room;
	bool cum;
};

const char *ratio_split(const char *files)
{
	const char *slash = files;

	while ((slash = strchr(slash + 1, '/'))) {
		char *first = xprintf("%.*s", (int)(slash - files), files);
		struct stat st;
		bool regular = !stat(first, &st) && S_ISREG(st.st_mode);

		free(first);
		if (regular && slash[1])
			return slash;
	}
	return NULL;
}

static int open_half(struct half *h, const char *file, const char *type)
{
	int status = view_open(&h->view, file, type);

	if (status != STATUS_OK)
		return status;
	return functions_counted(&h->functions, &h->samples, &h->view, FUNCTIONS_ALL);
}

static struct row *row_of(struct table *t, const char *name)
{
	size_t n = intern_add(&t->names, name, strlen(name) + 1);

	t->rows = xgrow(t->rows, n, &t->room, sizeof(*t->rows));
	if (n == t->nr)
		t->rows[t->nr++].name = name;
	return &t->rows[n];
}

static void add_half(struct table *t, int which)
{
	const struct functions *fs = &t->halves[which].functions, *n = &t->halves[which].samples;

	for (size_t i = 0; i < fs->nr; i++) {
		const struct function *f = &fs->all[i];
		struct row *r = row_of(t, functions_name(fs, f));

		r->value[which] = t->cum ? f->cum : f->flat;
		/* Of the same samples in the same order. */
		if (i < n->nr)
			r->samples[which] = t->cum ? n->all[i].cum : n->all[i].flat;
	}
}

/* By the dividend, then by the divisor. */
static int compare(const void *pa, const void *pb)
{
	const struct row *a = pa, *b = pb;

	for (int i = 0; i < 2; i++)
		if (a->value[i] != b->value[i])
			return a->value[i] > b->value[i] ? -1 : 1;
	return strcmp(a->name, b->name);
}

/* Random, in per cent of the ratio; NAN: not known. */
static double error_of(const int64_t samples[2])
{
	return samples[0] > 0 && samples[1] > 0 ?
		       100 * sqrt(1.0 / samples[0] + 1.0 / samples[1]) : NAN;
}

static double ratio_of(const int64_t value[2])
{
	return value[1] ? (double)value[0] / value[1] : NAN;
}

static void print_ratio(const int64_t value[2], const int64_t samples[2])
{
	if (!value[1]) {
		printf("%12s %8s", "-", "");
		return;
	}
	printf("%12.5g", ratio_of(value));
	if (isnan(error_of(samples)))
		printf(" %8s", "");
	else
		printf(" +-%5.1f%%", error_of(samples));
}

static void print_row(const struct table *t, const struct row *r, bool full_names)
{
	char *name = text_short(r->name, full_names ? SIZE_MAX : NAME_COLUMNS);
	char text[2][VIEW_TEXT_MAX];

	print_ratio(r->value, r->samples);
	printf(" %12s %12s  ", view_value(&t->halves[0].view, r->value[0], text[0]),
	       view_value(&t->halves[1].view, r->value[1], text[1]));
	text_plain(stdout, name);
	putchar('\n');
	free(name);
}

static bool is_small(const struct table *t, const struct row *r)
{
	for (int i = 0; i < 2; i++)
		if (r->value[i] >= SMALL_SHARE * t->halves[i].view.total && r->value[i])
			return false;
	return true;
}

static void print_table(struct table *t, unsigned long long limit, bool full_names)
{
	const struct view *a = &t->halves[0].view, *b = &t->halves[1].view;
	struct row all = { .value = { a->total, b->total } };
	unsigned long long shown = 0;
	char text[2][VIEW_TEXT_MAX];

	printf("Type: %s / %s\n", a->name, b->name);
	printf("Total = %s / %s", view_value(a, a->total, text[0]), view_value(b, b->total, text[1]));
	if (b->total)
		printf(" = %.5g", (double)all.value[0] / all.value[1]);
	printf("\n%12s %8s %12s %12s\n", "ratio", "", a->name, b->name);
	for (size_t i = 0; i < t->nr && (!limit || shown < limit); i++) {
		if (!limit && is_small(t, &t->rows[i]))
			continue;
		print_row(t, &t->rows[i], full_names);
		shown++;
	}
	if (shown < t->nr)
		printf("%llu of %zu functions are not shown%s; -n N shows N\n", t->nr - shown, t->nr,
		       limit ? "" : ", each below 0.5% of both");
}

static void put_ratio(struct json *j, const int64_t value[2], const int64_t samples[2])
{
	json_double(j, "ratio", ratio_of(value), 9);
	json_double(j, "error_percent", error_of(samples), 6);
	json_s64(j, "dividend", value[0]);
	json_s64(j, "divisor", value[1]);
}

static void print_json(const struct table *t, const char *first, const char *second)
{
	const char *const files[] = { first, second }, *loss;
	static const char *const keys[] = { "dividend", "divisor" };
	const int64_t total[] = { t->halves[0].view.total, t->halves[1].view.total };
	const int64_t none[2] = { 0 };
	struct json j = { 0 };

	json_open(&j, stdout, "top");
	for (int i = 0; i < 2; i++) {
		json_object(&j, keys[i]);
		json_string(&j, "type", t->halves[i].view.name);
		json_string(&j, "unit", t->halves[i].view.unit);
		json_end(&j);
	}
	json_object(&j, "total");
	put_ratio(&j, total, none);
	json_end(&j);
	json_array(&j, "rows");
	for (size_t i = 0; i < t->nr; i++) {
		json_object(&j, NULL);
		json_string(&j, "name", t->rows[i].name);
		put_ratio(&j, t->rows[i].value, t->rows[i].samples);
		json_end(&j);
	}
	json_end(&j);
	for (size_t i = 0, nth = 0; i < 2; i++, nth = 0)
		while ((loss = view_loss(&t->halves[i].view, &nth)))
			json_loss(&j, files[i], "%s", loss);
	json_close(&j);
}

int ratio(const char *files, const struct ratio_opts *o)
{
	const char *slash = ratio_split(files);
	struct table t = { .cum = o->cum };
	char *first;
	int status;

	if (!slash)
		return misused("--ratio wants two profiles, as in --ratio misses.pb.gz/references.pb.gz; "
			       "no beginning of %s is a file", files);
	first = xprintf("%.*s", (int)(slash - files), files);
	status = open_half(&t.halves[0], first, o->type);
	if (status == STATUS_OK)
		status = open_half(&t.halves[1], slash + 1, o->type);
	if (status == STATUS_OK) {
		add_half(&t, 0);
		add_half(&t, 1);
		if (t.nr)
			qsort(t.rows, t.nr, sizeof(*t.rows), compare);
		if (o->json)
			print_json(&t, first, slash + 1);
		else
			print_table(&t, o->limit, o->full_names);
		status = finish_stdout();
	}
	for (int i = 0; i < 2; i++) {
		functions_free(&t.halves[i].functions);
		functions_free(&t.halves[i].samples);
		view_close(&t.halves[i].view);
	}
	intern_free(&t.names);
	free(t.rows);
	free(first);
	return status;
}
