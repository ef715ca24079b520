// SPDX-License-Identifier: GPL-2.0-only
/*
 * gprofctl profile: tasks that fire tracepoints of the kernel, or its software events.
 */
#include "cli/cmd.h"

#include <stdlib.h>
#include <string.h>

#include <gprof/recorder.h>

#include "cli/options.h"
#include "cli/diag.h"
#include "cli/target_options.h"
#include "kinds.h"
#include "record.h"

#define EVENTS_MAX	16
#define DEFAULT_FILE	"profile.pb.gz"

/**
 * struct profile_options - the command line
 * @target: tasks or CPUs
 * @cfg: for the library
 * @events: -e, in order
 * @files: -o of each event, NULL where there is none
 * @filters: --filter of each event, NULL where there is none
 * @nr: number of events
 * @early_file: an -o before any -e
 * @user_only: --user-only
 */
struct profile_options {
	struct target target;
	struct gprof_tracepoint_config cfg;
	const char *events[EVENTS_MAX];
	const char *files[EVENTS_MAX];
	const char *filters[EVENTS_MAX];
	size_t nr;
	const char *early_file;
	bool user_only;
};

/* The name is then the table's to free. */
static int add_event(struct profile_options *o, char *name)
{
	for (size_t i = 0; i < o->nr; i++) {
		if (!strcmp(o->events[i], name)) {
			free(name);
			return misused("the event %s is given twice", o->events[i]);
		}
	}
	if (o->nr == EVENTS_MAX) {
		free(name);
		return misused("more than %d events at once are too many", EVENTS_MAX);
	}
	o->events[o->nr++] = name;
	return STATUS_OK;
}

static int set_event(void *ctx, const char *value)
{
	const char *colon = strchr(value, ':');

	if (!*value || (colon && (colon == value || !colon[1] || strchr(colon + 1, ':'))) ||
	    strchr(value, '/'))
		return misused("-e wants CATEGORY:NAME, such as sched:sched_process_fork, or what the "
			       "kernel counts itself, such as page-faults, not \"%s\"", value);
	return add_event(ctx, xprintf("%s", value));
}

static int set_probe(void *ctx, const char *value)
{
	return add_event(ctx, xprintf("%s:%s", strchr(value, ':') ? "uprobe" : "kprobe", value));
}

static int set_output(void *ctx, const char *value)
{
	struct profile_options *o = ctx;
	const char **file = o->nr ? &o->files[o->nr - 1] : &o->early_file;

	if (*file)
		return misused("two outputs, %s and %s, for one event: an -o belongs to the -e "
			       "before it", *file, value);
	*file = value;
	return STATUS_OK;
}

static int set_filter(void *ctx, const char *value)
{
	struct profile_options *o = ctx;

	if (!o->nr)
		return misused("--filter %s stands before every -e: it is for the -e before it",
			       value);
	if (o->filters[o->nr - 1])
		return misused("two filters for the event %s: join them with &&",
			       o->events[o->nr - 1]);
	o->filters[o->nr - 1] = value;
	return STATUS_OK;
}

static int set_period(struct profile_options *o, const char *option, const char *value)
{
	unsigned long long n;

	if (!parse_count(value, &n) || !n)
		return misused("%s wants events per sample, 1 or more, not \"%s\"", option, value);
	o->cfg.period = n;
	return STATUS_OK;
}

static int set_every(void *ctx, const char *value)
{
	return set_period(ctx, "--every", value);
}

/* As it was called before. */
static int set_rate(void *ctx, const char *value)
{
	return set_period(ctx, "--rate", value);
}

static int set_user_only(void *ctx, const char *value)
{
	(void)value;
	((struct profile_options *)ctx)->user_only = true;
	return STATUS_OK;
}

static int set_latency(void *ctx, const char *value)
{
	(void)value;
	((struct profile_options *)ctx)->cfg.latency = true;
	return STATUS_OK;
}

static int set_no_tables(void *ctx, const char *value)
{
	(void)value;
	((struct profile_options *)ctx)->cfg.no_unwind_tables = true;
	return STATUS_OK;
}

static int set_python(void *ctx, const char *value)
{
	(void)value;
	((struct profile_options *)ctx)->cfg.python = true;
	return STATUS_OK;
}

static int set_slices(void *ctx, const char *value)
{
	return parse_slices(value, &((struct profile_options *)ctx)->cfg.slice_ns);
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
	{ 'e', "event", "CATEGORY:NAME", "a tracepoint, as under /sys/kernel/tracing/events, or a\n"
	  "software event, such as page-faults; may be repeated, each with an -o of its own",
	  set_event },
	{ 0, "probe", "PROBE", "a new probe: FUNCTION of the kernel, or FILE:FUNCTION of a\n"
	  "program or library, with +OFFSET or %return behind; as another -e",
	  set_probe },
	{ 'o', "output", "FILE", "the profile of the -e before it (default: " DEFAULT_FILE ");\n"
	  "\"-\" is stdout", set_output },
	{ 0, "filter", "FILTER", "only matching hits of the tracepoint before it: comparisons of\n"
	  "its fields in the kernel's syntax: \"prev_prio < 100 && next_comm ~ 'sh*'\"",
	  set_filter },
	{ 0, "every", "N", "sample every N-th event, or one in N of those that\n"
	  "pass a filter, by chance (default: 1, all)", set_every },
	{ 0, "rate", "N", NULL, set_rate },
	{ 0, "latency", NULL, "a second value: the events divided by the number of the target's\n"
	  "tasks on CPUs (label parallelism)", set_latency },
	{ 0, "user-only", NULL, "leave the kernel's frames out", set_user_only },
	{ 0, "no-unwind-tables", NULL, "walk stacks by frame pointers alone", set_no_tables },
	{ 0, "python", NULL, "put functions of Python programs into the stacks (CPython 3.11 and\n"
	  "3.13)", set_python },
	{ 0, "slices", "TIME", SLICES_HELP, set_slices },
	{ 0, "buffer", "BYTES", "kernel buffer per CPU", set_buffer },
	RECORD_DEBUGINFOD,
	{ 0 },
};

static const struct usage profile_usage = {
	.name = "profile",
	.synopsis = "-e CATEGORY:NAME|--probe PROBE... [OPTIONS] " TARGET_SYNOPSIS,
	.text =
"Records the stacks at tracepoints of the kernel, at probes and at software\n"
"events as pprof profiles. It needs CAP_PERFMON, and for probes root. Software\n"
"events are page-faults, minor-faults, major-faults, context-switches,\n"
"cpu-migrations and the like.\n"
"\n"
"gprofctl exits with the command's status; 1 or 2: gprofctl itself failed, 127 or\n"
"126: the command did not start. Where samples were lost, and with -v, the last\n"
"line on stderr counts them: produced = read + lost + overwritten.",
	.examples =
"  gprofctl profile -e sched:sched_process_fork -- make        # forks in a build\n"
"  gprofctl profile -e kmem:mm_page_alloc --every 100 -a -d 10  # every 100th page\n"
"  gprofctl profile --probe vfs_fsync_range -a -d 10           # waits for disks\n"
"  gprofctl profile --probe /lib/x86_64-linux-gnu/libc.so.6:malloc --every 100 -p 1234\n"
"  gprofctl profile -e page-faults -o f.pb.gz -e sched:sched_switch -o s.pb.gz -p 1234",
};

static struct gprof_recorder *make(void *ctx, const struct gprof_target *target, bool on_exec)
{
	struct profile_options *o = ctx;

	o->cfg.sz = sizeof(o->cfg);
	o->cfg.target = *target;
	o->cfg.on_exec = on_exec;
	o->cfg.kernel_frames = !o->user_only;
	o->cfg.events = o->events;
	o->cfg.nr_events = o->nr;
	o->cfg.filters = o->filters;
	return gprof_tracepoint_recorder_new(&o->cfg);
}

/* Checks over several rows. */
static int complete(struct profile_options *o)
{
	if (!o->nr)
		return misused("profile is for tracepoints, -e CATEGORY:NAME, and --probe; "
			       "CPU time is for gprofctl cpu, with the same targets");
	if (o->early_file) {
		if (o->nr > 1 || o->files[0])
			return misused("-o %s stands before every -e: an -o belongs to the -e "
				       "before it", o->early_file);
		o->files[0] = o->early_file;
	}
	if (o->nr == 1 && !o->files[0])
		o->files[0] = DEFAULT_FILE;
	for (size_t i = 0; i < o->nr; i++)
		if (!o->files[i])
			return misused("the event %s has no output: with several events each wants "
				       "an -o of its own", o->events[i]);
	return STATUS_OK;
}

int cmd_profile(int argc, char **argv)
{
	struct profile_options o = { 0 };
	const struct option_table tables[] = {
		{ "What to record", profile_rows, &o },
		{ "Target", target_record_options, &o.target },
		{ 0 },
	};
	int operands, status;

	if (!options_parse(&profile_usage, tables, argc, argv, false, &operands, &status))
		goto out;
	status = complete(&o);
	if (status == STATUS_OK)
		status = target_complete(&o.target, argv + operands, profile_usage.name);
	if (status == STATUS_OK)
		status = record(&(struct recording){
			.target = &o.target,
			.files = o.files,
			.nr_files = o.nr,
			.make = make,
			.ctx = &o,
			.words = {
				.fewer = "a higher --every",
				.more = "a lower --every",
				.none = "the event did not happen while the target was recorded, or "
					"not as often as --every asks for",
			},
		});
out:
	for (size_t i = 0; i < o.nr; i++)
		free((char *)o.events[i]);
	return status;
}
