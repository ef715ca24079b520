// SPDX-License-Identifier: GPL-2.0-only
/*
 * gprofctl wall: where the time of each thread went, all of it.
 */
#include "cli/cmd.h"

#include "cli/diag.h"
#include "cli/json.h"
#include "trace_source.h"
#include "wall.h"

#define ROWS	25

/**
 * struct wall_options - the subcommand
 * @source: the trace
 * @file: -o
 * @json: --json
 * @most: --top
 */
struct wall_options {
	struct trace_source source;
	const char *file;
	bool json;
	unsigned long long most;
};

static int set_file(void *ctx, const char *value)
{
	((struct wall_options *)ctx)->file = value;
	return STATUS_OK;
}

static int set_rows(void *ctx, const char *value)
{
	if (parse_count(value, &((struct wall_options *)ctx)->most))
		return STATUS_OK;
	return misused("-n wants a number of threads, 0 for all, not \"%s\"", value);
}

static const struct option_row wall_rows[] = {
	{ 'o', "output", "FILE", "write a profile instead, with the stacks, as gprofctl read --pprof\n"
	  "wall does; \"-\" is stdout", set_file },
	{ 'n', "rows", "N", "show N threads, 0 for all (default: 25)", set_rows },
	{ 0, "top", "N", NULL, set_rows },
	{ 0 },
};

static const struct usage wall_usage = {
	.name = "wall",
	.synopsis = TRACE_SOURCE_SYNOPSIS,
	.text = "Shows the time of each thread on a CPU, runnable without one (also throttled),\n"
		"and waiting, by the reasons of gprofctl block: sleep, io (a disk), futex, pipe,\n"
		"socket, file (any other), poll, fault (a page), reclaim (of memory), lock (of the\n"
		"kernel), child, signal, stopped, uninterruptible (for none of these), kernel (a\n"
		"thread of the kernel for work), other; untold is time without a known state.\n"
		"Parts add up to the time from where the thread first appears to its end. A wait\n"
		"within a page fault or reclaim has that as its reason. FILE is a trace of\n"
		"gprofctl trace or a snapshot of gprofctl flight, best with --stacks --reclaim\n"
		"--throttle, or one that a Go program wrote of itself, with its\n"
		"goroutines; without a FILE a trace is recorded with these.",
	.examples =
		"  gprofctl wall -- make -j4               # where the time of a build goes\n"
		"  gprofctl wall -a -d 10 -n 10            # of the host\n"
		"  gprofctl wall trace.out --json          # of a trace that there is\n"
		"  gprofctl wall trace.out -o wall.pb.gz   # with stacks, for top, flame and go tool pprof",
};

int cmd_wall(int argc, char **argv)
{
	static const char *const wants[] = {
		"--stacks=blocked,waker", "--reclaim", "--throttle",
		"--cpu-samples=100", NULL,
	};
	struct wall_options o = { .most = ROWS };
	const struct option_table tables[] = {
		{ "How to show it", wall_rows, &o },
		{ "What to record, without a FILE", trace_source_options, &o.source },
		{ "Target, without a FILE", target_options, &o.source.target },
		{ JSON_TABLE, json_options, &o.json },
		{ 0 },
	};
	int operands, status;

	if (!options_parse(&wall_usage, tables, argc, argv, trace_source_mixed(argc, argv),
			   &operands, &status))
		return status;
	if (o.json && o.file)
		return misused("-o is for a profile, which excludes --json");
	status = trace_source_get(&o.source, "wall", argv, operands, wants);
	if (status == STATUS_OK && o.file)
		status = wall_profile(o.source.file, o.file);
	else if (status == STATUS_OK)
		status = wall_table(o.source.file, o.json, o.most);
	return trace_source_free(&o.source, status);
}
