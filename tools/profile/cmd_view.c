// SPDX-License-Identifier: GPL-2.0-only
/*
 * gprofctl view: a profile in the browser.
 */
#include "cli/cmd.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calltree.h"
#include "cli/browser.h"
#include "cli/output.h"
#include "cli/diag.h"
#include "flame.h"
#include "name_hint.h"
#include "options_view.h"
#include "page.h"
#include "page_sources.h"
#include "store/store_span.h"

/**
 * struct page_options - the command line
 * @view: common options
 * @diff: of two profiles
 * @store: --store, or NULL
 * @span: its recordings
 * @file: -o
 * @title: --title
 * @with_sources: --source
 * @sources: their directories
 */
struct page_options {
	struct view_options view;
	bool diff;
	const char *store;
	struct store_span span;
	const char *file;
	const char *title;
	bool with_sources;
	struct page_sources sources;
};

static int set_output(void *ctx, const char *value)
{
	((struct page_options *)ctx)->file = value;
	return STATUS_OK;
}

static int set_title(void *ctx, const char *value)
{
	((struct page_options *)ctx)->title = value;
	return STATUS_OK;
}

static int set_store(void *ctx, const char *value)
{
	((struct page_options *)ctx)->store = value;
	return STATUS_OK;
}

static int set_source(void *ctx, const char *value)
{
	struct page_options *o = ctx;

	o->with_sources = true;
	return value ? source_dirs_add(&o->sources.dirs, value) : STATUS_OK;
}

static const struct option_row page_rows[] = {
	{ 'o', "output", "HTML", "write the page here and start no browser; \"-\" is stdout",
	  set_output },
	{ 0, "source", "[=DIR]", "put source and assembly of the 200 hottest functions into the\n"
	  "page, 3 MB at most; DIR is where sources are, too, and may be repeated", set_source },
	{ 0, "title", "TEXT", "title of the page (default: name of the profile)", set_title },
	{ 0, "store", "DIR", "show the recordings that gprofctl push keeps there, of a span of time",
	  set_store },
	{ 0 },
};

static const struct usage page_usage = {
	.name = "view",
	.synopsis = "[OLD] FILE [-o HTML] [OPTIONS] | --store DIR [OPTIONS] | "
		    "[-o HTML] [OPTIONS] [KIND ...] TARGET",
	.text =
"Opens a pprof profile in the browser: flame graph, inverted graph, callers and\n"
"callees of a function (sandwich), table, and filters by process, thread, cgroup\n"
"and CPU. The page is one file, and needs no network. Arrow keys move in a graph,\n"
"Enter zooms, Esc shows the whole, s makes a sandwich, / searches. FILE may be\n"
"\"-\" for stdin.\n"
"\n"
"With OLD, an earlier profile, the graph has the differences: red is more, blue\n"
"is less.\n"
"\n"
"Instead of FILE, a target (-p PID, -a, -- COMMAND, ...) records a profile first.\n"
"All from the name of a KIND, the target, -d, -e or -F on is the command line of\n"
"gprofctl KIND (default: cpu), whose file stays.",
	.examples =
"  gprofctl view -- make -j4              # record into cpu.pb.gz, then open it\n"
"  gprofctl view heap -p 1234 -d 10       # the same of another kind\n"
"  gprofctl view cpu.pb.gz                # in the browser (xdg-open, or $BROWSER)\n"
"  gprofctl view cpu.pb.gz -o cpu.html    # as a file\n"
"  gprofctl view cpu.pb.gz --source       # with source and assembly of functions\n"
"  gprofctl view before.pb.gz after.pb.gz # what a change has cost or saved\n"
"  gprofctl view --store /var/lib/gprof --from -2h --to -1h  # what push has kept",
};

static int write_diff(FILE *f, struct view *v, const char *title)
{
	struct calltree tree;
	int status = calltree_build_diff(&tree, v);

	if (status == STATUS_OK) {
		calltree_report(&tree);
		flame_write_page(f, &tree, v, title);
	}
	calltree_free(&tree);
	return status;
}

static int write_to(FILE *f, struct page_options *o, struct view *v)
{
	return o->diff ? write_diff(f, v, o->title) :
	       page_write(f, v, o->title, o->with_sources ? &o->sources : NULL);
}

static int write_page(struct page_options *o, const char *file, struct view *v)
{
	struct output out;
	int status, error = 0;
	FILE *f;

	if (!strcmp(file, "-")) {
		status = write_to(stdout, o, v);
		return status == STATUS_OK ? finish_stdout() : status;
	}
	status = output_open(&out, file);
	if (status != STATUS_OK)
		return status;
	f = output_stream(&out);
	status = f ? write_to(f, o, v) : STATUS_OK;
	if (!f || fflush(f) || ferror(f))
		error = errno ? errno : EIO;
	if (f)
		fclose(f);
	if (status == STATUS_OK && !error)
		return output_commit(&out);
	output_discard(&out);
	return error ? fail("%s could not be written: %s", file, strerror(error)) : status;
}

/**
 * struct shown - for browser_show()
 * @o: the command line
 * @v: the profile
 */
struct shown {
	struct page_options *o;
	struct view *v;
};

static int write_shown(void *ctx, const char *path)
{
	struct shown *s = ctx;

	return write_page(s->o, path, s->v);
}

static int show(struct page_options *o, struct view *v)
{
	struct shown s = { o, v };

	return o->file ? write_page(o, o->file, v) : browser_show("view", write_shown, &s);
}

/* The recordings of a span of time, as one profile. */
static int open_store(struct page_options *o, struct view *v)
{
	struct time_range_sum sum;
	struct time_range range;
	struct store_dir dir;
	int status = store_span_open(&o->span, o->store, 0, &dir, &range);

	if (status != STATUS_OK)
		return status;
	range.times = true;
	status = time_range_merge(&range, o->span.service, &sum);
	if (status == STATUS_OK && !sum.merged)
		status = fail("no recording of %s can be read", o->store);
	if (status == STATUS_OK) {
		diag("%s: %zu recordings, %.1f s%s", o->store, sum.used, (double)sum.ns / 1e9,
		     sum.damaged ? ", without those that are damaged" : "");
		status = view_of_with(v, sum.merged, o->store, &o->view);
	}
	time_range_free(&range);
	store_dir_close(&dir);
	return status;
}

static int open_profile(struct page_options *o, struct view *v, char **files, int nr)
{
	if (o->store && nr)
		return misused("--store has what the page shows, and leaves nothing for %s", files[0]);
	if (o->store && o->with_sources)
		return misused("--source is for the profile of one file, and --store has many");
	if (o->store)
		return open_store(o, v);
	if (store_span_given(&o->span))
		return misused("--from, --to, --kind and --service are about the recordings of --store "
			       "DIR");
	o->diff = nr == 2;
	if (nr != 1 && !o->diff)
		return misused("view wants one profile, as in gprofctl view cpu.pb.gz, two to "
			       "compare, or --store DIR");
	if (o->diff && o->with_sources)
		return misused("--source is for one profile: the page of a difference has no place for "
			       "it");
	o->sources.profile = files[0];
	return o->diff ? view_open_diff_with(v, files[0], files[1], &o->view) :
			 view_open_with(v, files[0], &o->view);
}

int cmd_view(int argc, char **argv)
{
	struct page_options o = { 0 };
	const struct option_table tables[] = {
		{ "Options", page_rows, &o },
		{ "The profile", view_options, &o.view },
		{ "Which recordings of a store", store_span_kind_options, &o.span },
		{ "What to show", sample_filter_by_options, &o.view.filter },
		{ "Which samples", sample_filter_options, &o.view.filter },
		{ 0 }
	};
	struct view v;
	int operands, status;
	char *title, *hint = NULL;

	if (!options_parse(&page_usage, tables, argc, argv, true, &operands, &status))
		return status;
	status = open_profile(&o, &v, argv + operands, argc - operands);
	if (status != STATUS_OK)
		return status;
	title = o.diff ? xprintf("%s -> %s", argv[operands], argv[operands + 1]) :
			 xprintf("%s", o.store ? o.store : basename(argv[operands]));
	if (!o.title)
		o.title = title;
	/* A page is made of samples that are not kept. */
	if (!o.diff && !o.store)
		hint = name_hint(&v, argv[operands]);
	status = show(&o, &v);
	if (status == STATUS_OK && hint)
		diag("%s", hint);
	page_sources_free(&o.sources);
	free(hint);
	free(title);
	sample_filter_free(&o.view.filter);
	view_close(&v);
	return status;
}
