// SPDX-License-Identifier: GPL-2.0-only
/*
 * gprofctl flame: a profile as a picture.
 */
#include "cli/cmd.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "calltree.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/diag.h"
#include "flame.h"
#include "view.h"

/**
 * struct flame_options - the command line
 * @file: -o
 * @type: --type
 * @title: --title
 * @filter: chosen samples, and --by
 * @symbols: --no-demangle
 */
struct flame_options {
	const char *file;
	const char *type;
	const char *title;
	struct sample_filter filter;
	bool symbols;
};

static int set_output(void *ctx, const char *value)
{
	((struct flame_options *)ctx)->file = value;
	return STATUS_OK;
}

static int set_type(void *ctx, const char *value)
{
	((struct flame_options *)ctx)->type = value;
	return STATUS_OK;
}

static int set_title(void *ctx, const char *value)
{
	((struct flame_options *)ctx)->title = value;
	return STATUS_OK;
}

static int set_symbols(void *ctx, const char *value)
{
	(void)value;
	((struct flame_options *)ctx)->symbols = true;
	return STATUS_OK;
}

static const struct option_row flame_rows[] = {
	{ 'o', "output", "SVG", "the picture; \"-\" is stdout", set_output },
	{ 0, "type", "TYPE", "values to show, such as samples or cpu (default: the profile's)",
	  set_type },
	{ 0, "title", "TEXT", "title of the picture (default: name of the profile)", set_title },
	{ 0, "no-demangle", NULL, "name C++ and Rust functions by their symbols", set_symbols },
	{ 0 },
};

static const struct usage flame_usage = {
	.name = "flame",
	.synopsis = "FILE -o SVG [OPTIONS] | -o SVG [OPTIONS] [KIND ...] TARGET",
	.text =
"Draws a pprof profile as a flame graph: callers above, what they call below,\n"
"each as wide as its share. A browser opens it: point at a frame for its full\n"
"name and numbers, click to zoom in, Ctrl-F to search (the share of all matches\n"
"is shown), Esc for the whole picture. FILE may be \"-\" for stdin.",
	.examples =
"  gprofctl flame cpu.pb.gz -o cpu.svg\n"
"  gprofctl flame cpu.pb.gz -o cpu.svg --type samples --title \"build, 4 jobs\"",
};

static int write_picture(const struct flame_options *o, const struct calltree *tree,
			 const struct view *view)
{
	struct output out;
	FILE *f;
	int status = output_open(&out, o->file);
	int error = 0;

	if (status != STATUS_OK)
		return status;
	f = output_stream(&out);
	if (!f) {
		error = errno;
	} else {
		flame_write(f, tree, view, o->title);
		if (ferror(f))
			error = errno ? errno : EIO;
		if (fclose(f) && !error)
			error = errno;
	}
	if (error) {
		output_discard(&out);
		return fail("%s could not be written: %s", o->file, strerror(error));
	}
	return output_commit(&out);
}

int cmd_flame(int argc, char **argv)
{
	struct flame_options o = { 0 };
	const struct option_table tables[] = {
		{ "Options", flame_rows, &o },
		{ "What to show", sample_filter_by_options, &o.filter },
		{ "Which samples", sample_filter_options, &o.filter },
		{ 0 }
	};
	struct calltree tree;
	struct view view;
	int operands, status;

	if (!options_parse(&flame_usage, tables, argc, argv, true, &operands, &status))
		return status;
	if (argc - operands != 1 || !o.file)
		return misused("flame wants one profile and an output, as in "
			       "gprofctl flame cpu.pb.gz -o cpu.svg");
	status = view_open(&view, argv[operands], o.type);
	if (status != STATUS_OK)
		return status;
	gprof_profile_system_names(view.profile, o.symbols);
	view.filter = &o.filter;
	if (!o.title)
		o.title = basename(argv[operands]);
	status = calltree_build(&tree, &view);
	if (status == STATUS_OK) {
		if (!tree.nodes[0].total)
			diag("the profile has no %s above 0: the picture is empty", view.name);
		calltree_report(&tree);
		status = write_picture(&o, &tree, &view);
	}
	calltree_free(&tree);
	sample_filter_free(&o.filter);
	view_close(&view);
	return status;
}
