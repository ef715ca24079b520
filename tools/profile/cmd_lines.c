// SPDX-License-Identifier: GPL-2.0-only
/*
 * gprofctl collapsed: a line for each stack, as flame graph tools take them. gprofctl csv: a line
 * for each function, for any table.
 */
#include "cli/cmd.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "calltree.h"
#include "cli/digits.h"
#include "cli/output.h"
#include "cli/diag.h"
#include "cli/text.h"
#include "functions.h"
#include "options_view.h"

/**
 * struct lines_options - the command line
 * @view: common options
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

/**
 * struct words - frames as the format has them
 * @all: one behind the other, each with ";" before it
 * @end: where each ends
 * @line: those of the stack that is written
 * @room: of @line
 * @lengths: of it, up to each depth
 */
struct words {
	char *all;
	size_t *end;
	char *line;
	size_t room;
	size_t lengths[CALLTREE_DEPTH_MAX + 2];
};

static int make_words(struct words *w, const struct calltree *t)
{
	static const char *const marks[] = { "", "_[k]", "_[i]", "" };
	size_t size;
	FILE *f = open_memstream(&w->all, &size);

	if (!f)
		return fail("no memory");
	w->end = xalloc(t->nr_frames, sizeof(*w->end));
	for (size_t i = 0; i < t->nr_frames; i++) {
		const char *function, *mapping;
		enum frame_kind kind = calltree_frame(t, i, &function, &mapping);

		putc(';', f);
		put_name(f, function);
		fputs(marks[kind], f);
		w->end[i] = ftell(f);
	}
	return fclose(f) ? fail("no memory") : STATUS_OK;
}

/* The stack of a node begins with that of its parent, which was there before. */
static void add_word(struct words *w, const struct call_node *n)
{
	size_t from = n->frame ? w->end[n->frame - 1] : 0, length = w->end[n->frame] - from;
	size_t at = w->lengths[n->depth - 1];

	while (w->room < at + length)
		w->line = xmore(w->line, w->room, &w->room, 1);
	memcpy(w->line + at, w->all + from, length);
	w->lengths[n->depth] = at + length;
}

static void write_line(FILE *f, const struct words *w, const struct call_node *n)
{
	char text[DIGITS_MAX], *end = text + sizeof(text), *begin;

	*--end = '\n';
	begin = digits_signed(end, n->self);
	*--begin = ' ';
	/* Without the first ";". */
	fwrite_unlocked(w->line + 1, 1, w->lengths[n->depth] - 1, f);
	fwrite_unlocked(begin, 1, (size_t)(end + 1 - begin), f);
}

static int write_collapsed(FILE *f, struct view *v)
{
	struct words w = { 0 };
	struct calltree tree;
	int status = calltree_build(&tree, v);

	if (status == STATUS_OK)
		status = make_words(&w, &tree);
	for (size_t i = 1; status == STATUS_OK && i < tree.nr; i++) {
		const struct call_node *n = &tree.nodes[i];

		add_word(&w, n);
		if (!n->self)
			continue;
		write_line(f, &w, n);
	}
	if (status == STATUS_OK)
		calltree_report(&tree);
	calltree_free(&tree);
	free(w.all);
	free(w.end);
	free(w.line);
	return status;
}

/* In quotes where needed; control characters and formulas are made safe. */
static void put_field(FILE *f, const char *text)
{
	bool formula = text_is_formula(text);
	bool quoted = formula || strpbrk(text, ",\"\n\r");

	if (quoted)
		putc('"', f);
	if (formula)
		putc('\'', f);
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

static int write_csv(FILE *f, struct view *v)
{
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
		fprintf(f, ",%s,%" PRId64 ",%.4f,%" PRId64 ",%.4f\n", frame_kinds[one->kind], one->flat,
			view_percent(v, one->flat), one->cum, view_percent(v, one->cum));
	}
	functions_free(&fs);
	return status;
}

/* To stdout as it comes; to a file, which is there when it is whole. */
static int write_to(const char *file, int (*write)(FILE *f, struct view *v), struct view *v)
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
	f = output_stream(&out);
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

static int lines(const struct usage *usage, int (*write)(FILE *f, struct view *v),
		 bool rows, int argc, char **argv)
{
	struct lines_options o = { .file = "-" };
	const struct option_table tables[] = {
		{ "Options", lines_rows, &o },
		{ "The profile", view_options, &o.view },
		{ "What to show", sample_filter_by_options, &o.view.filter },
		{ "Which samples", sample_filter_options, &o.view.filter },
		{ 0 }
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
	sample_filter_free(&o.view.filter);
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
