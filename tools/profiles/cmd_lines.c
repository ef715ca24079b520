// SPDX-License-Identifier: GPL-2.0-only
/*
 * gprofctl collapsed: a line for each stack, as flame graph tools take them.
 * gprofctl csv: a line for each function, for a table of whatever kind.
 */
#include "../cmd.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../calltree.h"
#include "../functions.h"
#include "../output.h"
#include "../say.h"
#include "../text.h"
#include "options_view.h"

/**
 * struct lines_options - the command line
 * @view: what all views take
 * @file: -o, "-" when absent
 */
struct lines_options {
	struct view_options view;
	const char *file;
};

static int set_output(void *ctx, const char *value)
{
	((struct lines_options *)ctx)->file = value;
	return STATUS_OK;
}

static const struct option_row lines_rows[] = {
	{ 'o', "output", "FILE", "where to write (default: stdout)", set_output },
	{ 0 },
};

/* A name is one word of the format: nothing in it may end it, or be obeyed by a terminal. */
static void put_name(FILE *f, const char *name)
{
	for (const char *p = name; *p;) {
		uint32_t c = text_next(&p);

		text_put(f, c == ';' ? ':' : c < ' ' || c == 0x7f ? '?' : c);
	}
}

static void put_stack(FILE *f, const struct calltree *t, uint32_t node)
{
	uint32_t path[CALLTREE_DEPTH_MAX + 1], nr = 0;
	static const char *const marks[] = { "", "_[k]", "_[i]" };

	for (uint32_t i = node; t->nodes[i].parent != CALLTREE_NONE; i = t->nodes[i].parent)
		path[nr++] = i;
	for (uint32_t i = nr; i-- > 0;) {
		const char *function, *mapping;
		enum frame_kind kind = calltree_frame(t, t->nodes[path[i]].frame, &function,
						      &mapping);

		put_name(f, function);
		fputs(marks[kind], f);
		putc(i ? ';' : ' ', f);
	}
	fprintf(f, "%" PRId64 "\n", t->nodes[node].self);
}

static int write_collapsed(FILE *f, const struct view *v)
{
	struct calltree tree;
	int status = calltree_build(&tree, v);

	if (status == STATUS_OK) {
		for (uint32_t i = calltree_walk(&tree, 0); i != CALLTREE_NONE;
		     i = calltree_walk(&tree, i))
			if (tree.nodes[i].self)
				put_stack(f, &tree, i);
		calltree_tell(&tree);
	}
	calltree_free(&tree);
	return status;
}

/* In quotes where it has to be; what a terminal or a table would obey is not let through. */
static void put_field(FILE *f, const char *text)
{
	bool quoted = strpbrk(text, ",\"\n\r");

	if (quoted)
		putc('"', f);
	for (const char *p = text; *p;) {
		uint32_t c = text_next(&p);

		if (c == '"')
			putc('"', f);
		text_put(f, c < ' ' || c == 0x7f ? '?' : c);
	}
	if (quoted)
		putc('"', f);
}

static int by_flat(const void *pa, const void *pb, void *ctx)
{
	const struct function *a = pa, *b = pb;

	if (a->flat != b->flat)
		return view_size(a->flat) > view_size(b->flat) ? -1 : 1;
	if (a->cum != b->cum)
		return view_size(a->cum) > view_size(b->cum) ? -1 : 1;
	return strcmp(functions_name(ctx, a), functions_name(ctx, b));
}

static int write_csv(FILE *f, const struct view *v)
{
	static const char *const kinds[] = { "user", "kernel", "inlined" };
	struct functions fs = { 0 };
	int status = functions_of(&fs, v);

	if (status == STATUS_OK && fs.nr)
		qsort_r(fs.all, fs.nr, sizeof(*fs.all), by_flat, &fs);
	if (status == STATUS_OK) {
		fputs("name,module,kind,flat_", f);
		put_name(f, v->unit);
		fputs(",flat_percent,cum_", f);
		put_name(f, v->unit);
		fputs(",cum_percent\n", f);
	}
	for (size_t i = 0; status == STATUS_OK && i < fs.nr; i++) {
		const struct function *one = &fs.all[i];
		char module[MODULE_TEXT_MAX];

		put_field(f, functions_name(&fs, one));
		putc(',', f);
		put_field(f, module_text(one->kind, one->mapping, module));
		fprintf(f, ",%s,%" PRId64 ",%.4f,%" PRId64 ",%.4f\n", kinds[one->kind], one->flat,
			view_percent(v, one->flat), one->cum, view_percent(v, one->cum));
	}
	functions_free(&fs);
	return status;
}

/* To stdout as it comes; to a file, which is there when it is whole. */
static int write_to(const char *file, int (*write)(FILE *f, const struct view *v),
		    const struct view *v)
{
	struct output out;
	int status, error = 0;
	FILE *f;

	if (!strcmp(file, "-")) {
		status = write(stdout, v);
		return status == STATUS_OK ? finish_stdout() : status;
	}
	status = output_open(&out, file);
	if (status != STATUS_OK)
		return status;
	f = fdopen(dup(out.fd), "w");
	status = f ? write(f, v) : STATUS_OK;
	if (!f || ferror(f) || fflush(f))
		error = errno ? errno : EIO;
	if (f)
		fclose(f);
	if (status == STATUS_OK && !error)
		return output_commit(&out);
	output_discard(&out);
	return error ? fail("%s could not be written: %s", file, strerror(error)) : status;
}

static int lines(const struct usage *usage, int (*write)(FILE *f, const struct view *v),
		 bool rows, int argc, char **argv)
{
	struct lines_options o = { .file = "-" };
	const struct option_table tables[] = {
		{ "Options", lines_rows, &o }, { "The profile", view_options, &o.view },
		{ "What to show", filter_by_options, &o.view.filter },
		{ "Which samples", filter_options, &o.view.filter }, { 0 }
	};
	struct view v;
	int operands, status;

	if (!options_parse(usage, tables, argc, argv, true, &operands, &status))
		return status;
	if (argc - operands != 1)
		return misused("%s wants one profile, as in gprofctl %s cpu.pb.gz", usage->name,
			       usage->name);
	o.view.filter.group.rows = rows;
	status = view_open_with(&v, argv[operands], &o.view);
	if (status != STATUS_OK)
		return status;
	status = write_to(o.file, write, &v);
	filter_free(&o.view.filter);
	view_close(&v);
	return status;
}

static const struct usage collapsed_usage = {
	.name = "collapsed",
	.synopsis = "FILE [OPTIONS]",
	.text =
"Writes a pprof profile as collapsed stacks, a line for each: functions with \";\"\n"
"between them, callers first, and the value. flamegraph.pl, speedscope, inferno and\n"
"others read them. _[k] marks functions of the kernel, _[i] inlined ones. FILE may\n"
"be \"-\" for stdin.",
	.examples =
"  gprofctl collapsed cpu.pb.gz | flamegraph.pl >cpu.svg\n"
"  gprofctl collapsed cpu.pb.gz --by thread | grep 'worker'",
};

int cmd_collapsed(int argc, char **argv)
{
	return lines(&collapsed_usage, write_collapsed, false, argc, argv);
}

static const struct usage csv_usage = {
	.name = "csv",
	.synopsis = "FILE [OPTIONS]",
	.text =
"Writes the functions of a pprof profile as comma-separated values: name, module,\n"
"kind (user, kernel, inlined), flat and cum in the profile's unit and in percent of\n"
"its total. All functions, the largest first. FILE may be \"-\" for stdin.",
	.examples =
"  gprofctl csv cpu.pb.gz -o cpu.csv\n"
"  gprofctl csv cpu.pb.gz --by process     # a line for each process",
};

int cmd_csv(int argc, char **argv)
{
	return lines(&csv_usage, write_csv, true, argc, argv);
}
