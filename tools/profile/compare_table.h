/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Functions of profiles before and after a change as rows of a table, with their changes and what
 * noise makes of them: of gprofctl compare and diff.
 */
#ifndef TOOLS_COMPARE_TABLE_H
#define TOOLS_COMPARE_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/intern.h"
#include "compare.h"
#include "functions.h"

#define COMPARE_MEASURES	2

/**
 * struct compare_measure - one way to measure a change
 * @head: heading of its columns
 * @exposure: of each run; the table's
 * @all: the total before, which a change is in per cent of; of shares 1
 * @c: what is judged by it; its rows are in the order of the table's
 */
struct compare_measure {
	const char *head;
	double *exposure;
	double all;
	struct comparison c;
};

/**
 * struct compare_line - a row as it is shown
 * @row: its number
 * @change: of the first measure, or of the values where there is none; not in the table's unit
 * @differs: by more than noise, by any measure
 */
struct compare_line {
	size_t row;
	double change;
	bool differs;
};

/**
 * struct compare_table - the table
 * @sides: headings of the values
 * @whole: what the total before is called
 * @unit: of them
 * @values: the values are those of the only run of each side; else means by the first measure
 * @limit: rows to show, 0: those that differ
 * @full_names: do not shorten names
 * @nr_before: runs before
 * @nr_runs: all of them
 * @names: numbers of rows
 * @rows: the total, and functions
 * @nr: how many
 * @room: of @rows
 * @measures: measures
 * @nr_measures: how many
 * @lines: all rows but the total, in order
 * @counted: the numbers of samples are known, and so what noise makes of them
 */
struct compare_table {
	const char *sides[2];
	const char *whole;
	const char *unit;
	bool values;
	unsigned long long limit;
	bool full_names;
	size_t nr_before;
	size_t nr_runs;
	struct intern names;
	struct compare_row *rows;
	size_t nr;
	size_t room;
	struct compare_measure measures[COMPARE_MEASURES];
	size_t nr_measures;
	struct compare_line *lines;
	bool counted;
};

/* compare_table_add() - the functions of run @nth; @samples: their numbers of samples, or none */
void compare_table_add(struct compare_table *t, size_t nth, const struct functions *values,
		       const struct functions *samples, bool cum);

/*
 * compare_table_measure() - measure changes by exposures of the runs, which it takes; @shares: these
 * are the runs' totals; @all: the total before, 0: that of the functions
 */
void compare_table_measure(struct compare_table *t, const char *head, double *exposure, bool shares,
			   double all);

/* compare_table_judge() - when all are there: judge rows, and put them in order */
void compare_table_judge(struct compare_table *t);

/* compare_table_row() - the row of a function that is there, by a measure */
const struct compare_row *compare_table_row(struct compare_table *t, size_t measure,
					    const char *name);

/* compare_table_percent() - a change in per cent of the total before */
double compare_table_percent(const struct compare_measure *m, double change);

static inline bool compare_differs(const struct compare_row *r)
{
	return r->p < COMPARE_ALPHA;
}

/* compare_table_samples() - of all functions of runs */
double compare_table_samples(const struct compare_table *t, size_t from, size_t to);

/* compare_table_print() - for people; @title: name of the rows, such as "functions" */
void compare_table_print(const struct compare_table *t, const char *title);
void compare_table_free(struct compare_table *t);

#endif /* TOOLS_COMPARE_TABLE_H */
