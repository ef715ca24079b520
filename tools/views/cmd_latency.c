// SPDX-License-Identifier: GPL-2.0-only
/*
 * gprofctl latency: how long threads wait for a CPU.
 */
#include "cli/cmd.h"

#include <stdio.h>
#include <string.h>

#include "cli/diag.h"
#include "cli/json.h"
#include "live_analysis.h"
#include "latency.h"
#include "trace_source.h"

#define FOLLOW_NS	1000000000

/**
 * struct latency_options - the subcommand
 * @source: the trace
 * @how: --timehist, --map, --threads, --json, --follow
 * @chosen: the option that chose the table
 */
struct latency_options {
	struct trace_source source;
	struct latency_opts how;
	const char *chosen;
};

static int choose(struct latency_options *o, enum latency_table table, const char *option)
{
	if (o->chosen && o->how.table != table)
		return misused("%s and %s exclude each other", o->chosen, option);
	o->how.table = table;
	o->chosen = option;
	return STATUS_OK;
}

static int set_timehist(void *ctx, const char *value)
{
	(void)value;
	return choose(ctx, LATENCY_TIMEHIST, "--timehist");
}

static int set_map(void *ctx, const char *value)
{
	(void)value;
	return choose(ctx, LATENCY_MAP, "--map");
}

static int set_threads(void *ctx, const char *value)
{
	(void)value;
	((struct latency_options *)ctx)->how.threads = true;
	return STATUS_OK;
}

static int show(void *ctx, int fd)
{
	return latency_read(fd, "the trace", &((struct latency_options *)ctx)->how);
}

static int set_follow(void *ctx, const char *value)
{
	struct latency_options *o = ctx;

	(void)value;
	o->how.interval_ns = FOLLOW_NS;
	o->source.show = show;
	o->source.ctx = o;
	return STATUS_OK;
}

static int set_rows(void *ctx, const char *value)
{
	struct latency_options *o = ctx;

	if (!parse_count(value, &o->how.rows) || !o->how.rows)
		return misused("-n wants a number of rows above 0, not \"%s\"", value);
	return STATUS_OK;
}

static const struct option_row latency_rows[] = {
	{ 'n', "rows", "N", "show N rows (default: 25, of those that waited longest in all)", set_rows },
	{ 0, "threads", NULL, "each thread by itself, not all of a name together", set_threads },
	{ 0, "timehist", NULL, "a line for each time that a thread left a CPU: how long it had been\n"
	  "off, woken without a CPU, and on it", set_timehist },
	{ 0, "map", NULL, "a line for each switch, with the thread on each CPU", set_map },
	{ 0, "follow", NULL, "write no trace, but show it while it is recorded: of each second, or\n"
	  "line by line", set_follow },
	{ 0 },
};

static const struct usage latency_usage = {
	.name = "latency",
	.synopsis = TRACE_SOURCE_SYNOPSIS,
	.text = "Shows how long threads ran and how long they waited for a CPU: on average, in half\n"
		"and in 99 of 100 waits at most (p50, p99; to an eighth), and in the longest, and\n"
		"when that was; or the tables timehist and map of perf sched. A wait begins with a\n"
		"waking, a creation or a preemption (--timehist: not with a preemption) and ends\n"
		"when the thread runs. Times are of CLOCK_MONOTONIC. FILE is a trace of gprofctl trace or a\n"
		"snapshot of gprofctl flight, with any options, or one that a Go program wrote of\n"
		"itself; without a FILE one is recorded, and with --follow shown meanwhile.",
	.examples =
"  gprofctl latency -a -d 10               # waits for CPUs on this host\n"
"  gprofctl latency -a --follow            # each second, until Ctrl-C\n"
"  gprofctl latency trace.out --threads    # of a trace that there is\n"
"  gprofctl latency trace.out --timehist | grep '\\[1234\\]'",
};

int cmd_latency(int argc, char **argv)
{
	static const char *const wants[] = { NULL };
	struct latency_options o = { .how.table = LATENCY_SUMMARY };
	const struct option_table tables[] = {
		{ "What to show", latency_rows, &o },
		{ "Target, without a FILE", target_options, &o.source.target },
		{ JSON_TABLE, json_options, &o.how.json },
		{ 0 },
	};
	struct live_analysis_opts look = { .out = stdout };
	int operands, status;

	if (!options_parse(&latency_usage, tables, argc, argv, trace_source_mixed(argc, argv),
			   &operands, &status))
		return status;
	if (o.chosen && (o.how.threads || o.how.json))
		return misused("%s excludes --threads and --json", o.chosen);
	if (o.source.show && o.how.table == LATENCY_SUMMARY && !o.how.json)
		live_analysis_terminal(&look);
	/* With a command the terminal is the command's. */
	o.how.redraw = look.redraw && strcmp(argv[operands - 1], "--");
	status = trace_source_get(&o.source, "latency", argv, operands, wants);
	if (status == STATUS_OK && o.source.file)
		status = latency_print(o.source.file, &o.how);
	return trace_source_free(&o.source, status);
}
