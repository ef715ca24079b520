// SPDX-License-Identifier: GPL-2.0-only
/*
 * gprofctl list: the lines of a function's source with their values, as go tool pprof -list has
 * them.
 */
#include "cli/cmd.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/diag.h"
#include "cli/json.h"
#include "cli/pager.h"
#include "cli/terminal.h"
#include "cli/text.h"
#include "debug_package.h"
#include "options_view.h"
#include "source.h"
#include "source_lines.h"
#include "function_match.h"

#define FUNCTIONS_SHOWN	10
#define NUMBER_COLUMNS	31
#define TEXT_COLUMNS	120

/**
 * struct list_options - the command line
 * @view: common options
 * @directories: --source
 * @limit: -n
 * @json: --json
 */
struct list_options {
	struct view_options view;
	struct source_dirs directories;
	unsigned long long limit;
	bool json;
};

static int set_source(void *ctx, const char *value)
{
	return source_dirs_add(&((struct list_options *)ctx)->directories, value);
}

static int set_limit(void *ctx, const char *value)
{
	struct list_options *o = ctx;

	if (!parse_count(value, &o->limit) || !o->limit)
		return misused("-n wants a number of functions above 0, not \"%s\"", value);
	return STATUS_OK;
}

static const struct option_row list_rows[] = {
	{ 'n', "rows", "N", "show N functions (default: 10)", set_limit },
	{ 0, "source", "DIR", "look for sources here too, under as much of their paths as\n"
	  "is there; may be repeated", set_source },
	{ 0 },
};

static const struct usage list_usage = {
	.name = "list",
	.synopsis = "FUNCTION FILE [OPTIONS]",
	.text =
"Shows the source of a function of a pprof profile, each line with its own value\n"
"(flat) and with all it calls (cum), like go tool pprof -list. FUNCTION is its\n"
"name, or a regular expression where no function is called exactly that. The\n"
"profile has the lines where the program has debug information.",
	.examples =
"  gprofctl list sort_rows cpu.pb.gz\n"
"  gprofctl list '^parse_' cpu.pb.gz --source ~/src/server",
};

static void put_line(struct json *j, const struct listing_row *row, const int64_t *values)
{
	json_object(j, NULL);
	json_u64(j, "line", row->at);
	json_s64(j, "flat", values[0]);
	json_s64(j, "cum", values[1]);
	if (row->text)
		json_string(j, "text", row->text);
	else
		json_null(j, "text");
	json_end(j);
}

static void print_line(const struct view *v, const struct listing_row *row, const int64_t *values)
{
	size_t columns = terminal_columns(stdout);
	char flat[VIEW_TEXT_MAX] = ".", cum[VIEW_TEXT_MAX] = ".";
	char *shown;

	if (values[0])
		view_value(v, values[0], flat);
	if (values[1])
		view_value(v, values[1], cum);
	printf("%s%11s %11s%s %6" PRIu64 " ",
	       terminal_color(stdout, terminal_heat(view_percent(v, values[0]))), flat, cum,
	       terminal_color(stdout, TERMINAL_PLAIN), row->at);
	if (row->text) {
		size_t room = !columns || columns > NUMBER_COLUMNS + TEXT_COLUMNS ? TEXT_COLUMNS :
			      columns > NUMBER_COLUMNS + 20 ? columns - NUMBER_COLUMNS : 20;

		shown = xprintf("%s", row->text);
		for (char *c = shown; *c; c++)
			if (*c == '\t')
				*c = ' ';
		if (text_columns(shown) > room)
			shown[room < strlen(shown) ? room : strlen(shown)] = '\0';
		text_plain(stdout, shown);
		free(shown);
	}
	putchar('\n');
}

static void begin_file(struct json *j, const char *file)
{
	if (j) {
		json_object(j, NULL);
		json_string(j, "path", file);
		json_array(j, "lines");
		return;
	}
	fputs("     ", stdout);
	text_plain(stdout, *file ? file : "(no source file is known)");
	putchar('\n');
}

/* Names the package with the lines of a file, of which the profile has none. */
static void advise_lines(const char *mapping, const char *profile)
{
	char *package = NULL, *advice;

	debug_packages(DPKG_INFO, &mapping, 1, &package);
	advice = source_advice(mapping, package, profile);
	diag("%s", advice);
	free(advice);
	free(package);
}

/* Lines of one file, the first of which is @first. */
static void print_file(const struct list_options *o, struct json *j, const struct places *p,
		       size_t first)
{
	struct listing l;
	char *note = source_lines(&o->directories, p, first, &l);

	begin_file(j, l.path);
	if (note)
		diag("%s", note);
	for (size_t i = 0; i < l.nr; i++) {
		if (j)
			put_line(j, &l.rows[i], listing_values(&l, i));
		else
			print_line(p->view, &l.rows[i], listing_values(&l, i));
	}
	if (j) {
		json_end(j);
		json_end(j);
	}
	listing_free(&l);
	free(note);
}

static void begin_function(struct json *j, const struct view *v, const struct functions *fs,
			   const struct function *fn)
{
	char flat[VIEW_TEXT_MAX], cum[VIEW_TEXT_MAX], module[MODULE_TEXT_MAX];

	if (j) {
		json_object(j, NULL);
		functions_json(j, fs, fn);
		view_json_value(j, v, "flat", fn->flat);
		view_json_value(j, v, "cum", fn->cum);
		json_array(j, "sources");
		return;
	}
	printf("%11s %11s (flat, cum) %.2f%% of total: ", view_value(v, fn->flat, flat),
	       view_value(v, fn->cum, cum), view_percent(v, fn->cum));
	text_plain(stdout, functions_name(fs, fn));
	if (*module_text(fn->kind, fn->mapping, module))
		printf(" [%s]", module);
	putchar('\n');
}

/* Returns the file that the function is in, where the profile has no lines of it; or NULL. */
static const char *print_function(const struct list_options *o, struct json *j,
				  const struct view *v, const struct places *p, size_t n)
{
	const char *unlined = NULL;
	size_t i = 0;

	begin_function(j, v, &p->functions, &p->functions.all[n]);
	while (i < p->nr && p->all[i].function != n)
		i++;
	for (; i < p->nr && p->all[i].function == n; i = places_next(p, i)) {
		print_file(o, j, p, i);
		if (!*p->all[i].file && *p->functions.all[n].mapping == '/')
			unlined = p->functions.all[n].mapping;
	}
	if (!j)
		return unlined;
	json_end(j);
	json_end(j);
	return unlined;
}

static int print_all(const struct list_options *o, const struct view *v, struct places *p,
		     const char *file)
{
	size_t *found, nr = function_match_all(&p->wanted, &p->functions, &found);
	char text[VIEW_TEXT_MAX];
	struct json json, *j = o->json ? &json : NULL;
	const char *unlined = NULL;

	if (!nr)
		return function_match_none(&p->wanted);
	places_sort(p);
	if (j) {
		view_json_open(j, v, "list");
		json_array(j, "functions");
	} else {
		pager_begin();
		printf("Type: %s\nTotal = %s\n", v->name, view_value(v, v->total, text));
		if (nr > o->limit)
			printf("%zu of %zu functions like %s are not shown; -n N shows N\n",
			       nr - (size_t)o->limit, nr, p->wanted.word);
	}
	for (size_t i = 0; i < nr && (j || i < o->limit); i++)
		unlined = print_function(o, j, v, p, found[i]) ?: unlined;
	if (j) {
		json_end(j);
		view_json_close(j, v, file);
	}
	if (unlined)
		advise_lines(unlined, file);
	free(found);
	return finish_stdout();
}

int cmd_list(int argc, char **argv)
{
	struct list_options o = { .limit = FUNCTIONS_SHOWN };
	const struct option_table tables[] = {
		{ "Options", list_rows, &o }, { "The profile", view_options, &o.view },
		{ "Which samples", sample_filter_options, &o.view.filter },
		{ JSON_TABLE, json_options, &o.json }, { 0 }
	};
	struct places p = { 0 };
	struct view v;
	int operands, status;

	if (!options_parse(&list_usage, tables, argc, argv, true, &operands, &status))
		return status;
	status = function_match_operands("list", argv + operands, argc - operands);
	if (status == STATUS_OK)
		status = view_open_with(&v, argv[operands + 1], &o.view);
	if (status != STATUS_OK)
		return status;
	status = places_collect(&p, &v, argv[operands], false);
	if (status == STATUS_OK)
		status = print_all(&o, &v, &p, argv[operands + 1]);
	places_free(&p);
	sample_filter_free(&o.view.filter);
	view_close(&v);
	return status;
}
