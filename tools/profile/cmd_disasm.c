// SPDX-License-Identifier: GPL-2.0-only
/*
 * gprofctl disasm: the instructions of a function with their values.
 */
#include "cli/cmd.h"

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
#include "instructions.h"
#include "source.h"
#include "function_match.h"

#define NUMBER_COLUMNS	24
#define TEXT_COLUMNS	120

/**
 * struct disasm_options - the command line
 * @view: common options
 * @object: --object, in the place of the file of the profile
 * @no_source: --no-source
 * @json: --json
 */
struct disasm_options {
	struct view_options view;
	const char *object;
	bool no_source;
	bool json;
};

static int set_object(void *ctx, const char *value)
{
	((struct disasm_options *)ctx)->object = value;
	return STATUS_OK;
}

static int set_no_source(void *ctx, const char *value)
{
	(void)value;
	((struct disasm_options *)ctx)->no_source = true;
	return STATUS_OK;
}

static const struct option_row disasm_rows[] = {
	{ 0, "object", "FILE", "the program or library, if it has moved",
	  set_object },
	{ 0, "no-source", NULL, "leave out the lines of the source between the instructions",
	  set_no_source },
	{ 0 },
};

static const struct usage disasm_usage = {
	.name = "disasm",
	.synopsis = "FUNCTION FILE [OPTIONS]",
	.text =
"Shows the instructions of a function of a pprof profile, each with its own value\n"
"(flat) and with all it calls (cum), like go tool pprof -disasm, with the jumps\n"
"within the function, and its source between them where there is debug\n"
"information. objdump (binutils) reads them from a file with the recorded\n"
"build-id. FUNCTION is its\n"
"name, or a regular expression where no function is called exactly that.",
	.examples =
"  gprofctl disasm sort_rows cpu.pb.gz\n"
"  gprofctl disasm crc32 cpu.pb.gz --object /usr/lib/debug/libz.so.1",
};

static void put_instruction(struct json *j, const struct listing *l, size_t i)
{
	const char *text = instruction_text(&l->rows[i]);

	json_object(j, NULL);
	json_u64(j, "address", l->rows[i].at);
	json_s64(j, "flat", listing_values(l, i)[0]);
	json_s64(j, "cum", listing_values(l, i)[1]);
	json_string(j, "text", text);
	json_end(j);
}

/* "ADDRESS <SYMBOL>:" */
static void begin_block(struct json *j, const char *line)
{
	const char *symbol = strchr(line, '<');
	size_t length = symbol ? strlen(symbol) : 0;

	json_object(j, NULL);
	json_bytes(j, "symbol", symbol ? symbol + 1 : "", length > 3 ? length - 3 : 0);
	json_array(j, "instructions");
}

static void end_block(struct json *j)
{
	json_end(j);
	json_end(j);
}

static void put_code(struct json *j, const struct listing *l)
{
	bool open = false;

	json_object(j, NULL);
	json_string(j, "path", l->path);
	json_array(j, "blocks");
	for (size_t i = 0; i < l->nr; i++) {
		if (l->rows[i].kind == LISTING_PLACE) {
			if (open)
				put_instruction(j, l, i);
			continue;
		}
		if (open)
			end_block(j);
		begin_block(j, l->rows[i].text);
		open = true;
	}
	if (open)
		end_block(j);
	json_end(j);
	json_end(j);
}

static void print_row(const struct view *v, const struct listing *l, size_t i)
{
	const struct listing_row *row = &l->rows[i];
	const int64_t *values = listing_values(l, i);
	size_t columns = terminal_columns(stdout), room = TEXT_COLUMNS;
	char flat[VIEW_TEXT_MAX] = ".", cum[VIEW_TEXT_MAX] = ".";
	char *text;

	if (columns && columns < NUMBER_COLUMNS + TEXT_COLUMNS)
		room = columns > NUMBER_COLUMNS + 20 ? columns - NUMBER_COLUMNS : 20;
	if (values[0])
		view_value(v, values[0], flat);
	if (values[1])
		view_value(v, values[1], cum);
	if (row->kind == LISTING_SOURCE)
		printf("%23s %s", "", terminal_color(stdout, TERMINAL_BOLD));
	else
		printf("%s%11s %11s%s ", terminal_color(stdout, terminal_heat(view_percent(v, values[0]))),
		       flat, cum, terminal_color(stdout, TERMINAL_PLAIN));
	text = xprintf("%.*s", (int)room, row->text);
	for (char *c = text; *c; c++)
		if (*c == '\t')
			*c = ' ';
	text_plain(stdout, text);
	printf("%s\n", terminal_color(stdout, TERMINAL_PLAIN));
	free(text);
}

/* Where a file without lines of its source has them. */
static void advise_source(const char *file)
{
	char *package = NULL;

	debug_packages(DPKG_INFO, &file, 1, &package);
	if (package)
		diag("%s has no debug information here, so that no source is between the "
		     "instructions: install %s", file, package);
	else
		diag("%s has no debug information, or its source is not here, so that no source is "
		     "between the instructions: build it with -g", file);
	free(package);
}

static bool has_source(const struct listing *l)
{
	for (size_t i = 0; i < l->nr; i++)
		if (l->rows[i].kind == LISTING_SOURCE)
			return true;
	return false;
}

/* One file and function, whose first place is @first. */
static int show(const struct disasm_options *o, struct json *j, struct places *p, size_t first)
{
	bool source = !j && !o->no_source;
	struct listing l;
	char *why = instructions(p, first, o->object, source, &l);
	int status = why ? fail("%s", why) : STATUS_OK;

	if (!why && j)
		put_code(j, &l);
	for (size_t i = 0; !why && !j && i < l.nr; i++)
		print_row(p->view, &l, i);
	if (!why && source && !has_source(&l))
		advise_source(l.path);
	listing_free(&l);
	free(why);
	return status;
}

static void begin_function(struct json *j, const struct view *v, const struct functions *fs,
			   const struct function *fn)
{
	char flat[VIEW_TEXT_MAX], cum[VIEW_TEXT_MAX];

	if (j) {
		view_json_open(j, v, "disasm");
		functions_json(j, fs, fn);
		view_json_value(j, v, "flat", fn->flat);
		view_json_value(j, v, "cum", fn->cum);
		json_array(j, "files");
		return;
	}
	pager_begin();
	printf("%11s %11s (flat, cum) %.2f%% of total: ", view_value(v, fn->flat, flat),
	       view_value(v, fn->cum, cum), view_percent(v, fn->cum));
	text_plain(stdout, functions_name(fs, fn));
	putchar('\n');
}

static int show_all(const struct disasm_options *o, const struct view *v, struct places *p,
		    const char *file)
{
	size_t *found, nr = function_match_all(&p->wanted, &p->functions, &found), i = 0;
	struct json json, *j = o->json ? &json : NULL;
	int status = STATUS_OK;

	if (!nr)
		return function_match_none(&p->wanted);
	places_sort(p);
	begin_function(j, v, &p->functions, &p->functions.all[found[0]]);
	if (nr > 1)
		diag("%zu functions are like %s: this is the one with the largest cum", nr,
		     p->wanted.word);
	fflush(stdout);
	while (i < p->nr && p->all[i].function != found[0])
		i++;
	for (; i < p->nr && p->all[i].function == found[0] && status == STATUS_OK;
	     i = places_next(p, i))
		status = show(o, j, p, i);
	free(found);
	if (j) {
		json_end(j);
		view_json_close(j, v, file);
	}
	return status == STATUS_OK ? finish_stdout() : status;
}

int cmd_disasm(int argc, char **argv)
{
	struct disasm_options o = { 0 };
	const struct option_table tables[] = {
		{ "Options", disasm_rows, &o }, { "The profile", view_options, &o.view },
		{ "Which samples", sample_filter_options, &o.view.filter },
		{ JSON_TABLE, json_options, &o.json }, { 0 }
	};
	struct places p = { 0 };
	struct view v;
	int operands, status;

	if (!options_parse(&disasm_usage, tables, argc, argv, true, &operands, &status))
		return status;
	status = function_match_operands("disasm", argv + operands, argc - operands);
	if (status == STATUS_OK)
		status = view_open_with(&v, argv[operands + 1], &o.view);
	if (status != STATUS_OK)
		return status;
	status = places_collect(&p, &v, argv[operands], true);
	if (status == STATUS_OK)
		status = show_all(&o, &v, &p, argv[operands + 1]);
	places_free(&p);
	sample_filter_free(&o.view.filter);
	view_close(&v);
	return status;
}
