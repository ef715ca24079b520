/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How long threads wait for a CPU: quantiles, and the tables of perf sched for each switch.
 */
#ifndef TOOLS_VIEWS_LATENCY_H
#define TOOLS_VIEWS_LATENCY_H

#include <stdbool.h>
#include <stdint.h>

enum latency_table {
	LATENCY_SUMMARY,	/* of each name, or each thread */
	LATENCY_TIMEHIST,	/* a line for each switch, with the time before it */
	LATENCY_MAP,		/* a line for each switch, with the thread on each CPU */
};

#define LATENCY_ROWS	25	/* of LATENCY_SUMMARY, by default */

/**
 * struct latency_opts - how it is printed
 * @table: which
 * @threads: of LATENCY_SUMMARY: do not add up threads of one name
 * @rows: of LATENCY_SUMMARY at most, those that waited longest in all; 0: LATENCY_ROWS
 * @json: LATENCY_SUMMARY as JSON with stable keys, by thread
 * @interval_ns: of a trace that is recorded now: LATENCY_SUMMARY is printed of each interval
 *	that has about that length, and lines as they come; memory is that of a generation, and
 *	of the threads alive. 0: of all of it
 * @redraw: each summary takes the place of the one before
 */
struct latency_opts {
	enum latency_table table;
	bool threads;
	unsigned long long rows;
	bool json;
	int64_t interval_ns;
	bool redraw;
};

/* latency_print() - print a table of a trace of the host, by its path; the exit status */
int latency_print(const char *file, const struct latency_opts *o);

/* latency_read() - likewise of an open file or pipe, with a name for sentences */
int latency_read(int fd, const char *name, const struct latency_opts *o);

#endif /* TOOLS_VIEWS_LATENCY_H */
