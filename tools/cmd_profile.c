// SPDX-License-Identifier: GPL-2.0-only
/*
 * gprofctl profile: who makes a tracepoint of the kernel fire.
 */
#include "cmd.h"

#include <string.h>

#include <gprof/recorder.h>

#include "options.h"
#include "record.h"
#include "say.h"
#include "target.h"

/**
 * struct profile_options - the command line
 * @target: whom to record
 * @cfg: for the library
 * @file: -o
 * @user_only: --user-only
 */
struct profile_options {
	struct target target;
	struct gprof_tracepoint_config cfg;
	const char *file;
	bool user_only;
};

static int set_event(void *ctx, const char *value)
{
	struct profile_options *o = ctx;
	const char *colon = strchr(value, ':');

	if (o->cfg.event)
		return misused("one tracepoint at a time: %s and %s are two", o->cfg.event, value);
	if (!colon || colon == value || !colon[1] || strchr(colon + 1, ':') || strchr(value, '/'))
		return misused("-e wants CATEGORY:NAME, such as sched:sched_process_fork, "
			       "not \"%s\"", value);
	o->cfg.event = value;
	return STATUS_OK;
}

static int set_output(void *ctx, const char *value)
{
	struct profile_options *o = ctx;

	if (o->file)
		return misused("two outputs: %s and %s", o->file, value);
	o->file = value;
	return STATUS_OK;
}

static int set_rate(void *ctx, const char *value)
{
	struct profile_options *o = ctx;
	unsigned long long n;

	if (!parse_count(value, &n) || !n)
		return misused("--rate wants events per sample, 1 or more, not \"%s\"", value);
	o->cfg.period = n;
	return STATUS_OK;
}

static int set_user_only(void *ctx, const char *value)
{
	(void)value;
	((struct profile_options *)ctx)->user_only = true;
	return STATUS_OK;
}

static int set_buffer(void *ctx, const char *value)
{
	struct profile_options *o = ctx;
	unsigned long long n;

	if (!parse_size(value, &n) || !n)
		return misused("--buffer wants bytes, such as 4M, not \"%s\"", value);
	o->cfg.buffer_bytes = n;
	return STATUS_OK;
}

static const struct option_row profile_rows[] = {
	{ 'e', "event", "CATEGORY:NAME", "the tracepoint, as under /sys/kernel/tracing/events",
	  set_event },
	{ 'o', "output", "FILE", "the profile (default: profile.pb.gz); \"-\" is stdout",
	  set_output },
	{ 0, "rate", "N", "sample every N-th event (default: 1, all)", set_rate },
	{ 0, "user-only", NULL, "leave the kernel's frames out", set_user_only },
	{ 0, "buffer", "BYTES", "kernel buffer per CPU", set_buffer },
	RECORD_DEBUGINFOD,
	{ 0 },
};

static const struct usage profile_usage = {
	.name = "profile",
	.synopsis = "-e CATEGORY:NAME [OPTIONS] " TARGET_SYNOPSIS,
	.text =
"Records the stacks that make a tracepoint of the kernel fire, and writes them as\n"
"a pprof profile. Needs CAP_PERFMON.\n"
"\n"
"A command's exit status is passed on; 1 or 2 mean that gprofctl itself failed,\n"
"127 or 126 that the command could not be run. The last line on stderr counts the\n"
"samples: produced = read + lost + overwritten.",
	.examples =
"  gprofctl profile -e sched:sched_process_fork -- make        # who forks in a build\n"
"  gprofctl profile -e kmem:mm_page_alloc --rate 100 -a -d 10  # every 100th page",
};

static struct gprof_recorder *make(void *ctx, const struct gprof_target *target, bool on_exec)
{
	struct profile_options *o = ctx;

	o->cfg.sz = sizeof(o->cfg);
	o->cfg.target = *target;
	o->cfg.on_exec = on_exec;
	o->cfg.kernel_frames = !o->user_only;
	return gprof_tracepoint_recorder_new(&o->cfg);
}

int cmd_profile(int argc, char **argv)
{
	struct profile_options o = { 0 };
	const struct option_table tables[] = {
		{ "What to record", profile_rows, &o },
		{ "Whom to record", target_options, &o.target },
		{ 0 },
	};
	int operands, status;

	if (!options_parse(&profile_usage, tables, argc, argv, false, &operands, &status))
		return status;
	if (!o.cfg.event)
		return misused("profile wants a tracepoint: -e CATEGORY:NAME, such as "
			       "-e sched:sched_process_fork");
	status = target_complete(&o.target, argv + operands, profile_usage.name);
	if (status != STATUS_OK)
		return status;
	if (!o.file)
		o.file = "profile.pb.gz";
	return record(&(struct recording){
		.target = &o.target,
		.files = &o.file,
		.nr_files = 1,
		.make = make,
		.ctx = &o,
	});
}
