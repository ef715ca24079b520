/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which functions of two sets of profiles differ by more than chance explains. Of numbers alone.
 */
#ifndef TOOLS_COMPARE_H
#define TOOLS_COMPARE_H

#include <stdbool.h>
#include <stddef.h>

/**
 * struct compare_row - a function, or the total
 * @name: its name, the caller's
 * @values: in each run, those before first
 * @samples: likewise, how many samples that was
 * @before: mean of a run before, for one of exposure
 * @after: likewise, after
 * @error: half of the interval of the difference of both; all intervals of one comparison hold
 *	together with a probability of 95 %
 * @p: probability that chance makes any row of the comparisons differ as much
 * @judged: enough samples are there for a difference to be seen at all
 * @whole: the total, which has no share of itself
 */
struct compare_row {
	const char *name;
	double *values;
	double *samples;
	double before;
	double after;
	double error;
	double p;
	bool judged;
	bool whole;
};

/**
 * struct comparison - runs before and after
 * @exposure: of each run, those before first: 1, its seconds, or its total
 * @nr_before: runs before
 * @nr_runs: all runs, of which one at least is after
 * @rows: functions, and the total
 * @nr: how many
 * @shares: the exposure is the run's total
 * @families: comparisons of the same rows that are judged together, this one among them; 0: 1
 * @judged: rows with enough samples
 * @runs_differ: rows vary more from run to run than their samples explain
 */
struct comparison {
	const double *exposure;
	size_t nr_before;
	size_t nr_runs;
	struct compare_row *rows;
	size_t nr;
	bool shares;
	size_t families;
	size_t judged;
	bool runs_differ;
};

/* A difference with a smaller p than this is told: alarms without a difference are as many. */
#define COMPARE_ALPHA	0.05

/* Fewer runs of a side do not tell how much runs differ. */
#define COMPARE_RUNS	3

/**
 * compare_rows() - judge each row
 * @c: comparison; in the rows @name, @values, @samples and @whole are set
 *
 * Samples are taken at random, so the sum of n of the same weight varies by the root of n. Where
 * several runs differ by more than that, rows are judged by how much runs differ.
 */
void compare_rows(struct comparison *c);

/* compare_knows_runs() - are there enough runs to see how much they differ? */
bool compare_knows_runs(const struct comparison *c);

/* compare_p() - probability of |t| or more, by Student's distribution; @df: INFINITY: the normal */
double compare_p(double t, double df);

#endif /* TOOLS_COMPARE_H */
