// SPDX-License-Identifier: GPL-2.0-only
/*
 * One parser for all subcommands, on getopt_long().
 */
#include "options.h"

#include <ctype.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "diag.h"
#include "program.h"
#include "terminal.h"

#define ROWS_MAX	48
#define LONG_FIRST	256	/* getopt's value of row i is LONG_FIRST + i */
#define EXAMPLES_FIRST	2	/* in front of all else */
#define HELP_COLUMN	28

/* As a whole: "[ADDR:]PORT" is not. */
static bool is_optional(const char *arg)
{
	const char *end = strchr(arg, ']');

	return arg[0] == '[' && end && !end[1];
}

/* As getopt_long() counts arguments. */
static int arguments(const struct option_row *r)
{
	return !r->arg ? 0 : is_optional(r->arg) ? 2 : 1;
}

/**
 * struct rows - the rows of all tables in one list, as getopt wants them
 * @row: row i
 * @ctx: of the table of row i
 * @nr: number of rows
 * @longs: long options; the value leads back to the row
 * @shorts: short options
 */
struct rows {
	const struct option_row *row[ROWS_MAX];
	void *ctx[ROWS_MAX];
	int nr;
	struct option longs[ROWS_MAX + 2];
	char shorts[2 * ROWS_MAX + 8];
};

static void rows_collect(struct rows *rows, const struct option_table *tables, bool mixed)
{
	struct option *o = rows->longs;
	char *s = rows->shorts;

	rows->nr = 0;
	if (!mixed)
		*s++ = '+';
	*s++ = ':';
	*s++ = 'h';
	for (; tables->rows; tables++) {
		for (const struct option_row *r = tables->rows; r->set; r++) {
			if (rows->nr == ROWS_MAX)
				abort();
			rows->row[rows->nr] = r;
			rows->ctx[rows->nr] = tables->ctx;
			if (r->key) {
				*s++ = r->key;
				if (r->arg)
					*s++ = ':';
			}
			if (r->name)
				*o++ = (struct option){ r->name, arguments(r), NULL,
							LONG_FIRST + rows->nr };
			rows->nr++;
		}
	}
	*o++ = (struct option){ "help", 0, NULL, 'h' };
	*o = (struct option){ 0 };
	*s = '\0';
}

static int row_of(const struct rows *rows, int value)
{
	if (value >= LONG_FIRST)
		return value - LONG_FIRST;
	for (int i = 0; i < rows->nr; i++)
		if (rows->row[i]->key == value)
			return i;
	return -1;
}

static void print_row(const struct option_row *r, size_t columns)
{
	int n = printf("  ");

	if (r->key)
		n += printf("-%c", r->key);
	else
		n += printf("   ");
	if (r->name)
		n += printf("%s--%s", r->key ? ", " : " ", r->name);
	if (r->arg)
		n += printf("%s%s", arguments(r) == 2 ? "" : " ", r->arg);
	if (n >= HELP_COLUMN) {
		putchar('\n');
		n = 0;
	}
	printf("%*s", HELP_COLUMN - n, "");
	terminal_wrap(stdout, r->help, HELP_COLUMN, HELP_COLUMN, columns);
}

/* Prints so many lines; returns the rest. */
static const char *print_examples(const char *text, size_t nr, size_t columns)
{
	for (; *text && nr; nr--) {
		size_t length = strcspn(text, "\n");

		terminal_example(stdout, text, length, columns);
		text += length + (text[length] == '\n');
	}
	return text;
}

static int print_help(const struct usage *u, const struct option_table *tables)
{
	static const struct option_row help = {
		'h', "help", NULL, "this text", NULL,
	};

	size_t columns = terminal_help(stdout);
	const char *more = print_examples(u->examples, EXAMPLES_FIRST, columns);
	size_t n = printf("\nUsage: %s %s ", program_name, u->name) - 1;

	terminal_wrap(stdout, u->synopsis, n, 8, columns);
	putchar('\n');
	terminal_wrap(stdout, u->text, 0, 0, columns);
	for (; tables->rows; tables++) {
		printf("\n%s:\n", tables->title);
		for (const struct option_row *r = tables->rows; r->set; r++)
			if (r->help)
				print_row(r, columns);
	}
	putchar('\n');
	print_row(&help, columns);
	if (*more)
		puts("\nMore examples:");
	print_examples(more, ROWS_MAX, columns);
	return finish_stdout();
}

static const char *long_name(const void *ctx, size_t i)
{
	return ((const struct rows *)ctx)->longs[i].name;
}

/* Options of other tools, and their names here. */
static const struct {
	const char *word;
	const char *answer;
} others[] = {
	{ "g", "stacks are always recorded" }, { "call-graph", "stacks are always recorded" },
	{ "http", "gprofctl view opens the page itself" }, { "port", "gprofctl view opens the page itself" },
	{ "sort", "gprofctl top --cum sorts by all that a function calls" },
	{ "cumulative", "gprofctl top --cum sorts so" },
	{ "inverted", "gprofctl view has an inverted graph" },
	{ "invert", "gprofctl view has an inverted graph" },
	{ "base", "gprofctl diff OLD NEW compares two profiles" },
	{ "diff_base", "gprofctl diff OLD NEW compares two profiles" },
	{ "stdio", "gprofctl top writes to stdout" }, { "json", "gprofctl top --json is for programs" },
};

static int no_option(const struct usage *u, const struct rows *rows, const char *dashes,
		     const char *name)
{
	const char *meant;

	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (!strcmp(name, others[i].word))
			return misused("%s has no option %s%s: %s", u->name, dashes, name,
				       others[i].answer);
	meant = nearest(name, long_name, rows);
	if (meant)
		return misused("%s has no option %s%s; did you mean --%s?", u->name, dashes, name,
			       meant);
	return misused("%s has no option %s%s; see %s %s --help", u->name, dashes, name, program_name,
		       u->name);
}

static int unknown(const struct usage *u, const struct rows *rows, const char *word, int key)
{
	char letter[] = { (char)key, '\0' };
	size_t dashes = key ? 1 : 2;
	char *name;
	int status;

	if (key && word[1] == key && !word[2])
		return no_option(u, rows, "-", letter);
	name = xprintf("%.*s", (int)strcspn(word + dashes, "="), word + dashes);
	status = no_option(u, rows, key ? "-" : "--", name);
	free(name);
	return status;
}

/*
 * The word that the short option @key was found in. Of one with more letters, "-cum" as go
 * tool pprof has it, getopt() is still at that word; else at the next.
 */
static const char *word_of(int argc, char **argv, int key)
{
	static char alone[3];
	const char *word = optind < argc ? argv[optind] : "";

	snprintf(alone, sizeof(alone), "-%c", key);
	if (!strcmp(argv[optind - 1], alone) || word[0] != '-' || word[1] != key)
		return alone;
	return word;
}

bool options_parse(const struct usage *usage, const struct option_table *tables, int argc,
		   char **argv, bool mixed, int *operands, int *status)
{
	struct rows rows;
	int c, i;

	rows_collect(&rows, tables, mixed);
	opterr = 0;
	optind = 1;
	while ((c = getopt_long(argc, argv, rows.shorts, rows.longs, NULL)) != -1) {
		switch (c) {
		case 'h':
			if (strcmp(argv[optind - 1], "--help") && word_of(argc, argv, 'h')[2])
				*status = unknown(usage, &rows, word_of(argc, argv, 'h'), 'h');
			else
				*status = print_help(usage, tables);
			return false;
		case '?':
			/* A flag that got an argument, --all=3, leaves its value in optopt. */
			if (optopt == 'h' && !strncmp(argv[optind - 1], "--", 2))
				*status = misused("--help takes no argument");
			else if (optopt >= LONG_FIRST)
				*status = misused("--%s takes no argument",
						  rows.row[optopt - LONG_FIRST]->name);
			else
				*status = unknown(usage, &rows, optopt ? word_of(argc, argv, optopt) :
						  argv[optind - 1], optopt);
			return false;
		case ':':
			i = row_of(&rows, optopt);
			*status = misused("%s wants an argument: %s", argv[optind - 1],
					  rows.row[i]->arg);
			return false;
		}
		i = row_of(&rows, c);
		*status = rows.row[i]->set(rows.ctx[i], optarg);
		if (*status != STATUS_OK)
			return false;
	}
	*operands = optind;
	*status = STATUS_OK;
	return true;
}

static bool parse_scaled(const char *text, unsigned long long base, unsigned long long *value)
{
	unsigned long long v = 0;
	unsigned long long scale = 1;

	if (!isdigit((unsigned char)*text))
		return false;
	for (; isdigit((unsigned char)*text); text++) {
		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, (unsigned int)(*text - '0'), &v))
			return false;
	}
	switch (*text) {
	case 'G':
	case 'g':
		scale *= base;
		__attribute__((fallthrough));
	case 'M':
	case 'm':
		scale *= base;
		__attribute__((fallthrough));
	case 'K':
	case 'k':
		scale *= base;
		text++;
	}
	*value = v;
	return !*text && !__builtin_mul_overflow(v, scale, value);
}

bool parse_count(const char *text, unsigned long long *value)
{
	return parse_scaled(text, 1000, value);
}

bool parse_size(const char *text, unsigned long long *value)
{
	return parse_scaled(text, 1024, value);
}

/* The period follows the last colon, unless that is inside PMU/.../. */
char *event_period(char *spec)
{
	char *slash = strrchr(spec, '/');

	return strrchr(slash ? slash : spec, ':');
}

bool parse_id(const char *text, int *id)
{
	unsigned long long v;

	if (!parse_scaled(text, 1, &v) || !isdigit((unsigned char)text[strlen(text) - 1]) ||
	    v == 0 || v > INT_MAX)
		return false;
	*id = v;
	return true;
}
