// SPDX-License-Identifier: GPL-2.0-only
/*
 * gprofctl stat: counts of events, and their ratios.
 */
#include "cli/cmd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <gprof/count.h>

#include "base/clock.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/diag.h"
#include "cli/json.h"
#include "cli/session.h"
#include "cli/target_options.h"
#include "stat_view.h"

#define EVENTS_MAX	64

/* Default events, in reading order. Missing ones are reported. */
static const char *const usual[] = {
	"timer", "context-switches", "cpu-migrations", "page-faults", "cycles", "instructions",
	"branches", "branchMisses", "cacheReferences", "cacheMisses",
};

/**
 * struct stat_options - the command line
 * @target: tasks or CPUs
 * @events: -e, in order
 * @nr: number of events
 * @file: -o
 * @flags: GPROF_COUNT_*
 * @json: --json
 */
struct stat_options {
	struct target target;
	const char *events[EVENTS_MAX];
	size_t nr;
	const char *file;
	unsigned int flags;
	bool json;
};

/**
 * struct stat_run - counting under way
 * @options: the command line
 * @output: where to; stderr beside a command, else stdout, when there is none
 * @session: target and command
 * @counting: from the library
 * @begun: when the counting began, ns
 */
struct stat_run {
	struct stat_options *options;
	struct output output;
	struct session session;
	struct gprof_counting *counting;
	uint64_t begun;
};

static int set_event(void *ctx, const char *value)
{
	struct stat_options *o = ctx;

	if (!*value)
		return misused("-e wants an event, such as cycles; gprofctl info lists them");
	if (o->nr == EVENTS_MAX)
		return misused("more than %d events at once are too many", EVENTS_MAX);
	for (size_t i = 0; i < o->nr; i++)
		if (!strcmp(o->events[i], value))
			return misused("the event %s is given twice", value);
	o->events[o->nr++] = value;
	return STATUS_OK;
}

static int set_output(void *ctx, const char *value)
{
	struct stat_options *o = ctx;

	if (o->file)
		return misused("two outputs: %s and %s", o->file, value);
	o->file = value;
	return STATUS_OK;
}

static int set_mode(struct stat_options *o, unsigned int mode)
{
	if (o->flags & (GPROF_COUNT_USER | GPROF_COUNT_KERNEL) & ~mode)
		return misused("--user-only and --kernel exclude each other");
	o->flags |= mode;
	return STATUS_OK;
}

static int set_user_only(void *ctx, const char *value)
{
	(void)value;
	return set_mode(ctx, GPROF_COUNT_USER);
}

static int set_kernel(void *ctx, const char *value)
{
	(void)value;
	return set_mode(ctx, GPROF_COUNT_KERNEL);
}

static const struct option_row stat_rows[] = {
	{ 'e', "event", "EVENT", "an event to count; may be repeated (default: common events that\n"
	  "work here)", set_event },
	{ 'o', "output", "FILE", "write the counts there (default: stderr beside a command, else\n"
	  "stdout)", set_output },
	{ 0, "user-only", NULL, "leave the kernel out", set_user_only },
	{ 0, "kernel", NULL, "require counts of the kernel (default: if permitted, CAP_PERFMON)",
	  set_kernel },
	{ 0 },
};

static const struct usage stat_usage = {
	.name = "stat",
	.synopsis = "[-e EVENT]... [OPTIONS] " TARGET_SYNOPSIS,
	.text =
"Counts events of a command and all that it forks, a process, a thread, a cgroup,\n"
"CPUs or the whole host, without samples, and prints ratios: instructions per\n"
"cycle, cache misses per reference, mispredicted branches.\n"
"\n"
"EVENT is as for gprofctl cpu, or a tracepoint, CATEGORY:NAME. Events beyond the\n"
"CPU's counters take turns: their counts are scaled up, and printed with the\n"
"share of the time in which they were counted. Ctrl-C ends the counting; gprofctl\n"
"exits with the command's status.",
	.examples =
"  gprofctl stat -- make                                # what a build does\n"
"  gprofctl stat -e cacheMisses -e cacheReferences -p 1234 -d 10\n"
"  gprofctl stat -e page-faults -e sched:sched_process_fork -a -d 10 --json",
};

static int start(struct stat_run *s)
{
	struct stat_options *o = s->options;
	struct target *t = &o->target;

	s->counting = gprof_counting_new(&(struct gprof_count_config){
		.sz = sizeof(struct gprof_count_config),
		.target = t->gprof,
		.events = o->events,
		.nr_events = o->nr,
		.flags = o->flags,
		.on_exec = t->is_command,
	});
	s->begun = now_ns();
	if (!s->counting || gprof_counting_start(s->counting))
		return fail("%s", gprof_error());
	return session_go(&s->session);
}

static bool tick(void *ctx, uint64_t ns)
{
	(void)ctx;
	progress("counting: %.1f s (Ctrl-C ends it)", ns / 1e9);
	return true;
}

static int show(struct stat_run *s, uint64_t ns)
{
	struct stat_options *o = s->options;
	struct gprof_count *counts = xalloc(o->nr, sizeof(*counts));
	bool idle = o->target.gprof.type == GPROF_CPUS || o->target.gprof.type == GPROF_SYSTEM;
	int status = STATUS_OK;
	FILE *f;

	for (size_t i = 0; i < o->nr && status == STATUS_OK; i++) {
		counts[i].sz = sizeof(counts[i]);
		if (gprof_counting_read(s->counting, i, &counts[i]))
			status = fail("%s", gprof_error());
	}
	if (status == STATUS_OK && o->file) {
		f = output_stream(&s->output);
		if (!f)
			status = fail("%s cannot be written: %s", o->file, strerror(errno));
	} else {
		f = o->target.command ? stderr : stdout;
	}
	if (status == STATUS_OK)
		(o->json ? stat_json : stat_text)(f, counts, o->nr, ns, idle);
	if (status == STATUS_OK && o->file && fclose(f))
		status = fail("%s cannot be written: %s", o->file, strerror(errno));
	free(counts);
	return status;
}

static int finish(struct stat_run *s)
{
	uint64_t end;
	int status;

	if (gprof_counting_stop(s->counting))
		return fail("%s", gprof_error());
	end = now_ns();
	progress_clear();
	status = show(s, end - s->begun);
	if (status == STATUS_OK && s->options->file)
		status = output_commit(&s->output);
	if (status == STATUS_OK)
		status = finish_stdout();
	return status;
}

static int count_events(struct stat_options *o)
{
	struct stat_run s = { .options = o };
	bool shown = progress_enabled() && !o->target.command;
	int status = session_begin(&s.session, &o->target);

	if (status == STATUS_OK && o->file)
		status = output_open_text(&s.output, o->file);
	if (status == STATUS_OK)
		status = start(&s);
	if (status == STATUS_OK) {
		session_wait(&s.session, shown ? tick : NULL, NULL);
		status = finish(&s);
	}
	gprof_counting_free(s.counting);
	if (o->file)
		output_discard(&s.output);
	return session_end(&s.session, status);
}

int cmd_stat(int argc, char **argv)
{
	struct stat_options o = { 0 };
	const struct option_table tables[] = {
		{ "What to count", stat_rows, &o },
		{ "Target", target_options, &o.target },
		{ JSON_TABLE, json_options, &o.json },
		{ 0 },
	};
	int operands, status;

	if (!options_parse(&stat_usage, tables, argc, argv, false, &operands, &status))
		return status;
	status = target_complete(&o.target, argv + operands, stat_usage.name);
	if (status != STATUS_OK)
		return status;
	if (!o.nr) {
		memcpy(o.events, usual, sizeof(usual));
		o.nr = ARRAY_SIZE(usual);
		o.flags |= GPROF_COUNT_PARTIAL;
	}
	return count_events(&o);
}
