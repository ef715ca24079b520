// SPDX-License-Identifier: GPL-2.0-only
/*
 * gprofctl flight: the last seconds of a trace, kept in memory, and written when they are
 * asked for, or when something goes wrong.
 */
#include "cli/cmd.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <gprof/flight.h>

#include "base/clock.h"
#include "cli/duration.h"
#include "cli/hook.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/diag.h"
#include "cli/session.h"
#include "cli/target_options.h"
#include "snapshots.h"
#include "trace_options.h"
#include "triggers.h"

#define NS		1000000000ULL
#define MIN_AGE_NS	(10 * NS)
#define HOOK_NS		(60 * NS)

enum at_end { AT_END_NEVER, AT_END_FAILED, AT_END_ALWAYS };

/**
 * struct flight - the subcommand
 * @target: tasks or CPUs
 * @wants: events to record
 * @opts: how much to keep
 * @triggers: conditions for a snapshot
 * @after_ns: and how long later
 * @at_end: whether the end is a reason for a snapshot
 * @snapshots: where they go
 * @hook: --exec
 * @session: target and command
 * @flight: from the library
 * @due_ns: when the snapshot of a trigger is, CLOCK_MONOTONIC; 0: none is
 * @fired_ns: when that fired
 * @reason: which trigger
 * @taken: snapshots that were written
 * @failed: and those that were not
 * @shown: progress goes to the terminal
 */
struct flight {
	struct target target;
	struct trace_wants wants;
	struct gprof_flight_opts opts;
	struct triggers triggers;
	uint64_t after_ns;
	enum at_end at_end;
	struct snapshots snapshots;
	struct hook hook;
	struct session session;
	struct gprof_flight *flight;
	uint64_t due_ns;
	uint64_t fired_ns;
	char reason[SNAPSHOT_REASON];
	uint64_t taken;
	uint64_t failed;
	bool shown;
};

/* SIGUSR1s that are yet to be served, which are one where they come together. */
static volatile sig_atomic_t asked;

static void on_hangup(int sig)
{
	(void)sig;
	asked = 1;
}

static int set_dir(void *ctx, const char *value)
{
	struct flight *f = ctx;

	if (f->snapshots.dir)
		return misused("two directories: %s and %s", f->snapshots.dir, value);
	if (!*value)
		return misused("-o wants the name of a directory");
	f->snapshots.dir = value;
	return STATUS_OK;
}

static int set_min_age(void *ctx, const char *value)
{
	int64_t ns;

	if (!duration_parse(value, &ns) || ns <= 0 || ns > 24 * 3600 * (int64_t)NS)
		return misused("--min-age wants a time of at most a day, such as 10s, not \"%s\"",
			       value);
	((struct flight *)ctx)->opts.min_age_ns = (uint64_t)ns;
	return STATUS_OK;
}

static int parse_bytes(const char *name, const char *value, uint64_t *bytes)
{
	unsigned long long n;

	if (!parse_size(value, &n) || !n)
		return misused("--%s wants bytes, such as 64M, not \"%s\"", name, value);
	*bytes = n;
	return STATUS_OK;
}

static int set_max_bytes(void *ctx, const char *value)
{
	return parse_bytes("max-bytes", value, &((struct flight *)ctx)->opts.max_bytes);
}

static int set_total(void *ctx, const char *value)
{
	uint64_t bytes = 0;
	int status = parse_bytes("total", value, &bytes);

	((struct flight *)ctx)->snapshots.bytes = bytes;
	return status;
}

static int set_keep(void *ctx, const char *value)
{
	struct flight *f = ctx;

	if (!parse_count(value, &f->snapshots.keep) || !f->snapshots.keep)
		return misused("--keep wants a number of snapshots above 0, not \"%s\"", value);
	return STATUS_OK;
}

static int set_trigger(void *ctx, const char *value)
{
	return triggers_add(&((struct flight *)ctx)->triggers, value);
}

static int set_after(void *ctx, const char *value)
{
	int64_t ns;

	if (!duration_parse(value, &ns) || ns < 0 || ns > 3600 * (int64_t)NS)
		return misused("--after wants a time of at most an hour, such as 2s, not \"%s\"",
			       value);
	((struct flight *)ctx)->after_ns = (uint64_t)ns;
	return STATUS_OK;
}

static int set_at_end(void *ctx, const char *value)
{
	struct flight *f = ctx;

	if (!value || !strcmp(value, "always"))
		f->at_end = AT_END_ALWAYS;
	else if (!strcmp(value, "failed"))
		f->at_end = AT_END_FAILED;
	else
		return misused("--at-end wants always or failed, not \"%s\"", value);
	return STATUS_OK;
}

static int set_exec(void *ctx, const char *value)
{
	((struct flight *)ctx)->hook.command = value;
	return STATUS_OK;
}

static const struct option_row flight_rows[] = {
	{ 'o', "output", "DIR", "directory of the snapshots; made if it is missing", set_dir },
	{ 0, "min-age", "TIME", "how far a snapshot goes back, where memory allows\n"
	  "(default: 10 s)",
	  set_min_age },
	{ 0, "max-bytes", "BYTES", "memory for the buffers of all CPUs (default: 64M, or a user's\n"
	  "limit)",
	  set_max_bytes },
	{ 0, "keep", "N", "keep the newest N snapshots, and remove older ones (default: all)",
	  set_keep },
	{ 0, "total", "BYTES", "keep no more bytes of snapshots", set_total },
	{ 0, "trigger", "SPEC", "a condition for a snapshot; up to eight, in quotes for the\n"
	  "shell. A task waited for a CPU, was off the CPU, or slept and could not be\n"
	  "interrupted: delay>TIME, off-cpu>TIME, blocked>TIME; a process was ended by a signal:\n"
	  "signal[:NAME]; with CAP_PERFMON also syscall[:NAME]>TIME, reclaim>TIME, irq[:NR]>TIME,\n"
	  "softirq[:NAME]>TIME, tracepoint:CATEGORY:EVENT. TIME is such as 5ms, 200us or 2\n"
	  "(seconds). SPEC/TIME: once in TIME at most (default: a second); behind a tracepoint\n"
	  "and its time 'if FILTER', as gprofctl profile has", set_trigger },
	{ 0, "after", "TIME", "how far the snapshot of a trigger goes on after it (default: 0)",
	  set_after },
	{ 0, "at-end", "[=WHEN]", "a snapshot at the end too: always (the default), or failed:\n"
	  "when the command has not ended with status 0", set_at_end },
	{ 0, "exec", "CMD", "run this in a shell after each snapshot, whose path is $1", set_exec },
	{ 0 },
};

static const struct usage flight_usage = {
	.name = "flight",
	.synopsis = "[OPTIONS] -o DIR " TARGET_SYNOPSIS,
	.text =
"Keeps the last seconds of an execution trace in memory, and writes them to DIR\n"
"on request (gprofctl snapshot, SIGUSR1) or at a trigger event, as files\n"
"TIME-REASON.trace that gprofctl read, gprofctl mmu and go tool trace open.\n"
"Recording goes on until Ctrl-C or the end of the target. The kernel evaluates\n"
"triggers; each trigger event is a line on stderr, and a log in the snapshot.\n"
"Without a request or a trigger event nothing is written.\n"
"\n"
"gprofctl exits with the command's status; 1 or 2: gprofctl itself failed, 127 or\n"
"126: the command did not start. Where events or snapshots were lost, and with\n"
"-v, the last line on stderr counts them: produced = held + lost + overwritten.",
	.examples =
"  gprofctl flight -a -o /var/tmp/flight &  # keep the host's last 10 seconds\n"
"  gprofctl snapshot                        # something just happened: write them\n"
"  gprofctl flight -a --trigger 'delay>5ms' -o DIR     # a task waits so long for a CPU\n"
"  gprofctl flight -G /sys/fs/cgroup/system.slice/shop.service --stacks \\\n"
"           --trigger 'off-cpu>2s' -o DIR      # a service hangs: what does it wait for?\n"
"  gprofctl flight -p 1234 --trigger 'syscall:fsync>1s' --after 1s -o DIR\n"
"  gprofctl flight --at-end=failed -o DIR -- ./test    # what led to its failure\n"
"  gprofctl flight -p 1234 --stacks --keep 20 -o DIR   # with where it waited",
};

static bool make(void *ctx, const struct gprof_trace_config *cfg)
{
	struct flight *f = ctx;

	f->opts.sz = sizeof(f->opts);
	f->flight = gprof_flight_new(cfg, &f->opts);
	return f->flight;
}

static int set_triggers(struct flight *f)
{
	unsigned int i;

	for (i = 0; i < f->triggers.nr; i++)
		if (gprof_flight_trigger(f->flight, &f->triggers.all[i]) < 0)
			return fail("%s", gprof_error());
	return STATUS_OK;
}

static int start(struct flight *f)
{
	f->wants.cfg.target = f->target.gprof;
	if (!trace_wants_try(&f->wants, make, f))
		return fail("%s", gprof_error());
	if (set_triggers(f) != STATUS_OK)
		return STATUS_FAILED;
	/* The sooner the snapshot after a trigger event, the less is overwritten. */
	f->session.watch.urgent_fd = gprof_flight_fd(f->flight);
	if (gprof_flight_start(f->flight))
		return fail("%s", gprof_error());
	return session_go(&f->session);
}

/*
 * One line for each: cause, file, and whether its age is less than requested. @fired_ns: time of
 * the trigger event, 0: none.
 */
static void report_snapshot(const struct flight *f, const char *reason, uint64_t fired_ns,
			    const char *name, const struct gprof_flight_snapshot *snap)
{
	char age[DURATION_TEXT], wanted[DURATION_TEXT];

	duration_text((int64_t)(snap->until_ns - snap->from_ns), age);
	if (snap->whole)
		diag("%s: the last %s are in %s/%s", reason, age, f->snapshots.path, name);
	else
		diag("%s: the last %s (not %s: a larger --max-bytes keeps more) are in %s/%s",
		     reason, age, duration_text((int64_t)f->opts.min_age_ns, wanted),
		     f->snapshots.path, name);
	if (snap->uid_permille)
		diag("%s: the buffers reach back %s: %.1f %% of their events are of tasks of uid %" PRIu32,
		     reason, age, snap->uid_permille / 10.0, snap->uid);
	if (fired_ns && fired_ns < snap->from_ns)
		diag("%s: its trigger event is older, and is not in it", reason);
	if (snap->missed)
		diag("%s: %" PRIu64 " events of that are missing, which came faster than they were "
		     "written",
		     reason, snap->missed);
}

static int snapshot(struct flight *f, const char *reason, uint64_t fired_ns)
{
	struct gprof_flight_snapshot snap = { .sz = sizeof(snap) };
	char name[SNAPSHOT_NAME], *path;
	struct timespec when;
	int status;

	clock_gettime(CLOCK_REALTIME, &when);
	status = snapshots_open(&f->snapshots);
	if (status == STATUS_OK && gprof_flight_snapshot(f->flight, f->snapshots.fd, &snap)) {
		status = fail("%s: %s", f->snapshots.path, gprof_error());
		snapshots_discard(&f->snapshots);
	}
	if (status == STATUS_OK)
		status = snapshots_commit(&f->snapshots, &when, reason, name);
	if (status != STATUS_OK) {
		f->failed++;
		diag("this snapshot is lost; recording goes on");
		return status;
	}
	f->taken++;
	report_snapshot(f, reason, fired_ns, name, &snap);
	path = xprintf("%s/%s", f->snapshots.path, name);
	/* The first of them says how it is looked at. */
	if (f->taken == 1)
		output_place(path, "", "why", "timeline");
	hook_run(&f->hook, path);
	free(path);
	return status;
}

/* Which fired, in letters and digits that are good in any file system. */
static void make_reason(char reason[SNAPSHOT_REASON], const char *trigger)
{
	size_t i;

	for (i = 0; trigger[i] && i < SNAPSHOT_REASON - 1; i++)
		reason[i] = isalnum((unsigned char)trigger[i]) ? tolower((unsigned char)trigger[i]) :
								 '-';
	reason[i] = '\0';
}

/*
 * Each is reported. Events before the snapshot of the first share it. Events meanwhile are for the
 * next time: a snapshot and its report may themselves cause the next.
 */
static void read_trigger_events(struct flight *f)
{
	struct gprof_flight_fired fired = { .sz = sizeof(fired) };
	uint64_t began = now_ns();
	char line[TRIGGER_LINE];

	while (fired.time_ns <= began && !gprof_flight_fired(f->flight, &fired)) {
		diag("%s", triggers_line(&fired, line));
		if (f->due_ns)
			continue;
		f->fired_ns = fired.time_ns;
		f->due_ns = fired.time_ns + f->after_ns;
		make_reason(f->reason, fired.trigger);
	}
}

static void snapshot_due(struct flight *f)
{
	f->due_ns = 0;
	snapshot(f, f->reason, f->fired_ns);
}

static bool tick(void *ctx, uint64_t ns)
{
	struct gprof_flight_stats st = { .sz = sizeof(st) };
	struct flight *f = ctx;

	hook_poll(&f->hook);
	read_trigger_events(f);
	if (f->due_ns && now_ns() >= f->due_ns)
		snapshot_due(f);
	if (asked) {
		asked = 0;
		snapshot(f, "request", 0);
	}
	if (f->shown && !gprof_flight_stats(f->flight, &st))
		progress("in flight: %s, %" PRIu64 " events held, %" PRIu64 " lost, %" PRIu64
			 " snapshots (SIGUSR1 writes one, Ctrl-C ends it)",
			 session_time(&f->session, ns), st.held, st.lost, f->taken);
	return true;
}

static int report(const struct flight *f)
{
	struct gprof_flight_fired all = { .sz = sizeof(all) };
	struct gprof_flight_stats st = { .sz = sizeof(st) };
	char line[TRIGGER_LINE];
	int err;

	if (gprof_flight_stats(f->flight, &st))
		return fail("%s", gprof_error());
	/* Where none is left, the counts are of all triggers. */
	while (!(err = gprof_flight_fired(f->flight, &all)))
		diag("%s; it comes too late", triggers_line(&all, line));
	if (err != -EAGAIN)
		return fail("%s", gprof_error());
	if (all.unwatched)
		diag("%" PRIu64
		     " waits, system calls and reclaims were not measured: too many tasks",
		     all.unwatched);
	if (st.lost)
		diag("%" PRIu64 " of %" PRIu64 " events were lost", st.lost, st.produced);
	if (st.over_quota)
		diag("%" PRIu64
		     " of these were annotations and new names: those of one user take an "
		     "eighth of a generation at most, lest they wipe the rest",
		     st.over_quota);
	if (f->hook.failed)
		diag("--exec failed %" PRIu64 " times", f->hook.failed);
	if (!f->target.verbose && !st.lost && !f->failed)
		return STATUS_OK;
	fprintf(stderr, "produced=%" PRIu64 " held=%" PRIu64 " lost=%" PRIu64 " overwritten=%" PRIu64
		" snapshots=%" PRIu64 " failed=%" PRIu64 " removed=%" PRIu64 " fired=%" PRIu64
		" suppressed=%" PRIu64 "\n", st.produced, st.held, st.lost, st.overwritten,
		f->taken, f->failed, f->snapshots.removed, all.fired, all.suppressed);
	return STATUS_OK;
}

/* For give_up(), which gets no pointer. */
static const struct flight *ending;

/* Another Ctrl-C while the last snapshot is written, or its --exec does not end. */
static void give_up(void)
{
	snapshots_abandon(&ending->snapshots);
	hook_abandon(&ending->hook);
}

/* The recording has ended; the rings are as they were then. */
static int finish(struct flight *f, int command_status)
{
	int status = STATUS_OK;

	progress_clear();
	ending = f;
	watch_hurry(give_up);
	if (gprof_flight_stop(f->flight))
		status = fail("%s", gprof_error());
	/* A request that came as it ended is served. */
	read_trigger_events(f);
	if (f->due_ns)
		snapshot_due(f);
	if (asked)
		snapshot(f, "request", 0);
	if (f->at_end == AT_END_ALWAYS || (f->at_end == AT_END_FAILED && command_status))
		snapshot(f, command_status ? "failed" : "end", 0);
	hook_end(&f->hook);
	watch_resume();
	if (report(f) != STATUS_OK || f->failed)
		status = STATUS_FAILED;
	return status;
}

static int fly(struct flight *f)
{
	struct sigaction act = { .sa_handler = on_hangup };
	int status = session_begin(&f->session, &f->target);

	sigaction(SIGUSR1, &act, NULL);
	f->shown = progress_enabled() && !f->target.command;
	f->hook.mask = &f->session.watch.old_mask;
	f->hook.limit_ns = HOOK_NS;
	if (status == STATUS_OK)
		status = snapshots_begin(&f->snapshots);
	if (status == STATUS_OK)
		status = start(f);
	if (status == STATUS_OK)
		status = finish(f, session_wait(&f->session, tick, f));
	gprof_flight_free(f->flight);
	snapshots_end(&f->snapshots);
	return session_end(&f->session, status);
}

int cmd_flight(int argc, char **argv)
{
	struct flight f = { .opts.min_age_ns = MIN_AGE_NS, .snapshots = { .fd = -1, .at = -1 } };
	const struct option_table tables[] = {
		{ "When and where to", flight_rows, &f },
		{ "What to record", trace_wants_options, &f.wants },
		{ "Target", target_record_options, &f.target },
		{ 0 },
	};
	int operands, status;

	if (!options_parse(&flight_usage, tables, argc, argv, false, &operands, &status)) {
		trace_wants_free(&f.wants);
		triggers_free(&f.triggers);
		return status;
	}
	status = target_complete(&f.target, argv + operands, flight_usage.name);
	if (status == STATUS_OK && !f.snapshots.dir)
		status = misused("flight wants a directory for its snapshots: -o DIR");
	if (status == STATUS_OK && f.at_end == AT_END_FAILED && !f.target.command)
		status = misused("--at-end=failed is for a command, whose status it looks at");
	if (status == STATUS_OK && f.after_ns && !f.triggers.nr)
		status = misused("--after is for a --trigger, after which it goes on");
	if (status == STATUS_OK)
		status = fly(&f);
	trace_wants_free(&f.wants);
	triggers_free(&f.triggers);
	return status;
}
