// SPDX-License-Identifier: GPL-2.0-only
/*
 * gprofctl why: which threads kept a thread waiting, one behind the other.
 */
#include "cli/cmd.h"

#include "cli/diag.h"
#include "cli/json.h"
#include "trace_source.h"
#include "wait_chain.h"

#define ROWS		25

/**
 * struct why_options - the subcommand
 * @source: the trace
 * @question: --thread, --at, --region
 * @file: -o
 */
struct why_options {
	struct trace_source source;
	struct wait_question question;
	const char *file;
};

static int set_thread(void *ctx, const char *value)
{
	((struct why_options *)ctx)->question.thread = value;
	return STATUS_OK;
}

static int set_at(void *ctx, const char *value)
{
	((struct why_options *)ctx)->question.at = value;
	return STATUS_OK;
}

static int set_region(void *ctx, const char *value)
{
	((struct why_options *)ctx)->question.region = value;
	return STATUS_OK;
}

static int set_most(void *ctx, const char *value)
{
	unsigned long long most;

	if (!parse_count(value, &most))
		return misused("-n wants a number of steps, 0 for all, not \"%s\"", value);
	((struct why_options *)ctx)->question.most = most;
	return STATUS_OK;
}

static int set_file(void *ctx, const char *value)
{
	((struct why_options *)ctx)->file = value;
	return STATUS_OK;
}

static const struct option_row why_rows[] = {
	{ 0, "thread", "TID|COMM", "the longest wait of this thread (default: of any, but for those\n"
	  "that sleep, poll or wait for a signal)", set_thread },
	{ 0, "at", "TIME", "the wait at that time of the trace, or +TIME since it began", set_at },
	{ 0, "region", "NAME", "the longest wait within the longest region of this name, which a\n"
	  "program tells by gprof/annotate.h", set_region },
	{ 'n', "rows", "N", "show so many steps, 0 for all (default: 25)", set_most },
	{ 'o', "output", "FILE", "write it as a profile with the chain as its stack; \"-\" is stdout",
	  set_file },
	{ 0 },
};

static const struct usage why_usage = {
	.name = "why",
	.synopsis = TRACE_SOURCE_SYNOPSIS,
	.text = "Shows why a thread waited: the threads that it waited for, one behind the other, and\n"
		"what each did meanwhile. The waker of a thread ran before, or was runnable, or\n"
		"waited itself for another, so that all of the wait is told. FILE is a trace of\n"
		"gprofctl trace or a snapshot of gprofctl flight, best with -a --stacks, or one that a\n"
		"Go program wrote of itself; without a FILE a trace is recorded.",
	.examples =
		"  gprofctl why -- make -j4                   # the longest wait of a build\n"
		"  gprofctl why -a -d 5 --thread postgres     # of a server, among all the host\n"
		"  gprofctl why trace.out --region request    # of the slowest request\n"
		"  gprofctl why flight.out --thread 4711 --at +2.5",
};

int cmd_why(int argc, char **argv)
{
	static const char *const wants[] = {
		"--stacks=blocked,waker", "--reclaim", "--throttle",
		"--annotations", NULL,
	};
	struct why_options o = { .question.most = ROWS };
	const struct option_table tables[] = {
		{ "Which wait", why_rows, &o },
		{ "What to record, without a FILE", trace_source_options, &o.source },
		{ "Target, without a FILE", target_options, &o.source.target },
		{ JSON_TABLE, json_options, &o.question.json },
		{ 0 },
	};
	int operands, status;

	if (!options_parse(&why_usage, tables, argc, argv, trace_source_mixed(argc, argv),
			   &operands, &status))
		return status;
	if (o.question.region && (o.question.thread || o.question.at))
		return misused("--region finds the thread and the time, and excludes --thread and --at");
	if (o.question.json && o.file)
		return misused("-o is for a profile, which excludes --json");
	status = trace_source_get(&o.source, "why", argv, operands, wants);
	if (status == STATUS_OK)
		status = wait_chain_print(o.source.file, &o.question, o.file);
	return trace_source_free(&o.source, status);
}
