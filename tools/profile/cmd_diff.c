// SPDX-License-Identifier: GPL-2.0-only
/*
 * gprofctl diff: two profiles beside each other, function by function, with the changes that are
 * more than noise first.
 */
#include "cli/cmd.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calltree.h"
#include "cli/diag.h"
#include "cli/human.h"
#include "cli/json.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/pager.h"
#include "compare_table.h"
#include "flame.h"
#include "top.h"
#include "view.h"

/**
 * struct diff - the command
 * @top: options of the table, and the rows of what is left
 * @file: -o
 * @subtract: --subtract
 * @table: both profiles
 * @whole: all of OLD and of NEW, filtered or not
 */
struct diff {
	struct top top;
	const char *file;
	bool subtract;
	struct compare_table table;
	double whole[2];
};

static int set_output(void *ctx, const char *value)
{
	((struct diff *)ctx)->file = value;
	return STATUS_OK;
}

static int set_subtract(void *ctx, const char *value)
{
	(void)value;
	((struct diff *)ctx)->subtract = true;
	return STATUS_OK;
}

static const struct option_row diff_rows[] = {
	{ 'o', "output", "FILE", "write the difference too: as a differential flame graph if FILE\n"
	  "ends in .svg or .html, else as a profile; \"-\" is stdout, without the table",
	  set_output },
	{ 0, "subtract", NULL, "subtract OLD, an earlier profile of the same run; shares are of\n"
	  "the rest", set_subtract },
	{ 0 },
};

static const struct usage diff_usage = {
	.name = "diff",
	.synopsis = "OLD NEW [OPTIONS]",
	.text =
"Shows the functions that take more or less in NEW than in OLD, beyond noise: the\n"
"values of both, and the change of their share and of their values per second, in\n"
"% of OLD's total. --json has the numbers of go tool pprof -diff_base too, and\n"
"--subtract shows the table of -base.",
	.examples =
"  gprofctl diff before.pb.gz after.pb.gz         # what a change has cost or saved\n"
"  gprofctl diff a.pb.gz b.pb.gz -o diff.svg      # red is more, blue is less\n"
"  gprofctl diff a.pb.gz b.pb.gz -o diff.pb.gz    # for go tool pprof diff.pb.gz",
};

static bool ends_with(const char *s, const char *end)
{
	size_t n = strlen(s), m = strlen(end);

	return n > m && !strcmp(s + n - m, end);
}

static int write_picture(struct view *v, const char *file, const char *title)
{
	struct calltree tree;
	struct output out;
	int status = calltree_build_diff(&tree, v), error = 0;
	FILE *f = NULL;

	if (status == STATUS_OK)
		status = output_open(&out, file);
	if (status != STATUS_OK)
		goto out_free;
	f = output_stream(&out);
	if (f && ends_with(file, ".html"))
		flame_write_page(f, &tree, v, title);
	else if (f)
		flame_write(f, &tree, v, title);
	if (!f || fflush(f) || ferror(f))
		error = errno ? errno : EIO;
	if (f)
		fclose(f);
	if (!error) {
		calltree_report(&tree);
		status = output_commit(&out);
	} else {
		output_discard(&out);
		status = fail("%s could not be written: %s", file, strerror(error));
	}
out_free:
	calltree_free(&tree);
	return status;
}

static int write_profile(const struct gprof_profile *p, const char *file)
{
	struct output out;
	int err, status = output_open(&out, file);

	if (status != STATUS_OK)
		return status;
	err = gprof_profile_write(p, out.fd);
	if (!err)
		return output_commit(&out);
	output_discard(&out);
	return fail("%s cannot be written: %s", file, strerror(-err));
}

/* ---- the table ---- */

static void add_sides(struct diff *d)
{
	const struct view *v = &d->top.view;
	struct gprof_profile_stack s;

	for (size_t i = 0; !gprof_profile_stack(v->profile, i, &s); i++)
		d->whole[!view_is_base(v, s.labels)] += fabs((double)s.values[v->type]);
}

static void measure(struct diff *d)
{
	const struct view *v = &d->top.view;
	double *share = xalloc(2, sizeof(*share)), *time = xalloc(2, sizeof(*time));
	bool timed = v->old_ns > 0 && v->new_ns > 0;

	time[0] = timed ? (double)v->old_ns / 1e9 : 1;
	time[1] = timed ? (double)v->new_ns / 1e9 : 1;
	memcpy(share, d->whole, sizeof(d->whole));
	if (share[0] <= 0 || share[1] <= 0) {
		free(share);
		free(time);
		return;
	}
	compare_table_measure(&d->table, "share", share, true, 0);
	compare_table_measure(&d->table, timed ? "per second" : "value", time, false,
			      share[0] / time[0]);
}

/* Of both profiles, as they were. */
static int collect(struct diff *d)
{
	static const enum functions_side sides[] = { FUNCTIONS_BASE, FUNCTIONS_NEW };
	struct functions values[2] = { 0 }, samples[2] = { 0 };
	struct view *v = &d->top.view;
	int status = STATUS_OK;
	bool counted = true;

	for (int i = 0; i < 2 && status == STATUS_OK; i++) {
		status = functions_counted(&values[i], &samples[i], v, sides[i]);
		counted &= values[i].counted >= 0;
	}
	for (int i = 0; i < 2; i++) {
		/* Values below 0 are of no samples. */
		if (!counted)
			functions_free(&samples[i]);
		if (status == STATUS_OK)
			compare_table_add(&d->table, (size_t)i, &values[i], &samples[i], d->top.cum);
		functions_free(&values[i]);
		functions_free(&samples[i]);
	}
	if (status == STATUS_OK) {
		add_sides(d);
		measure(d);
		compare_table_judge(&d->table);
	}
	return status;
}

static void print_side(const struct diff *d, const char *word, size_t side)
{
	double shown = d->table.rows[0].values[side];
	double samples = compare_table_samples(&d->table, side, side + 1);
	int64_t ns = side ? d->top.view.new_ns : d->top.view.old_ns;
	const char *unit = d->top.view.unit;
	char text[HUMAN_MAX];

	printf("%s: %s", word, human(shown, unit, text));
	if (shown != d->whole[side])
		printf(" of %s", human(d->whole[side], unit, text));
	if (samples > 0)
		printf(", %.0f sample%s", samples, samples > 1 ? "s" : "");
	if (ns > 0)
		printf(", %s recorded", human_ns(ns, text));
	putchar('\n');
}

static void print_table(struct diff *d)
{
	pager_begin();
	printf("Type: %s%s\n", d->top.view.name, d->top.cum ? " with callees" : "");
	print_side(d, "Old", 0);
	print_side(d, "New", 1);
	top_comments(&d->top);
	compare_table_print(&d->table, group_title(&d->top.filter.group));
}

static void put_side(struct json *j, const struct diff *d, const char *key, size_t side)
{
	json_object(j, key);
	json_double(j, "total", d->whole[side], JSON_EXACT);
	json_s64(j, "duration_ns", side ? d->top.view.new_ns : d->top.view.old_ns);
	json_double(j, "samples", compare_table_samples(&d->table, side, side + 1),
		    JSON_EXACT);
	json_end(j);
}

static void put_head(struct json *j, void *ctx)
{
	put_side(j, ctx, "old", 0);
	put_side(j, ctx, "new", 1);
	json_bool(j, "intervals", ((struct diff *)ctx)->table.counted);
}

static void put_row(struct json *j, void *ctx, const char *name)
{
	static const char *const keys[] = { "share", "rate" };
	struct compare_table *t = &((struct diff *)ctx)->table;
	const struct compare_row *r = compare_table_row(t, COMPARE_MEASURES, name);
	bool differs = false;

	json_double(j, "old", r->values[0], JSON_EXACT);
	json_double(j, "new", r->values[1], JSON_EXACT);
	for (size_t m = 0; m < t->nr_measures; m++) {
		const struct compare_measure *by = &t->measures[m];

		r = compare_table_row(t, m, name);
		differs |= compare_differs(r);
		json_object(j, keys[m]);
		json_double(j, "change_percent", compare_table_percent(by, r->after - r->before), 6);
		if (r->judged)
			json_double(j, "error_percent", compare_table_percent(by, r->error), 6);
		json_double(j, "p", r->p, 6);
		json_end(j);
	}
	json_bool(j, "differs", differs);
}

/* Both profiles beside each other; the rest of one by another is a profile, and shown as such. */
static int show(struct diff *d)
{
	struct top *t = &d->top;
	int status = top_collect(t);

	if (status == STATUS_OK && !d->subtract)
		status = collect(d);
	if (status != STATUS_OK)
		return status;
	if (t->json && d->subtract)
		top_json(t, "diff", NULL, NULL, NULL, NULL);
	else if (t->json)
		top_json(t, "diff", NULL, put_head, put_row, d);
	else if (d->subtract)
		top_print(t, NULL);
	else
		print_table(d);
	return finish_stdout();
}

/* ---- the command ---- */

static int diff(struct diff *d, char **files)
{
	struct top *t = &d->top;
	int status = view_open_diff(&t->view, files[0], files[1], t->type,
				    d->subtract ? GPROF_DIFF_SUBTRACT : 0);

	if (status != STATUS_OK)
		return status;
	t->view.filter = &t->filter;
	d->table.unit = t->view.unit;
	d->table.limit = t->limit;
	d->table.full_names = t->full_names;
	if (d->file && (ends_with(d->file, ".svg") || ends_with(d->file, ".html"))) {
		char *title = xprintf("%s -> %s", files[0], files[1]);

		status = d->subtract ?
			 misused("-o %s draws both profiles, and --subtract leaves one", d->file) :
			 write_picture(&t->view, d->file, title);
		free(title);
	} else if (d->file) {
		status = write_profile(t->view.profile, d->file);
	}
	if (status == STATUS_OK && !(d->file && !strcmp(d->file, "-")))
		status = show(d);
	return status;
}

int cmd_diff(int argc, char **argv)
{
	struct diff d = {
		.table = {
			.sides = { "old", "new" }, .whole = "the old total", .values = true,
			.nr_before = 1, .nr_runs = 2,
		},
	};
	const struct option_table tables[] = {
		{ "Options", diff_rows, &d },
		{ "The table", top_rows, &d.top },
		{ JSON_TABLE, json_options, &d.top.json },
		{ "What to show", sample_filter_by_options, &d.top.filter },
		{ "Which samples", sample_filter_options, &d.top.filter },
		{ 0 }
	};
	int operands, status;

	if (!options_parse(&diff_usage, tables, argc, argv, true, &operands, &status))
		return status;
	if (argc - operands != 2)
		return misused("diff wants two profiles, as in gprofctl diff old.pb.gz new.pb.gz");
	status = diff(&d, argv + operands);
	top_free(&d.top);
	compare_table_free(&d.table);
	return status;
}
