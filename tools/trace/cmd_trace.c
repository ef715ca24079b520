// SPDX-License-Identifier: GPL-2.0-only
/*
 * gprofctl trace: runs and waits of tasks, as a trace that Go's tools open.
 */
#include "cli/cmd.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gprof/trace_record.h>

#include "cli/duration.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/diag.h"
#include "cli/human.h"
#include "cli/session.h"
#include "cli/target_options.h"
#include "trace_options.h"
#include "views/live_analysis.h"
#include "views/live_view.h"

#define DEFAULT_FILE	"trace.out"
#define FOLLOW_NS	1000000000

/**
 * struct trace - the subcommand
 * @target: tasks or CPUs
 * @wants: events to record
 * @file: -o
 * @output: it, while open
 * @session: target and command
 * @recorder: from the library
 * @shown: progress goes to the terminal
 * @follow: --follow
 * @look: how it is shown then
 * @picture: the live view
 */
struct trace {
	struct target target;
	struct trace_wants wants;
	const char *file;
	struct output output;
	struct session session;
	struct gprof_trace_recorder *recorder;
	bool shown;
	bool follow;
	struct live_analysis_opts look;
	struct live_view picture;
};

static int set_output(void *ctx, const char *value)
{
	struct trace *t = ctx;

	if (t->file)
		return misused("two outputs: %s and %s", t->file, value);
	t->file = value;
	return STATUS_OK;
}

static int set_generation(void *ctx, const char *value)
{
	struct trace *t = ctx;
	int64_t ns;

	if (!duration_parse(value, &ns) || ns < 10000000 || ns > 3600 * 1000000000LL)
		return misused("--generation wants a time from 10ms to an hour, such as 1 (second), "
			       "not \"%s\"", value);
	t->wants.cfg.generation_ns = (uint64_t)ns;
	return STATUS_OK;
}

static int set_index(void *ctx, const char *value)
{
	(void)value;
	((struct trace *)ctx)->wants.cfg.index = true;
	return STATUS_OK;
}

static int set_buffer(void *ctx, const char *value)
{
	unsigned long long n;

	if (!parse_size(value, &n) || !n)
		return misused("--buffer wants bytes, such as 4M, not \"%s\"", value);
	((struct trace *)ctx)->wants.cfg.buffer_bytes = n;
	return STATUS_OK;
}

static int set_follow(void *ctx, const char *value)
{
	(void)value;
	((struct trace *)ctx)->follow = true;
	return STATUS_OK;
}

static const struct option_row trace_rows[] = {
	{ 'o', "output", "FILE", "the trace (default: " DEFAULT_FILE "); \"-\" is stdout",
	  set_output },
	{ 0, "follow", NULL, "write no trace, but show each second the running threads, those that\n"
	  "waited for a CPU, and the longest waits with their wakers", set_follow },
	{ 0, "generation", "TIME", "length of a generation of the trace (default: 1 s)",
	  set_generation },
	{ 0, "index", NULL, "end the trace with an index of its generations", set_index },
	{ 0, "buffer", "BYTES", "kernel buffer per CPU", set_buffer },
	{ 0 },
};

static const struct usage trace_usage = {
	.name = "trace",
	.synopsis = "[OPTIONS] " TARGET_SYNOPSIS,
	.text =
"Records the tasks that run on each CPU, the reasons why they stop, and their\n"
"wakers, as an execution trace, which go tool trace, gprofctl read and gprofctl\n"
"mmu open. There a CPU is a proc, and a task a goroutine. The trace is written\n"
"while it is recorded; memory does not grow with its length. Groups of events\n"
"that are off by default slow down every task of the host, and need CAP_PERFMON.\n"
"\n"
"gprofctl exits with the command's status; 1 or 2: gprofctl itself failed, 127 or\n"
"126: the command did not start. Where events were lost, and with -v, the last\n"
"line on stderr counts them: produced = read + lost + overwritten.",
	.examples =
"  gprofctl trace -- make -j4               # into trace.out\n"
"  go tool trace trace.out                  # look at it in a browser\n"
"  gprofctl read trace.out --summary        # or as numbers\n"
"  gprofctl trace -p 1234 -d 10 --stacks    # with where it waits, and its wakers\n"
"  gprofctl trace -a -d 10 --syscalls --irqs -o host.trace\n"
"  gprofctl trace -a --follow --stacks      # waits, with their wakers, now",
};

static bool make(void *ctx, const struct gprof_trace_config *cfg)
{
	struct trace *t = ctx;

	t->recorder = gprof_trace_recorder_new(cfg);
	return t->recorder;
}

static int show(void *ctx, int fd)
{
	return live_analysis_read(fd, &((struct trace *)ctx)->look);
}

static int start(struct trace *t)
{
	struct gprof_prepare how = session_preparing(&t->session);

	t->wants.cfg.target = t->target.gprof;
	if (!trace_wants_try(&t->wants, make, t))
		return fail("%s", gprof_error());
	if (t->follow) {
		t->look = (struct live_analysis_opts){ .out = stdout, .interval_ns = FOLLOW_NS };
		/* With a command the terminal is the command's. */
		if (!t->target.command)
			live_analysis_terminal(&t->look);
		if (live_view_begin(&t->picture, show, t) != STATUS_OK)
			return STATUS_FAILED;
	}
	if (gprof_trace_recorder_prepare(t->recorder, &how))
		return fail("%s", gprof_error());
	session_prepared(&t->session);
	if (gprof_trace_recorder_start(t->recorder, t->follow ? t->picture.fd : t->output.fd))
		return fail("%s", gprof_error());
	return session_go(&t->session);
}

static bool tick(void *ctx, uint64_t ns)
{
	struct gprof_trace_recorder_stats st = { .sz = sizeof(st) };
	struct trace *t = ctx;

	/* Bytes that were not written are lost. */
	if (gprof_trace_recorder_failed(t->recorder))
		return false;
	if (t->shown && !gprof_trace_recorder_stats(t->recorder, &st))
		progress("recording: %s, %" PRIu64 " events, %.1f MB, %" PRIu64
			 " lost (Ctrl-C ends it)", session_time(&t->session, ns), st.produced,
			 st.writer.bytes / 1e6, st.lost);
	return true;
}

/* A buffer of more than a GiB does not help a reader that is too slow all the time. */
static void report_losses(const struct gprof_trace_recorder_stats *st)
{
	uint64_t kib = st->buffer_wanted >> 10;
	char size[HUMAN_MAX];
	char *remedy;

	if (kib > 1 << 20)
		remedy = xprintf("record fewer (--min-duration, or no --syscalls)");
	else
		remedy = xprintf("--buffer %" PRIu64 "%c holds as many", kib < 1024 ? kib : kib >> 10,
				 kib < 1024 ? 'K' : 'M');
	diag("%" PRIu64 " of %" PRIu64 " events (%.3g %%) were lost, as the buffers of %s a CPU were "
	     "full; %s. The trace says where, and goes on from what was seen next", st->lost,
	     st->produced, 100.0 * (double)st->lost / (double)st->produced,
	     human((double)st->buffer_bytes, "bytes", size), remedy);
	free(remedy);
}

/* Facts that a reader of the trace needs before trusting it, and the counts. */
static int report(const struct trace *t)
{
	struct gprof_trace_recorder_stats st = { .sz = sizeof(st) };
	const struct gprof_trace_writer_stats *w = &st.writer;

	if (gprof_trace_recorder_stats(t->recorder, &st))
		return fail("%s", gprof_error());
	if (!st.produced && t->target.gprof.type == GPROF_PROCESS && t->target.gprof.id)
		diag("process %d did nothing while it was recorded: its threads waited all the time; "
		     "gprofctl task -p %d --format traceback shows where",
		     t->target.gprof.id, t->target.gprof.id);
	else if (!st.produced)
		diag("nothing happened to the target while it was recorded");
	if (st.lost)
		report_losses(&st);
	if (st.malformed)
		diag("%" PRIu64 " records of the kernel made no sense and were left out; this is a "
		     "bug of gprof",
		     st.malformed);
	if (!t->target.verbose && st.read == st.produced)
		return STATUS_OK;
	if (progress_enabled() && st.read)
		diag("%" PRIu64 " events of %" PRIu64 " tasks on %" PRIu64 " CPUs in %" PRIu64
		     " bytes: %" PRIu64 " in the trace, %.2f bytes each",
		     st.read, w->tasks, w->cpus, w->bytes, w->events,
		     w->events ? (double)w->bytes / w->events : 0);
	fprintf(stderr, "produced=%" PRIu64 " read=%" PRIu64 " lost=%" PRIu64 " overwritten=%" PRIu64
		" switches=%" PRIu64 " forks=%" PRIu64 " tasks=%" PRIu64 " cpus=%" PRIu64
		" generations=%" PRIu64 " repaired=%" PRIu64 " events=%" PRIu64
		" bytes=%" PRIu64 " stacks=%" PRIu64 " samples=%" PRIu64 "\n",
		st.produced, st.read, st.lost, st.overwritten, w->switches, w->forks, w->tasks,
		w->cpus, w->generations, w->repaired, w->events, w->bytes, st.stacks,
		st.points[GPROF_TRACE_POINT_SAMPLE]);
	return STATUS_OK;
}

/* The earlier output is a trace, of a shorter time, if it has a generation. */
static void keep(struct trace *t)
{
	struct gprof_trace_recorder_stats st = { .sz = sizeof(st) };
	const char *name = t->output.name;

	if (!gprof_trace_recorder_stats(t->recorder, &st) && st.whole_generations &&
	    output_keep(&t->output, (off_t)st.whole_bytes) == STATUS_OK)
		diag("%s ends early: the %" PRIu64 " generations in it were written before that",
		     name, st.whole_generations);
	else
		diag("%s was not written", name);
	output_discard(&t->output);
}

/* Ends the recording and puts the trace in place, or its begin. */
static int finish(struct trace *t)
{
	int status;

	watch_hurry(output_discard_all);
	if (t->follow) {
		int shown;

		status = gprof_trace_recorder_stop(t->recorder) ? STATUS_FAILED : STATUS_OK;
		shown = live_view_end(&t->picture);
		watch_resume();
		/* Without a reader of the picture the trace has no reader either. */
		if (status != STATUS_OK && shown == STATUS_OK)
			fail("%s", gprof_error());
		else if (shown != STATUS_OK)
			status = shown;
		if (status == STATUS_OK)
			status = finish_stdout();
	} else if (gprof_trace_recorder_stop(t->recorder)) {
		status = fail("%s: %s", t->output.name, gprof_error());
		watch_resume();
		keep(t);
	} else {
		watch_resume();
		t->output.keep_old = true;
		status = output_commit(&t->output);
		if (status == STATUS_OK)
			output_place(t->output.name, "", "timeline", "read --summary");
	}
	progress_clear();
	if (report(t) != STATUS_OK)
		status = STATUS_FAILED;
	return status;
}

static int record_trace(struct trace *t)
{
	int status = session_begin(&t->session, &t->target);

	if (status == STATUS_OK && !t->follow)
		status = output_open(&t->output, t->file);
	/* With a command the terminal is the command's; else it may be the pipe's reader's. */
	t->shown = progress_enabled() && !t->target.command && t->output.path;
	if (status == STATUS_OK)
		status = start(t);
	if (status == STATUS_OK) {
		session_wait(&t->session, tick, t);
		status = finish(t);
	}
	gprof_trace_recorder_free(t->recorder);
	live_view_end(&t->picture);
	output_discard(&t->output);
	return session_end(&t->session, status);
}

int cmd_trace(int argc, char **argv)
{
	struct trace t = { .output.fd = -1 };
	const struct option_table tables[] = {
		{ "What to record", trace_wants_options, &t.wants },
		{ "How to write it", trace_rows, &t },
		{ "Target", target_record_options, &t.target },
		{ 0 },
	};
	int operands, status;

	if (!options_parse(&trace_usage, tables, argc, argv, false, &operands, &status)) {
		trace_wants_free(&t.wants);
		return status;
	}
	status = target_complete(&t.target, argv + operands, trace_usage.name);
	if (status == STATUS_OK && t.follow && (t.file || t.wants.cfg.index))
		status = misused("--follow writes no trace, as %s wants", t.file ? "-o" : "--index");
	if (t.follow && !t.wants.cfg.version)
		t.wants.cfg.version = LIVE_VIEW_VERSION;
	if (!t.file)
		t.file = DEFAULT_FILE;
	if (status == STATUS_OK)
		status = record_trace(&t);
	trace_wants_free(&t.wants);
	return status;
}
