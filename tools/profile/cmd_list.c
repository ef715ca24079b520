// SPDX-License-Identifier: GPL-2.0-only
/*
 * gprofctl list: the lines of a function's source with their values, as go tool pprof -list has
 * them.
 */
#include "cli/cmd.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/diag.h"
#include "cli/json.h"
#include "cli/pager.h"
#include "cli/terminal.h"
#include "cli/text.h"
#include "debug_package.h"
#include "options_view.h"
#include "source.h"
#include "function_match.h"

#define FUNCTIONS_SHOWN	10
#define AROUND		5	/* lines before the first with a value, and after the last */
#define LINES_MAX	20000	/* of one function; a file may say anything */
#define NUMBER_COLUMNS	31
#define TEXT_COLUMNS	120

/**
 * struct list_options - the command line
 * @view: common options
 * @directories: --source, where sources are looked for
 * @nr: how many
 * @limit: -n
 * @json: --json
 */
struct list_options {
	struct view_options view;
	const char *directories[8];
	size_t nr;
	unsigned long long limit;
	bool json;
};

static int set_source(void *ctx, const char *value)
{
	struct list_options *o = ctx;

	if (o->nr == ARRAY_SIZE(o->directories))
		return misused("--source %s: more than %zu directories are too many", value, o->nr);
	o->directories[o->nr++] = value;
	return STATUS_OK;
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

/* As it stands, then in each directory with ever fewer of its own directories. */
static FILE *open_source(const struct list_options *o, const char *file, char **path)
{
	FILE *f = fopen(file, "re");

	*path = f ? xprintf("%s", file) : NULL;
	for (size_t i = 0; i < o->nr && !f; i++) {
		for (const char *rest = file; rest && !f; rest = strchr(rest, '/')) {
			rest += strspn(rest, "/");
			*path = xprintf("%s/%s", o->directories[i], rest);
			f = *rest ? fopen(*path, "re") : NULL;
			if (f)
				break;
			free(*path);
			*path = NULL;
		}
	}
	return f;
}

static void warn_age(const struct view *v, FILE *f, const char *path)
{
	int64_t start = 0, duration = 0;
	struct stat st;

	gprof_profile_time(v->profile, &start, &duration);
	if (start && !fstat(fileno(f), &st) && st.st_mtime > (start + duration) / 1000000000)
		diag("%s was changed after the profile was taken: lines may be others", path);
}

static void put_line(struct json *j, const struct place *p, uint64_t line, const char *text)
{
	json_object(j, NULL);
	json_u64(j, "line", line);
	json_s64(j, "flat", p ? p->flat : 0);
	json_s64(j, "cum", p ? p->cum : 0);
	if (text)
		json_bytes(j, "text", text, strcspn(text, "\r\n"));
	else
		json_null(j, "text");
	json_end(j);
}

static void print_line(const struct view *v, const struct place *p, uint64_t line,
		       const char *text)
{
	size_t columns = terminal_columns(stdout);
	char flat[VIEW_TEXT_MAX] = ".", cum[VIEW_TEXT_MAX] = ".";
	char *shown;

	if (p && p->flat)
		view_value(v, p->flat, flat);
	if (p && p->cum)
		view_value(v, p->cum, cum);
	printf("%s%11s %11s%s %6" PRIu64 " ",
	       terminal_color(stdout, terminal_heat(p ? view_percent(v, p->flat) : 0)), flat, cum,
	       terminal_color(stdout, TERMINAL_PLAIN), line);
	if (text) {
		size_t room = !columns || columns > NUMBER_COLUMNS + TEXT_COLUMNS ? TEXT_COLUMNS :
			      columns > NUMBER_COLUMNS + 20 ? columns - NUMBER_COLUMNS : 20;

		shown = xprintf("%.*s", (int)strcspn(text, "\r\n"), text);
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

/* @j: or NULL */
static void line(struct json *j, const struct view *v, const struct place *p, uint64_t at,
		 const char *text)
{
	if (j)
		put_line(j, p, at, text);
	else
		print_line(v, p, at, text);
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
	advice = debug_advice(package, 0);
	diag("the profile has no lines of %s: %s, then gprofctl symbolize %s", mapping, advice,
	     strcmp(profile, "-") ? profile : "FILE");
	free(advice);
	free(package);
}

/* Lines of one file, of which @nr have values. */
static void print_file(const struct list_options *o, struct json *j, const struct view *v,
		       const struct place *places, size_t nr)
{
	uint64_t first = places[0].at > AROUND ? places[0].at - AROUND : 1;
	uint64_t last = places[nr - 1].at + AROUND, at = 0;
	char *path = NULL, *text = NULL;
	size_t size = 0, i = 0;
	FILE *f = *places[0].file ? open_source(o, places[0].file, &path) : NULL;

	begin_file(j, places[0].file);
	if (!f && *places[0].file)
		diag("%s cannot be read: %s; --source DIR says where sources are", places[0].file,
		     strerror(errno));
	if (f)
		warn_age(v, f, path);
	while (f && last - first < LINES_MAX && at < last && getline(&text, &size, f) > 0) {
		at++;
		while (i < nr && places[i].at < at)
			line(j, v, &places[i], places[i].at, NULL), i++;
		if (at < first)
			continue;
		line(j, v, i < nr && places[i].at == at ? &places[i] : NULL, at, text);
		i += i < nr && places[i].at == at;
	}
	/* Without a source, or beyond its end, there are the numbers at least. */
	for (; i < nr; i++)
		line(j, v, &places[i], places[i].at, NULL);
	if (f) {
		fclose(f);
		free(path);
	}
	free(text);
	if (!j)
		return;
	json_end(j);
	json_end(j);
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
	size_t i = 0, end;

	begin_function(j, v, &p->functions, &p->functions.all[n]);
	while (i < p->nr && p->all[i].function != n)
		i++;
	for (; i < p->nr && p->all[i].function == n; i = end) {
		for (end = i; end < p->nr && p->all[end].function == n &&
			      p->all[end].file == p->all[i].file;)
			end++;
		print_file(o, j, v, &p->all[i], end - i);
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
