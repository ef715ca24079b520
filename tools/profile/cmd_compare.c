// SPDX-License-Identifier: GPL-2.0-only
/*
 * gprofctl compare: which functions did a change make dearer or cheaper, beyond what chance makes
 * of samples? Profiles before and after, one of each or several; the answer of a test in CI is the
 * exit status.
 */
#include "cli/cmd.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/diag.h"
#include "cli/json.h"
#include "cli/options.h"
#include "cli/pager.h"
#include "cli/terminal.h"
#include "cli/text.h"
#include "compare.h"
#include "functions.h"
#include "view.h"

#define ROWS_MAX	25	/* that are shown unless -n asks for more */
#define NAME_COLUMNS	100
#define NUMBER_COLUMNS	41	/* before it */
#define LENGTHS_DIFFER	1.2

enum per { PER_RUN, PER_SECOND, PER_SHARE };

static const char *const per_words[] = { "run", "second", "share" };

/**
 * struct run - one profile
 * @file: its name
 * @view: the view
 * @filter: hides idle waits, as other tables do
 * @functions: of it
 * @samples: likewise, with the numbers of samples
 */
struct run {
	const char *file;
	struct view view;
	struct sample_filter filter;
	struct functions functions;
	struct functions samples;
};

/**
 * struct compare - the command
 * @type: --type
 * @cum: --cum
 * @full_names: --full-names
 * @symbols: --no-demangle
 * @json: --json
 * @per: --per
 * @limit: -n, 0 when absent
 * @fail_above: --fail-above, or below 0
 * @runs: profiles, those before first
 * @names: numbers of rows, of which the total is the first
 * @room: of @c.rows
 * @c: what is judged
 */
struct compare {
	const char *type;
	bool cum;
	bool full_names;
	bool symbols;
	bool json;
	enum per per;
	unsigned long long limit;
	double fail_above;
	struct run *runs;
	struct intern names;
	size_t room;
	struct comparison c;
};

/* ---- reading ---- */

static int open_run(const struct compare *o, struct run *r, const char *file)
{
	int status = view_open(&r->view, file, o->type);

	r->file = file;
	if (status != STATUS_OK)
		return status;
	r->view.filter = &r->filter;
	gprof_profile_system_names(r->view.profile, o->symbols);
	status = functions_counted(&r->functions, &r->samples, &r->view);
	if (status != STATUS_OK)
		return status;
	if (r->functions.counted < 0 || r->view.total <= 0)
		return fail("%s: a difference of profiles, or one without values, cannot be compared",
			    file);
	if (!r->samples.nr && r->functions.nr)
		return fail("%s has no values of the type samples or contentions: of how many samples it "
			    "is, and so what chance makes of them, is not known", file);
	return STATUS_OK;
}

/* @size: with the 0 of a name; the total has none. */
static struct compare_row *row_of(struct compare *o, const char *name, size_t size)
{
	struct comparison *c = &o->c;
	size_t n = intern_add(&o->names, name, size);

	c->rows = xgrow(c->rows, n, &o->room, sizeof(*c->rows));
	if (n == c->nr) {
		c->rows[c->nr++] = (struct compare_row){
			.values = xalloc(c->nr_runs, sizeof(double)),
			.samples = xalloc(c->nr_runs, sizeof(double)),
		};
	}
	return &c->rows[n];
}

static void add_run(struct compare *o, size_t nth)
{
	const struct run *r = &o->runs[nth];

	for (size_t i = 0; i < r->functions.nr; i++) {
		const struct function *f = &r->functions.all[i], *n = &r->samples.all[i];
		const char *name = functions_name(&r->functions, f);
		struct compare_row *row = row_of(o, name, strlen(name) + 1);

		row->values[nth] = o->cum ? f->cum : f->flat;
		row->samples[nth] = o->cum ? n->cum : n->flat;
		o->c.rows[0].values[nth] += f->flat;
		o->c.rows[0].samples[nth] += n->flat;
	}
}

/* Exposures, for free(); NULL after a sentence. */
static double *exposures(const struct compare *o)
{
	double *e = xalloc(o->c.nr_runs, sizeof(*e));

	for (size_t i = 0; i < o->c.nr_runs; i++) {
		const struct run *r = &o->runs[i];

		e[i] = o->per == PER_RUN ? 1 :
		       o->per == PER_SECOND ? view_duration(&r->view) : o->c.rows[0].values[i];
		if (e[i] > 0)
			continue;
		fail(o->per == PER_SECOND ? "%s does not say how long it took; --per run or share need "
		     "no time" : "%s: no value is left to compare", r->file);
		free(e);
		return NULL;
	}
	return e;
}

/* ---- showing ---- */

static double change_of(const struct compare *o, double value)
{
	const struct compare_row *all = &o->c.rows[0];

	return o->c.shares ? 100 * value : all->before > 0 ? 100 * value / all->before : 0;
}

static bool is_told(const struct compare_row *r)
{
	return r->p < COMPARE_ALPHA;
}

static bool grew_too_much(const struct compare *o, const struct compare_row *r)
{
	return o->fail_above >= 0 && is_told(r) &&
	       change_of(o, r->after - r->before) > o->fail_above;
}

/* Rows that are told first, of these and of others the largest change. */
static int by_change(const void *pa, const void *pb)
{
	const struct compare_row *a = pa, *b = pb;
	double one = fabs(a->after - a->before), other = fabs(b->after - b->before);

	if (is_told(a) != is_told(b))
		return is_told(a) ? -1 : 1;
	if (one != other)
		return one > other ? -1 : 1;
	if (a->before != b->before)
		return a->before > b->before ? -1 : 1;
	return strcmp(a->name, b->name);
}

static const char *value_of(const struct compare *o, double value, char text[VIEW_TEXT_MAX])
{
	if (o->c.shares) {
		snprintf(text, VIEW_TEXT_MAX, "%.2f%%", 100 * value);
		return text;
	}
	return view_value(&o->runs[0].view, (int64_t)llround(value), text);
}

/* On a terminal no line is wider than that; a pipe's reader gets longer names. */
static size_t name_columns(const struct compare *o)
{
	size_t columns = terminal_columns(stdout);

	if (o->full_names)
		return SIZE_MAX;
	if (!columns || columns > NUMBER_COLUMNS + NAME_COLUMNS)
		return NAME_COLUMNS;
	return (columns < TERMINAL_COLUMNS ? TERMINAL_COLUMNS : columns) - NUMBER_COLUMNS;
}

static void print_row(const struct compare *o, const struct compare_row *r)
{
	const char *behind = is_told(r) || r->whole ? "" : "  (chance)";
	char *name = text_short(r->name, name_columns(o) - (o->full_names ? 0 : strlen(behind)));
	char before[VIEW_TEXT_MAX], after[VIEW_TEXT_MAX], error[VIEW_TEXT_MAX] = "";
	enum terminal_color color = !is_told(r) ? TERMINAL_PLAIN : r->after > r->before ?
				    TERMINAL_BAD : TERMINAL_GOOD;

	if (r->judged)
		snprintf(error, sizeof(error), "+-%.2f%%", change_of(o, r->error));
	printf("%9s %9s %s%+8.2f%%%s %9s  ", value_of(o, r->before, before),
	       value_of(o, r->after, after), terminal_color(stdout, color),
	       change_of(o, r->after - r->before), terminal_color(stdout, TERMINAL_PLAIN), error);
	text_plain(stdout, name);
	puts(behind);
	free(name);
}

static double samples_of(const struct compare *o, size_t from, size_t to)
{
	double sum = 0;

	for (size_t i = from; i < to; i++)
		sum += o->c.rows[0].samples[i];
	return sum;
}

/* Of recordings of another length values are no measure, unless the work is the same. */
static void print_lengths(const struct compare *o)
{
	const struct comparison *c = &o->c;
	double seconds[2] = { 0 };

	for (size_t i = 0; i < c->nr_runs; i++) {
		double one = view_duration(&o->runs[i].view);

		if (!one)
			return;
		seconds[i >= c->nr_before] += one / (double)(i < c->nr_before ? c->nr_before :
								       c->nr_runs - c->nr_before);
	}
	if (o->per == PER_RUN && (seconds[1] > LENGTHS_DIFFER * seconds[0] ||
				  seconds[0] > LENGTHS_DIFFER * seconds[1]))
		printf("Before took %.3g s a run, after %.3g s; --per second or --per share does not\n"
		       "count that\n", seconds[0], seconds[1]);
}

/* Of all runs. @run, @nth: where to look on, from 0. */
static const char *next_loss(const struct compare *o, size_t *run, size_t *nth)
{
	const char *loss;

	for (; *run < o->c.nr_runs; ++*run, *nth = 0) {
		loss = view_loss(&o->runs[*run].view, nth);
		if (loss)
			return loss;
	}
	return NULL;
}

static void print_head(const struct compare *o)
{
	const struct comparison *c = &o->c;
	size_t run = 0, nth = 0;
	const char *comment;

	printf("Type: %s%s, per %s\n", o->runs[0].view.name, o->cum ? " with callees" : "",
	       per_words[o->per]);
	printf("Before: %zu run%s, %.0f samples; after: %zu run%s, %.0f samples\n", c->nr_before,
	       c->nr_before > 1 ? "s" : "", samples_of(o, 0, c->nr_before),
	       c->nr_runs - c->nr_before, c->nr_runs - c->nr_before > 1 ? "s" : "",
	       samples_of(o, c->nr_before, c->nr_runs));
	while ((comment = next_loss(o, &run, &nth))) {
		printf("%s: ", o->runs[run].file);
		text_plain(stdout, comment);
		putchar('\n');
	}
	print_lengths(o);
}

static void print_doubt(const struct compare *o)
{
	if (!compare_knows_runs(&o->c))
		puts("Chance is sampling noise only: runs of one program differ by more. With 3 runs\n"
		     "of each side that counts too: gprofctl compare B1 B2 B3 -- A1 A2 A3");
	else if (o->c.runs_differ)
		puts("Runs differ by more than their samples explain, and are judged by that");
}

static void print_table(struct compare *o)
{
	struct comparison *c = &o->c;
	size_t limit = o->limit ? o->limit : ROWS_MAX, told = 0, shown = 0;

	for (size_t i = 1; i < c->nr; i++)
		told += is_told(&c->rows[i]);
	pager_begin();
	print_head(o);
	printf("%s%9s %9s %9s%s\n", terminal_color(stdout, TERMINAL_BOLD), "before", "after",
	       "change", terminal_color(stdout, TERMINAL_PLAIN));
	if (!c->shares)
		print_row(o, &c->rows[0]);
	for (size_t i = 1; i < c->nr && shown < limit && (o->limit || is_told(&c->rows[i])); i++) {
		print_row(o, &c->rows[i]);
		shown++;
	}
	if (shown < told)
		printf("%zu more differ; -n N shows N\n", told - shown);
	printf("%zu of %zu functions differ by more than chance explains in 19 of 20 comparisons;\n"
	       "change is in %% of the total before\n", told, c->nr - 1);
	print_doubt(o);
}

static void put_row(struct json *j, const struct compare *o, const struct compare_row *r)
{
	json_object(j, NULL);
	if (r->whole)
		json_bool(j, "total", true);
	else
		json_string(j, "function", r->name);
	json_double(j, "before", r->before, 9);
	json_double(j, "after", r->after, 9);
	json_double(j, "change_percent", change_of(o, r->after - r->before), 6);
	if (r->judged)
		json_double(j, "error_percent", change_of(o, r->error), 6);
	json_double(j, "p", r->p, 6);
	json_bool(j, "differs", is_told(r));
	json_bool(j, "fails", grew_too_much(o, r));
	json_end(j);
}

static void print_json(const struct compare *o, size_t failed)
{
	size_t run = 0, nth = 0;
	struct json j = { 0 };
	const char *comment;

	json_open(&j, stdout, "compare");
	json_string(&j, "type", o->runs[0].view.name);
	json_string(&j, "unit", o->c.shares ? "share" : o->runs[0].view.unit);
	json_string(&j, "per", per_words[o->per]);
	json_u64(&j, "runs_before", o->c.nr_before);
	json_u64(&j, "runs_after", o->c.nr_runs - o->c.nr_before);
	json_bool(&j, "sampling_noise_only", !compare_knows_runs(&o->c));
	json_u64(&j, "failed", failed);
	json_array(&j, "rows");
	for (size_t i = o->c.shares; i < o->c.nr; i++)
		put_row(&j, o, &o->c.rows[i]);
	json_end(&j);
	while ((comment = next_loss(o, &run, &nth)))
		json_loss(&j, o->runs[run].file, "%s", comment);
	json_close(&j);
}

/* The sentence that a test of CI ends with. */
static void print_verdict(const struct compare *o, size_t failed, const struct compare_row *worst)
{
	if (o->fail_above < 0)
		return;
	if (!failed) {
		printf("Passed: nothing grew by more than %g%% of the total before, beyond chance\n",
		       o->fail_above);
		return;
	}
	printf("Failed: ");
	text_plain(stdout, worst->name);
	printf(" grew by %.2f +- %.2f%% of the total before",
	       change_of(o, worst->after - worst->before), change_of(o, worst->error));
	if (failed > 1)
		printf(", and %zu more", failed - 1);
	printf("; allowed are %g%%\n", o->fail_above);
}

static int show(struct compare *o)
{
	const struct compare_row *worst = NULL;
	struct comparison *c = &o->c;
	size_t failed = 0;
	int status;

	if (c->nr > 1)
		qsort(&c->rows[1], c->nr - 1, sizeof(*c->rows), by_change);
	for (size_t i = c->shares; i < c->nr; i++) {
		const struct compare_row *r = &c->rows[i];

		if (!grew_too_much(o, r))
			continue;
		failed++;
		/* A function says more than the total. */
		if (!worst || worst->whole)
			worst = r;
	}
	if (o->json) {
		print_json(o, failed);
	} else {
		print_table(o);
		print_verdict(o, failed, worst);
	}
	status = finish_stdout();
	return status == STATUS_OK && failed ? STATUS_GREW : status;
}

/* ---- the command ---- */

static int set_type(void *ctx, const char *value)
{
	((struct compare *)ctx)->type = value;
	return STATUS_OK;
}

static int set_cum(void *ctx, const char *value)
{
	(void)value;
	((struct compare *)ctx)->cum = true;
	return STATUS_OK;
}

static int set_full_names(void *ctx, const char *value)
{
	(void)value;
	((struct compare *)ctx)->full_names = true;
	return STATUS_OK;
}

static int set_symbols(void *ctx, const char *value)
{
	(void)value;
	((struct compare *)ctx)->symbols = true;
	return STATUS_OK;
}

static int set_limit(void *ctx, const char *value)
{
	struct compare *o = ctx;

	if (!parse_count(value, &o->limit) || !o->limit)
		return misused("-n wants a number of rows above 0, not \"%s\"", value);
	return STATUS_OK;
}

static int set_per(void *ctx, const char *value)
{
	for (size_t i = 0; i < ARRAY_SIZE(per_words); i++) {
		if (strcmp(value, per_words[i]))
			continue;
		((struct compare *)ctx)->per = i;
		return STATUS_OK;
	}
	return misused("--per is run, second or share, not \"%s\"", value);
}

static int set_fail_above(void *ctx, const char *value)
{
	struct compare *o = ctx;
	char *end;

	o->fail_above = strtod(value, &end);
	if (end == value || (*end && strcmp(end, "%")) || !(o->fail_above >= 0) ||
	    isinf(o->fail_above))
		return misused("--fail-above wants per cent of the total, such as 2 or 0.5, not \"%s\"",
			       value);
	return STATUS_OK;
}

static const struct option_row option_rows[] = {
	{ 0, "fail-above", "PERCENT", "exit with 3 where a function, or the total, grew by more of the\n"
	  "total before, and by more than chance explains", set_fail_above },
	{ 0, "per", "WHAT", "compare values per run, per second, or as shares (default: run)", set_per },
	{ 0, "type", "TYPE", "values to compare, such as samples or cpu (default: the profile's)",
	  set_type },
	{ 0, "cum", NULL, "compare functions with all that they call", set_cum },
	{ 'n', "rows", "N", "show N rows (default: functions that differ, 25 at most)", set_limit },
	{ 0, "full-names", NULL, "do not shorten long names", set_full_names },
	{ 0, "no-demangle", NULL, "show C++ and Rust functions by their symbols", set_symbols },
	{ 0 },
};

static const struct usage compare_usage = {
	.name = "compare",
	.synopsis = "BEFORE AFTER [OPTIONS] | BEFORE ... -- AFTER ...",
	.text =
"Compares the profiles of a program before and after a change, one of each or\n"
"several, and shows which functions take more or less than chance makes of\n"
"samples. Of 20 comparisons without any difference one shows some, however many\n"
"functions there are.",
	.examples =
"  gprofctl compare before.pb.gz after.pb.gz\n"
"  gprofctl compare old*.pb.gz -- new*.pb.gz      # how much runs differ counts too\n"
"  gprofctl compare old*.pb.gz -- new*.pb.gz --fail-above 2    # a test for CI",
};

static void close_all(struct compare *o)
{
	for (size_t i = 0; i < o->c.nr_runs; i++) {
		functions_free(&o->runs[i].functions);
		functions_free(&o->runs[i].samples);
		sample_filter_free(&o->runs[i].filter);
		view_close(&o->runs[i].view);
	}
	for (size_t i = 0; i < o->c.nr; i++) {
		free(o->c.rows[i].values);
		free(o->c.rows[i].samples);
	}
	free(o->c.rows);
	free(o->runs);
	intern_free(&o->names);
}

static int compare(struct compare *o, char **files)
{
	struct comparison *c = &o->c;
	int status = STATUS_OK;
	double *exposure;

	o->runs = xalloc(c->nr_runs, sizeof(*o->runs));
	row_of(o, "", 0)->whole = true;
	for (size_t i = 0; status == STATUS_OK && i < c->nr_runs; i++) {
		status = open_run(o, &o->runs[i], files[i]);
		if (status == STATUS_OK &&
		    (strcmp(o->runs[i].view.name, o->runs[0].view.name) ||
		     strcmp(o->runs[i].view.unit, o->runs[0].view.unit)))
			status = fail("%s is of %s, and %s of %s: they cannot be compared", files[0],
				      o->runs[0].view.name, files[i], o->runs[i].view.name);
		if (status == STATUS_OK)
			add_run(o, i);
	}
	if (status == STATUS_OK) {
		/* Names stay where they are from here on. */
		for (size_t i = 1, length; i < c->nr; i++)
			c->rows[i].name = intern_key(&o->names, i, &length);
		c->rows[0].name = "the total";
		c->shares = o->per == PER_SHARE;
		exposure = exposures(o);
		c->exposure = exposure;
		if (exposure)
			compare_rows(c);
		status = exposure ? show(o) : STATUS_FAILED;
		free(exposure);
	}
	close_all(o);
	return status;
}

int cmd_compare(int argc, char **argv)
{
	/* In place of "--", behind which getopt() sees no options. */
	static char between[] = "/";
	struct compare o = { .fail_above = -1 };
	const struct option_table tables[] = {
		{ "Options", option_rows, &o },
		{ JSON_TABLE, json_options, &o.json },
		{ 0 }
	};
	int operands, status, nr, before = 0;

	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], "--"))
			argv[i] = between;
	if (!options_parse(&compare_usage, tables, argc, argv, true, &operands, &status))
		return status;
	argv += operands;
	nr = argc - operands;
	while (before < nr && argv[before] != between)
		before++;
	if (before < nr)
		memmove(&argv[before], &argv[before + 1], (--nr - before) * sizeof(*argv));
	else if (nr == 2)
		before = 1;
	if (!before || before == nr)
		return misused("compare wants two profiles, as in gprofctl compare before.pb.gz "
			       "after.pb.gz, or several as in gprofctl compare b1 b2 -- a1 a2");
	o.c.nr_runs = nr;
	o.c.nr_before = before;
	return compare(&o, argv);
}
