// SPDX-License-Identifier: GPL-2.0-only
/*
 * gprofctl syscalls: which system calls take the time.
 */
#include "cli/cmd.h"

#include "cli/diag.h"
#include "cli/json.h"
#include "syscalls.h"
#include "trace_source.h"

/**
 * struct syscalls_options - the subcommand
 * @source: the trace
 * @how: --threads, -n, --json
 */
struct syscalls_options {
	struct trace_source source;
	struct syscalls_opts how;
};

static int set_rows(void *ctx, const char *value)
{
	if (parse_count(value, &((struct syscalls_options *)ctx)->how.rows))
		return STATUS_OK;
	return misused("-n wants a number of rows, 0 for all, not \"%s\"", value);
}

static int set_threads(void *ctx, const char *value)
{
	(void)value;
	((struct syscalls_options *)ctx)->how.threads = true;
	return STATUS_OK;
}

static const struct option_row syscalls_rows[] = {
	{ 'n', "rows", "N", "show N rows, 0 for all (default: 25, of those of the most time)", set_rows },
	{ 0, "threads", NULL, "a row for a system call of each thread", set_threads },
	{ 0 },
};

static const struct usage syscalls_usage = {
	.name = "syscalls",
	.synopsis = TRACE_SOURCE_SYNOPSIS,
	.text = "Shows the system calls by the time that threads were in them: in all, on a CPU and\n"
		"off it (waiting, or preempted); how many there were, and how long on average, in 99\n"
		"of 100 at most (p99, to an eighth), and in the longest, and when that began, of\n"
		"CLOCK_MONOTONIC. FILE is a trace of gprofctl trace --syscalls; without a FILE one is\n"
		"recorded.",
	.examples =
		"  gprofctl syscalls -- COMMAND            # of a command, as strace -c -w\n"
		"  gprofctl syscalls -a -d 5               # of this host, for 5 s\n"
		"  gprofctl syscalls -p 1234 -d 5 --threads\n"
		"  gprofctl syscalls trace.out --json      # of a trace that there is",
};

int cmd_syscalls(int argc, char **argv)
{
	static const char *const wants[] = { "--syscalls", NULL };
	struct syscalls_options o = { .how.rows = SYSCALLS_ROWS };
	const struct option_table tables[] = {
		{ "What to show", syscalls_rows, &o },
		{ "Target, without a FILE", target_options, &o.source.target },
		{ JSON_TABLE, json_options, &o.how.json },
		{ 0 },
	};
	int operands, status;

	if (!options_parse(&syscalls_usage, tables, argc, argv, trace_source_mixed(argc, argv),
			   &operands, &status))
		return status;
	status = trace_source_get(&o.source, "syscalls", argv, operands, wants);
	if (status == STATUS_OK)
		status = syscalls_print(o.source.file, &o.how);
	return trace_source_free(&o.source, status);
}
