/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Options as tables: one table gives the parser, the help and the suggestions.
 */
#ifndef TOOLS_OPTIONS_H
#define TOOLS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

/**
 * struct option_row - one option
 * @key: short form, or 0
 * @name: long form without the dashes, or NULL
 * @arg: name of its argument, or NULL when it takes none; "[=NAME]" of one that may be
 *	left out, which only a long form has
 * @help: its help; NULL: a hidden option
 * @set: takes the value (NULL without argument) into @ctx of the table; returns
 *	STATUS_OK, or another status after a sentence
 */
struct option_row {
	char key;
	const char *name;
	const char *arg;
	const char *help;
	int (*set)(void *ctx, const char *value);
};

/**
 * struct option_table - rows that belong together
 * @title: heading in the help
 * @rows: ends with a row whose @set is NULL
 * @ctx: for @set
 */
struct option_table {
	const char *title;
	const struct option_row *rows;
	void *ctx;
};

/**
 * struct usage - the help of a subcommand
 * @name: of the subcommand
 * @synopsis: the part behind the name
 * @text: description
 * @examples: one command and its comment a line
 */
struct usage {
	const char *name;
	const char *synopsis;
	const char *text;
	const char *examples;
};

/* Most tables that one subcommand has. */
#define OPTION_TABLES_MAX	6

/**
 * options_parse() - take the options of a subcommand
 * @usage: its help
 * @tables: ends with a table without rows
 * @argc: arguments
 * @argv: of which the first is the subcommand's name
 * @mixed: options may follow operands; else the first operand ends them
 * @operands: gets the index of the first operand; operands come last in @argv then
 * @status: gets the exit status when there is nothing left to do
 *
 * Return: whether to go on; if not, @status is the exit status.
 */
bool options_parse(const struct usage *usage, const struct option_table *tables, int argc,
		   char **argv, bool mixed, int *operands, int *status);

/*
 * parse_count() - a whole number, with k, M or G for 10^3, 10^6, 10^9
 * parse_size() - bytes, with k, M or G for 2^10, 2^20, 2^30
 *
 * Return: whether @text is one, and fits.
 */
bool parse_count(const char *text, unsigned long long *value);
bool parse_size(const char *text, unsigned long long *value);
/* event_period() - the colon before the period of "EVENT:PERIOD", or NULL */
char *event_period(char *spec);
/* parse_id() - the number of a process or thread: above 0 */
bool parse_id(const char *text, int *id);

#endif /* TOOLS_OPTIONS_H */
