// SPDX-License-Identifier: GPL-2.0-only
/*
 * gprofctl top: the functions of a profile, by their own share (flat) or with all that they call
 * (cum). Functions are told apart by name, as go tool pprof does.
 */
#include "cli/cmd.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/unnamed.h"
#include "cli/options.h"
#include "cli/diag.h"
#include "cli/json.h"
#include "cli/pager.h"
#include "cli/terminal.h"
#include "cli/text.h"
#include "functions.h"
#include "name_hint.h"
#include "ratio.h"
#include "top.h"
#include "view.h"

/* Functions with less than this share are not shown unless -n asks for more. */
#define SMALL_SHARE	0.005

/* A sample that weighs more than this part of all is told of. */
#define HEAVY_PART	20

#define ROWS_MAX	25	/* that are shown unless -n asks for more */

#define NUMBER_COLUMNS	45	/* before it */

static int compare(const void *pa, const void *pb, void *ctx)
{
	const struct function *a = pa, *b = pb;
	const struct top *t = ctx;
	int64_t a1 = view_size(t->cum ? a->cum : a->flat), b1 = view_size(t->cum ? b->cum : b->flat);
	int64_t a2 = view_size(t->cum ? a->flat : a->cum), b2 = view_size(t->cum ? b->flat : b->cum);

	if (a1 != b1)
		return a1 > b1 ? -1 : 1;
	if (a2 != b2)
		return a2 > b2 ? -1 : 1;
	return strcmp(functions_name(&t->functions, a), functions_name(&t->functions, b));
}

/* Comments of every recording, where all is well. */
static bool is_common(const char *comment)
{
	double complete;

	return !strncmp(comment, "gprof ", 6) || !strncmp(comment, "target: ", 8) ||
	       !strncmp(comment, "kernel: ", 8) ||
	       (!strncmp(comment, "samples: ", 9) && strstr(comment, " lost=0 overwritten=0")) ||
	       (strstr(comment, " user stacks are complete") &&
		sscanf(comment, "%lf %% of ", &complete) == 1 && complete >= 99);
}

void top_comments(const struct top *t)
{
	const char *comment;

	for (size_t i = 0; (comment = gprof_profile_comment(t->view.profile, i)); i++) {
		if (!t->verbose && is_common(comment))
			continue;
		fputs("Comment: ", stdout);
		text_plain(stdout, comment);
		putchar('\n');
	}
}

static void print_header(const struct top *t)
{
	const struct view *v = &t->view;
	char text[VIEW_TEXT_MAX], lasted[HUMAN_MAX];
	double seconds = view_duration(v);

	printf("Type: %s\n", v->name);
	if (*view_time(v, text))
		printf("Time: %s\n", text);
	if (seconds)
		printf("Duration: %s, Total = %s", human(seconds, "seconds", lasted),
		       view_value(v, v->total, text));
	else
		printf("Total = %s", view_value(v, v->total, text));
	/* For CPU time, how busy that was: above 100 % on several CPUs. */
	if (seconds && !strcmp(v->unit, "nanoseconds"))
		printf(" (%.2f%%)", v->total / 1e7 / seconds);
	putchar('\n');
	top_comments(t);
}

/* On a terminal no line is wider than that; a pipe's reader gets whole names. */
static size_t label_columns(const struct top *t)
{
	size_t columns = terminal_columns(stdout);

	if (t->full_names)
		return SIZE_MAX;
	if (!columns || columns > NUMBER_COLUMNS + FUNCTION_COLUMNS + MODULE_TEXT_MAX)
		return FUNCTION_COLUMNS + MODULE_TEXT_MAX;
	return (columns < TERMINAL_COLUMNS ? TERMINAL_COLUMNS : columns) - NUMBER_COLUMNS;
}

static void print_row(const struct top *t, const struct function *f, int64_t sum)
{
	const struct view *v = &t->view;
	const char *inlined = !f->inlined ? "" : !f->plain ? " (inline)" : " (partial-inline)";
	char flat[VIEW_TEXT_MAX], cum[VIEW_TEXT_MAX];
	char *label = functions_label(&t->functions, f, inlined, t->filter.group.how == GROUP_NONE,
				      label_columns(t));

	printf("%9s %s%6.2f%%%s %6.2f%% %9s %6.2f%%  ", view_value(v, f->flat, flat),
	       terminal_color(stdout, terminal_heat(view_percent(v, f->flat))),
	       view_percent(v, f->flat), terminal_color(stdout, TERMINAL_PLAIN),
	       view_percent(v, sum), view_value(v, f->cum, cum), view_percent(v, f->cum));
	text_plain(stdout, label);
	putchar('\n');
	free(label);
}

/* "[sleep]" and the like, which is no code: a frame of no file that is not unknown either. */
static bool is_made_up(const struct function *f, const char *name)
{
	return *name == '[' && !*f->mapping && !strstr(name, "unknown") && strcmp(name, "[unnamed]");
}

/* In code without names. */
static int64_t unnamed_of(const struct functions *fs)
{
	int64_t unnamed = 0;

	for (size_t i = 0; i < fs->nr; i++) {
		const char *name = functions_name(fs, &fs->all[i]);

		if (gprof_is_unnamed(name) && !is_made_up(&fs->all[i], name))
			unnamed = view_sum(unnamed, fs->all[i].flat);
	}
	return unnamed;
}

void top_json(const struct top *t, const char *command, const char *file,
	      void (*head)(struct json *j, void *ctx),
	      void (*row)(struct json *j, void *ctx, const char *name), void *ctx)
{
	const struct functions *fs = &t->functions;
	const struct view *v = &t->view;
	int64_t start = 0, duration = 0;
	const char *comment;
	struct json j;

	view_json_open(&j, v, command);
	gprof_profile_time(v->profile, &start, &duration);
	json_s64(&j, "start_ns", start);
	json_s64(&j, "duration_ns", duration);
	json_array(&j, "comments");
	for (size_t i = 0; (comment = gprof_profile_comment(v->profile, i)); i++)
		json_string(&j, NULL, comment);
	json_end(&j);
	json_string(&j, "by", group_title(&t->filter.group));
	view_json_value(&j, v, "unnamed", unnamed_of(fs));
	if (fs->counted > 0)
		view_json_value(&j, v, "heaviest_sample", fs->heaviest);
	if (head)
		head(&j, ctx);
	json_array(&j, "rows");
	for (size_t i = 0; i < fs->nr; i++) {
		const struct function *f = &fs->all[i];

		json_object(&j, NULL);
		if (t->filter.group.how == GROUP_NONE) {
			functions_json(&j, fs, f);
			json_bool(&j, "inlined", f->inlined);
		} else {
			json_string(&j, "name", functions_name(fs, f));
		}
		view_json_value(&j, v, "flat", f->flat);
		view_json_value(&j, v, "cum", f->cum);
		if (row)
			row(&j, ctx, functions_name(fs, f));
		json_end(&j);
	}
	json_end(&j);
	view_json_close(&j, v, file);
}

static void print_table(struct top *t)
{
	struct functions *fs = &t->functions;
	const struct view *v = &t->view;
	const char *title = group_title(&t->filter.group);
	int64_t shown = 0, sum = 0, unnamed = unnamed_of(fs);
	size_t nr = 0, limit = t->limit ? t->limit : ROWS_MAX;

	/* Rows to show move to the front, in order. */
	for (size_t i = 0; i < fs->nr && nr < limit; i++) {
		const struct function *f = &fs->all[i];

		if (!t->limit && view_size(f->cum) < SMALL_SHARE * view_size(v->total))
			continue;
		shown = view_sum(shown, f->flat);
		fs->all[nr++] = *f;
	}
	printf("Showing %zu of %zu %s, %.2f%% of the total", nr, fs->nr, title,
	       view_percent(v, shown));
	puts(nr < fs->nr ? "; -n N shows N" : "");
	if (view_size(unnamed) >= SMALL_SHARE * view_size(v->total) && unnamed)
		printf("%.2f%% are in code without names, shown as FILE+0xADDRESS or [FILE]; debug\n"
		       "symbols name it, where no reason stands beside it\n",
		       view_percent(v, unnamed));
	if (fs->counted > 0 && fs->heaviest > v->total / HEAVY_PART)
		printf("One sample weighs up to %.2f%% of the total (%" PRId64 " samples): shares are "
		       "no surer\nthan that; a longer recording or a higher rate makes them so\n",
		       view_percent(v, fs->heaviest), fs->counted);
	printf("%s%9s %7s %7s %9s %7s%s\n", terminal_color(stdout, TERMINAL_BOLD), "flat", "flat%",
	       "sum%", "cum", "cum%", terminal_color(stdout, TERMINAL_PLAIN));
	for (size_t i = 0; i < nr; i++) {
		sum = view_sum(sum, fs->all[i].flat);
		print_row(t, &fs->all[i], sum);
	}
}

static int set_type(void *ctx, const char *value)
{
	((struct top *)ctx)->type = value;
	return STATUS_OK;
}

static int set_cum(void *ctx, const char *value)
{
	(void)value;
	((struct top *)ctx)->cum = true;
	return STATUS_OK;
}

static int set_full_names(void *ctx, const char *value)
{
	(void)value;
	((struct top *)ctx)->full_names = true;
	return STATUS_OK;
}

static int set_symbols(void *ctx, const char *value)
{
	(void)value;
	((struct top *)ctx)->symbols = true;
	return STATUS_OK;
}

static int set_verbose(void *ctx, const char *value)
{
	(void)value;
	((struct top *)ctx)->verbose = true;
	return STATUS_OK;
}

static int set_limit(void *ctx, const char *value)
{
	struct top *t = ctx;

	if (!parse_count(value, &t->limit) || !t->limit)
		return misused("-n wants a number of rows above 0, not \"%s\"", value);
	return STATUS_OK;
}

static int set_ratio(void *ctx, const char *value)
{
	((struct top *)ctx)->ratio = value;
	return STATUS_OK;
}

static const struct option_row ratio_rows[] = {
	{ 0, "ratio", "A/B", "for each function the value of profile A divided by that of B, such\n"
	  "as misses.pb.gz/references.pb.gz", set_ratio },
	{ 0 },
};

const struct option_row top_rows[] = {
	{ 0, "type", "TYPE", "values to show, such as samples or cpu (default: the profile's)",
	  set_type },
	{ 0, "cum", NULL, "sort by cum", set_cum },
	{ 'n', "rows", "N", "show N rows (default: 25, without functions below 0.5 %)", set_limit },
	{ 'v', "verbose", NULL, "show what the profile says of its recording", set_verbose },
	{ 0, "full-names", NULL, "do not shorten long names", set_full_names },
	{ 0, "no-demangle", NULL, "show C++ and Rust functions by their symbols", set_symbols },
	{ 0 },
};

static const struct usage top_usage = {
	.name = "top",
	.synopsis = "FILE [OPTIONS] | [OPTIONS] [KIND ...] TARGET | --ratio A/B",
	.text =
"Shows the functions of a pprof profile as a table, like go tool pprof -top:\n"
"flat is what a function takes itself, cum includes all that it calls, sum% adds\n"
"up flat%. FILE may be \"-\" for stdin, and from any tool that writes pprof.\n"
"\n"
"With --ratio: the number of A for one of B, for each function, and its random\n"
"error: two times in three no more than the share behind it.",
	.examples =
"  gprofctl top cpu.pb.gz              # functions, by their time\n"
"  gprofctl top cpu.pb.gz --cum -n 20  # with all that they call\n"
"  gprofctl top cpu.pb.gz --by process # by process\n"
"  gprofctl top cpu.pb.gz --comm make --ignore '^_*x64_sys'\n"
"  gprofctl top --ratio misses.pb.gz/references.pb.gz",
};

int top_collect(struct top *t)
{
	int status;

	gprof_profile_system_names(t->view.profile, t->symbols);
	t->view.filter = &t->filter;
	t->filter.group.rows = true;
	status = functions_of(&t->functions, &t->view);
	if (status == STATUS_OK && t->functions.nr)
		qsort_r(t->functions.all, t->functions.nr, sizeof(*t->functions.all), compare, t);
	return status;
}

void top_print(struct top *t, const char *file)
{
	char *hint;

	pager_begin();
	print_header(t);
	print_table(t);
	hint = file ? name_hint(&t->view, file) : NULL;
	if (hint)
		puts(hint);
	free(hint);
}

void top_free(struct top *t)
{
	view_close(&t->view);
	functions_free(&t->functions);
	sample_filter_free(&t->filter);
}

static int show(struct top *t, const char *file)
{
	int status = top_collect(t);

	if (status == STATUS_OK && t->json)
		top_json(t, "top", file, NULL, NULL, NULL);
	else if (status == STATUS_OK)
		top_print(t, file);
	if (status == STATUS_OK)
		status = finish_stdout();
	top_free(t);
	return status;
}

int cmd_top(int argc, char **argv)
{
	struct top t = { 0 };
	const struct option_table tables[] = {
		{ "Options", top_rows, &t },
		{ "What to show", sample_filter_by_options, &t.filter },
		{ "Which samples", sample_filter_options, &t.filter },
		{ "Two profiles", ratio_rows, &t },
		{ JSON_TABLE, json_options, &t.json },
		{ 0 }
	};
	int operands, status;

	if (!options_parse(&top_usage, tables, argc, argv, true, &operands, &status))
		return status;
	if (t.ratio && (t.filter.focus.text || t.filter.ignore.text || t.filter.hide.text ||
			t.filter.nr_labels || t.filter.group.how != GROUP_NONE))
		return misused("--ratio shows all of both profiles: it goes with no filter and no --by");
	if (t.ratio && argc == operands)
		return ratio(t.ratio, &(struct ratio_opts){ t.type, t.cum, t.limit, t.full_names, t.json });
	if (t.ratio)
		return misused("--ratio has both profiles, and leaves none for %s", argv[operands]);
	if (argc - operands != 1)
		return misused("top wants one profile, as in gprofctl top cpu.pb.gz");
	status = view_open(&t.view, argv[operands], t.type);
	return status == STATUS_OK ? show(&t, argv[operands]) : status;
}
