// SPDX-License-Identifier: GPL-2.0-only
/*
 * gprofctl peek: functions with their callers and callees, as go tool pprof -peek has them.
 */
#include "cli/cmd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/diag.h"
#include "cli/json.h"
#include "cli/terminal.h"
#include "cli/pager.h"
#include "cli/text.h"
#include "options_view.h"
#include "peek.h"
#include "function_match.h"

#define FUNCTIONS_SHOWN	20	/* unless -n says otherwise */
#define NUMBER_COLUMNS	61

/**
 * struct peek_options - the command line
 * @view: common options
 * @limit: -n
 * @json: --json
 */
struct peek_options {
	struct view_options view;
	unsigned long long limit;
	bool json;
};

static int set_limit(void *ctx, const char *value)
{
	struct peek_options *o = ctx;

	if (!parse_count(value, &o->limit) || !o->limit)
		return misused("-n wants a number of functions above 0, not \"%s\"", value);
	return STATUS_OK;
}

static const struct option_row peek_rows[] = {
	{ 'n', "rows", "N", "show N functions (default: 20)", set_limit },
	{ 0 },
};

static const struct usage peek_usage = {
	.name = "peek",
	.synopsis = "FUNCTION FILE [OPTIONS]",
	.text =
"Shows the callers and the callees of a function of a pprof profile, with their\n"
"values, like go tool pprof -peek. FUNCTION is its name, or a regular expression\n"
"where no function is called exactly that. FILE may be \"-\" for stdin.",
	.examples =
"  gprofctl peek malloc cpu.pb.gz          # callers that allocate\n"
"  gprofctl peek '^ext4_' cpu.pb.gz -n 50  # all of a file system",
};

static size_t label_columns(void)
{
	size_t columns = terminal_columns(stdout);

	if (!columns || columns > NUMBER_COLUMNS + FUNCTION_COLUMNS + MODULE_TEXT_MAX)
		return FUNCTION_COLUMNS + MODULE_TEXT_MAX;
	return (columns < TERMINAL_COLUMNS ? TERMINAL_COLUMNS : columns) - NUMBER_COLUMNS;
}

static void print_name(const struct functions *fs, size_t n, const char *indent)
{
	char *label = functions_label(fs, &fs->all[n], "", true, label_columns() - strlen(indent));

	fputs(indent, stdout);
	text_plain(stdout, label);
	putchar('\n');
	free(label);
}

static int by_value(const void *pa, const void *pb)
{
	const struct peek_call *a = *(struct peek_call *const *)pa;
	const struct peek_call *b = *(struct peek_call *const *)pb;
	int64_t va = view_size(a->value), vb = view_size(b->value);

	return va != vb ? (va > vb ? -1 : 1) : a < b ? -1 : a > b;
}

static double share_of(int64_t part, int64_t whole)
{
	return whole ? 100.0 * part / whole : 0;
}

static void print_calls(const struct peek *p, const struct view *v, struct peek_call **calls,
			size_t nr, size_t of, bool callers)
{
	char text[VIEW_TEXT_MAX];

	for (size_t i = 0; i < nr; i++)
		if ((callers ? calls[i]->to : calls[i]->from) == of) {
			printf("%39s %10s %6.2f%% | ", "", view_value(v, calls[i]->value, text),
			       share_of(calls[i]->value, p->functions.all[of].cum));
			print_name(&p->functions, callers ? calls[i]->from : calls[i]->to, "  ");
		}
}

static void print_function(const struct peek *p, const struct view *v, struct peek_call **calls,
			   size_t nr, size_t n)
{
	const struct function *f = &p->functions.all[n];
	char flat[VIEW_TEXT_MAX], cum[VIEW_TEXT_MAX];

	puts("-----------------------------------------------------------+-----------------");
	print_calls(p, v, calls, nr, n, true);
	printf("%11s %6.2f%% %11s %6.2f%% %18s | ", view_value(v, f->flat, flat),
	       view_percent(v, f->flat), view_value(v, f->cum, cum), view_percent(v, f->cum), "");
	print_name(&p->functions, n, "");
	print_calls(p, v, calls, nr, n, false);
}

static void put_calls(struct json *j, const struct peek *p, struct peek_call **calls, size_t of,
		      bool callers)
{
	const struct function *all = p->functions.all;

	json_array(j, callers ? "callers" : "callees");
	for (size_t i = 0; i < p->nr; i++) {
		if ((callers ? calls[i]->to : calls[i]->from) != of)
			continue;
		json_object(j, NULL);
		functions_json(j, &p->functions, &all[callers ? calls[i]->from : calls[i]->to]);
		json_s64(j, "value", calls[i]->value);
		json_double(j, "value_percent", share_of(calls[i]->value, all[of].cum), 6);
		json_end(j);
	}
	json_end(j);
}

static void print_json(const struct peek *p, const struct view *v, const char *file,
		       struct peek_call **calls, const size_t *found, size_t nr)
{
	struct json j;

	view_json_open(&j, v, "peek");
	json_array(&j, "functions");
	for (size_t i = 0; i < nr; i++) {
		const struct function *f = &p->functions.all[found[i]];

		json_object(&j, NULL);
		functions_json(&j, &p->functions, f);
		view_json_value(&j, v, "flat", f->flat);
		view_json_value(&j, v, "cum", f->cum);
		put_calls(&j, p, calls, found[i], true);
		put_calls(&j, p, calls, found[i], false);
		json_end(&j);
	}
	json_end(&j);
	view_json_close(&j, v, file);
}

static void print_table(const struct peek *p, const struct view *v, size_t limit,
			struct peek_call **calls, const size_t *found, size_t nr)
{
	char text[VIEW_TEXT_MAX];

	pager_begin();
	printf("Type: %s\nTotal = %s\n", v->name, view_value(v, v->total, text));
	if (nr > limit)
		printf("%zu of %zu functions like %s are not shown; -n N shows N\n", nr - limit, nr,
		       p->wanted.word);
	printf("%11s %7s %11s %7s %10s %7s | %s\n", "flat", "flat%", "cum", "cum%", "calls", "calls%",
	       "callers, callees");
	for (size_t i = 0; i < nr && i < limit; i++)
		print_function(p, v, calls, p->nr, found[i]);
}

static int print_all(struct peek *p, const struct view *v, const struct peek_options *o,
		     const char *file)
{
	struct peek_call **calls = xalloc(p->nr, sizeof(struct peek_call *));
	size_t *found, nr = function_match_all(&p->wanted, &p->functions, &found);

	for (size_t i = 0; i < p->nr; i++)
		calls[i] = &p->calls[i];
	if (p->nr)
		qsort(calls, p->nr, sizeof(struct peek_call *), by_value);
	if (!nr) {
		free(calls);
		return function_match_none(&p->wanted);
	}
	if (o->json)
		print_json(p, v, file, calls, found, nr);
	else
		print_table(p, v, o->limit, calls, found, nr);
	free(calls);
	free(found);
	return finish_stdout();
}

int cmd_peek(int argc, char **argv)
{
	struct peek_options o = { .limit = FUNCTIONS_SHOWN };
	const struct option_table tables[] = {
		{ "Options", peek_rows, &o }, { "The profile", view_options, &o.view },
		{ "Which samples", sample_filter_options, &o.view.filter },
		{ JSON_TABLE, json_options, &o.json }, { 0 }
	};
	struct peek p = { 0 };
	struct view v;
	int operands, status;

	if (!options_parse(&peek_usage, tables, argc, argv, true, &operands, &status))
		return status;
	status = function_match_operands("peek", argv + operands, argc - operands);
	if (status == STATUS_OK)
		status = view_open_with(&v, argv[operands + 1], &o.view);
	if (status != STATUS_OK)
		return status;
	status = peek_collect(&p, &v, argv[operands]);
	if (status == STATUS_OK)
		status = print_all(&p, &v, &o, argv[operands + 1]);
	peek_free(&p);
	sample_filter_free(&o.view.filter);
	view_close(&v);
	return status;
}
