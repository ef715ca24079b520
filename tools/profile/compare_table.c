// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rows of comparisons, for people.
 */
#include "compare_table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/diag.h"
#include "cli/human.h"
#include "cli/terminal.h"
#include "cli/text.h"

#define ROWS_MAX	25	/* that are shown unless -n asks for more */
#define SMALL_PERCENT	0.5	/* likewise the least change, where noise is not known */
#define NAME_COLUMNS	100
#define VALUE_COLUMNS	18	/* of both values */
#define MEASURE_COLUMNS	18	/* of a change and its interval */

/* ---- rows ---- */

/* @size: with the 0 of a name; the total has none. */
static struct compare_row *row_of(struct compare_table *t, const char *name, size_t size)
{
	size_t n = intern_add(&t->names, name, size);

	t->rows = xgrow(t->rows, n, &t->room, sizeof(*t->rows));
	if (n == t->nr) {
		t->rows[t->nr++] = (struct compare_row){
			.values = xalloc(t->nr_runs, sizeof(double)),
			.samples = xalloc(t->nr_runs, sizeof(double)),
		};
	}
	return &t->rows[n];
}

void compare_table_add(struct compare_table *t, size_t nth, const struct functions *values,
		       const struct functions *samples, bool cum)
{
	row_of(t, "", 0)->whole = true;
	for (size_t i = 0; i < values->nr; i++) {
		const struct function *f = &values->all[i];
		const char *name = functions_name(values, f);
		struct compare_row *row = row_of(t, name, strlen(name) + 1);

		row->values[nth] = cum ? f->cum : f->flat;
		t->rows[0].values[nth] += f->flat;
		if (i >= samples->nr)
			continue;
		row->samples[nth] = cum ? samples->all[i].cum : samples->all[i].flat;
		t->rows[0].samples[nth] += samples->all[i].flat;
	}
}

double compare_table_samples(const struct compare_table *t, size_t from, size_t to)
{
	double sum = 0;

	for (size_t i = from; i < to; i++)
		sum += t->rows[0].samples[i];
	return sum;
}

void compare_table_measure(struct compare_table *t, const char *head, double *exposure, bool shares,
			   double all)
{
	t->measures[t->nr_measures++] = (struct compare_measure){
		.head = head, .exposure = exposure, .all = shares ? 1 : all, .c = { .shares = shares },
	};
}

double compare_table_percent(const struct compare_measure *m, double change)
{
	return m->all > 0 ? 100 * change / m->all : 0;
}

static double shown(const struct compare_table *t, size_t row, bool after)
{
	const struct compare_row *r;

	if (t->values)
		return t->rows[row].values[after];
	r = &t->measures[0].c.rows[row];
	return after ? r->after : r->before;
}

static struct compare_line line_of(const struct compare_table *t, size_t row)
{
	struct compare_line line = { .row = row };

	for (size_t m = t->nr_measures; m-- > 0;) {
		const struct compare_row *r = &t->measures[m].c.rows[row];

		line.change = r->after - r->before;
		line.differs |= compare_differs(r);
	}
	if (!t->nr_measures)
		line.change = shown(t, row, true) - shown(t, row, false);
	return line;
}

/* Rows that differ first, of these and of others the largest change. */
static int by_change(const void *pa, const void *pb, void *ctx)
{
	const struct compare_line *a = pa, *b = pb;
	const struct compare_table *t = ctx;
	double one = fabs(a->change), other = fabs(b->change);

	if (a->differs != b->differs)
		return a->differs ? -1 : 1;
	if (one != other)
		return one > other ? -1 : 1;
	one = shown(t, a->row, false);
	other = shown(t, b->row, false);
	if (one != other)
		return one > other ? -1 : 1;
	return strcmp(t->rows[a->row].name, t->rows[b->row].name);
}

static void judge(struct compare_table *t, struct compare_measure *m)
{
	struct comparison *c = &m->c;

	c->rows = xalloc(t->nr, sizeof(*c->rows));
	memcpy(c->rows, t->rows, t->nr * sizeof(*c->rows));
	c->nr = t->nr;
	c->exposure = m->exposure;
	c->nr_before = t->nr_before;
	c->nr_runs = t->nr_runs;
	c->families = t->nr_measures;
	compare_rows(c);
	if (m->all <= 0)
		m->all = c->rows[0].before;
}

void compare_table_judge(struct compare_table *t)
{
	size_t length;

	/* Names stay where they are from here on. */
	for (size_t i = 1; i < t->nr; i++)
		t->rows[i].name = intern_key(&t->names, i, &length);
	t->rows[0].name = "the total";
	t->counted = t->nr_measures && compare_table_samples(t, 0, t->nr_runs) > 0;
	for (size_t m = 0; m < t->nr_measures; m++)
		judge(t, &t->measures[m]);
	t->lines = xalloc(t->nr, sizeof(*t->lines));
	for (size_t i = 1; i < t->nr; i++)
		t->lines[i - 1] = line_of(t, i);
	qsort_r(t->lines, t->nr - 1, sizeof(*t->lines), by_change, t);
}

const struct compare_row *compare_table_row(struct compare_table *t, size_t measure,
					    const char *name)
{
	size_t n = intern_add(&t->names, name, strlen(name) + 1);

	return measure < t->nr_measures ? &t->measures[measure].c.rows[n] : &t->rows[n];
}

/* ---- showing ---- */

/* On a terminal no line is wider than that; a pipe's reader gets longer names. */
static size_t name_columns(const struct compare_table *t)
{
	size_t columns = terminal_columns(stdout);
	size_t before = VALUE_COLUMNS + t->nr_measures * MEASURE_COLUMNS + 1;

	if (t->full_names)
		return SIZE_MAX;
	if (!columns || columns > before + NAME_COLUMNS)
		return NAME_COLUMNS;
	return (columns < TERMINAL_COLUMNS ? TERMINAL_COLUMNS : columns) - before;
}

static const char *value_of(const struct compare_table *t, double value, char text[HUMAN_MAX])
{
	if (!t->values && t->measures[0].c.shares)
		snprintf(text, HUMAN_MAX, "%.2f%%", 100 * value);
	else
		human(value, t->unit, text);
	return text;
}

/* In eight columns at most. */
static const char *percent(const char *format, double value, char text[HUMAN_MAX])
{
	double size = fabs(value);

	snprintf(text, HUMAN_MAX, format, size < 99.995 ? 2 : size < 999.95 ? 1 : 0, value);
	return text;
}

static void print_change(const struct compare_measure *m, const struct compare_row *r)
{
	enum terminal_color color = !compare_differs(r) ? TERMINAL_PLAIN : r->after > r->before ?
				    TERMINAL_BAD : TERMINAL_GOOD;
	char change[HUMAN_MAX], error[HUMAN_MAX] = "";

	if (r->judged)
		percent("+-%.*f%%", compare_table_percent(m, r->error), error);
	if (m->c.shares && r->whole)
		printf("%*s", MEASURE_COLUMNS, "");
	else
		printf(" %s%8s%s %8s", terminal_color(stdout, color),
		       percent("%+.*f%%", compare_table_percent(m, r->after - r->before), change),
		       terminal_color(stdout, TERMINAL_PLAIN), error);
}

static void print_row(const struct compare_table *t, size_t row, const char *behind)
{
	char *name = text_short(t->rows[row].name,
				name_columns(t) - (t->full_names ? 0 : strlen(behind)));
	char before[HUMAN_MAX], after[HUMAN_MAX];

	printf("%8s %8s", value_of(t, shown(t, row, false), before),
	       value_of(t, shown(t, row, true), after));
	for (size_t m = 0; m < t->nr_measures; m++)
		print_change(&t->measures[m], &t->measures[m].c.rows[row]);
	fputs("  ", stdout);
	text_plain(stdout, name);
	puts(behind);
	free(name);
}

static void print_heading(const struct compare_table *t)
{
	fputs(terminal_color(stdout, TERMINAL_BOLD), stdout);
	if (t->nr_measures > 1) {
		printf("%*s", VALUE_COLUMNS - 1, "");
		for (size_t m = 0; m < t->nr_measures; m++)
			printf(" %17s", t->measures[m].head);
		putchar('\n');
	}
	printf("%8s %8s", t->sides[0], t->sides[1]);
	for (size_t m = 0; m < t->nr_measures; m++)
		printf(" %8s %8s", "change", "+-");
	puts(terminal_color(stdout, TERMINAL_PLAIN));
}

/* Where noise is not known, the largest changes. */
static bool is_shown(const struct compare_table *t, const struct compare_line *line)
{
	double all = t->nr_measures ? t->measures[0].all : shown(t, 0, false) + shown(t, 0, true);

	if (t->limit || line->differs)
		return true;
	return !t->counted && fabs(line->change) * 100 >= SMALL_PERCENT * all && line->change != 0;
}

static void print_noise(const struct compare_table *t, const char *title, size_t differ,
			size_t left)
{
	const struct comparison *c = &t->measures[0].c;

	if (!t->counted) {
		if (left)
			printf("%zu more of %zu; -n N shows N\n", left, t->nr - 1);
		puts(t->nr_measures ?
		     "The profiles do not say how many samples their values are of: no interval is\n"
		     "known, and a change may be noise" :
		     "One of the profiles has no values: there is nothing that changes are a share of");
		return;
	}
	printf("%zu of %zu %s differ, %zu more within noise: of 20 comparisons without\n"
	       "a difference one shows some; change is in %% of %s\n", differ, t->nr - 1, title,
	       t->nr - 1 - differ, t->whole);
	if (!compare_knows_runs(c))
		puts("Noise is that of sampling only: runs of one program differ by more. With 3 runs\n"
		     "of each side that counts too: gprofctl compare B1 B2 B3 -- A1 A2 A3");
	else if (c->runs_differ)
		puts("Runs differ by more than their samples explain, and are judged by that");
}

void compare_table_print(const struct compare_table *t, const char *title)
{
	size_t limit = t->limit ? t->limit : ROWS_MAX, differ = 0, shown = 0;

	for (size_t i = 0; i + 1 < t->nr; i++)
		differ += t->lines[i].differs;
	print_heading(t);
	if (t->values || !t->measures[0].c.shares)
		print_row(t, 0, "");
	while (shown + 1 < t->nr && shown < limit && is_shown(t, &t->lines[shown])) {
		const struct compare_line *line = &t->lines[shown++];

		print_row(t, line->row, line->differs || !t->counted ? "" : "  (noise)");
	}
	if (shown < differ)
		printf("%zu more differ; -n N shows N\n", differ - shown);
	print_noise(t, title, differ, t->nr - 1 - shown);
}

void compare_table_free(struct compare_table *t)
{
	for (size_t i = 0; i < t->nr; i++) {
		free(t->rows[i].values);
		free(t->rows[i].samples);
	}
	for (size_t m = 0; m < t->nr_measures; m++) {
		free(t->measures[m].exposure);
		free(t->measures[m].c.rows);
	}
	free(t->rows);
	free(t->lines);
	intern_free(&t->names);
}
