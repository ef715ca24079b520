/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How long threads wait for a CPU: the tables of perf sched.
 */
#ifndef TOOLS_VIEWS_LATENCY_H
#define TOOLS_VIEWS_LATENCY_H

#include <stdbool.h>

enum latency_table {
	LATENCY_SUMMARY,	/* of each name, or each thread */
	LATENCY_TIMEHIST,	/* a line for each switch, with what was before it */
	LATENCY_MAP,		/* a line for each switch, with who is on each CPU */
};

/**
 * latency_print() - print a table
 * @file: a trace of the host
 * @table: which
 * @threads: of LATENCY_SUMMARY: do not add up threads of one name
 * @json: LATENCY_SUMMARY as JSON with stable keys, by thread
 *
 * Return: the exit status.
 */
int latency_print(const char *file, enum latency_table table, bool threads, bool json);

#endif /* TOOLS_VIEWS_LATENCY_H */
