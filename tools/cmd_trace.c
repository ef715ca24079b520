// SPDX-License-Identifier: GPL-2.0-only
/*
 * gprofctl trace: what ran where and why it waited, as a trace that Go's tools open.
 */
#include "cmd.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gprof/trace_record.h>

#include "duration.h"
#include "launch.h"
#include "options.h"
#include "output.h"
#include "say.h"
#include "target.h"
#include "watch.h"

#define DEFAULT_FILE	"trace.out"

/* How the kernel's frames are dealt with. */
enum kernel_mode { KERNEL_IF_PERMITTED, KERNEL_NEVER, KERNEL_ALWAYS };

/**
 * struct trace - the subcommand
 * @target: whom to record
 * @cfg: for the library
 * @samples: --cpu-samples
 * @event: its event's name, to free
 * @kernel: --user-only, --kernel
 * @file: -o
 * @output: it, while open
 * @watch: signals and the target's end
 * @command: when the target is one
 * @recorder: from the library
 * @shown: progress goes to the terminal
 */
struct trace {
	struct target target;
	struct gprof_trace_config cfg;
	struct gprof_cpu_event samples;
	char *event;
	enum kernel_mode kernel;
	const char *file;
	struct output output;
	struct watch watch;
	struct launch command;
	struct gprof_trace_recorder *recorder;
	bool shown;
};

static int set_output(void *ctx, const char *value)
{
	struct trace *t = ctx;

	if (t->file)
		return misused("two outputs: %s and %s", t->file, value);
	t->file = value;
	return STATUS_OK;
}

static int add_group(void *ctx, unsigned int group)
{
	((struct trace *)ctx)->cfg.groups |= group;
	return STATUS_OK;
}

#define GROUP(name, group)						\
static int set_##name(void *ctx, const char *value)			\
{									\
	(void)value;							\
	return add_group(ctx, group);					\
}

GROUP(syscalls, GPROF_TRACE_GROUP_SYSCALLS)
GROUP(irqs, GPROF_TRACE_GROUP_IRQS)
GROUP(faults, GPROF_TRACE_GROUP_FAULTS)
GROUP(reclaim, GPROF_TRACE_GROUP_RECLAIM)
GROUP(freq, GPROF_TRACE_GROUP_FREQ)
GROUP(throttle, GPROF_TRACE_GROUP_THROTTLE)

static const struct {
	const char *name;
	unsigned int stack;
} stack_names[] = {
	{ "blocked", GPROF_TRACE_STACK_BLOCKED },
	{ "waker", GPROF_TRACE_STACK_WAKER },
	{ "fork", GPROF_TRACE_STACK_FORK },
	{ "syscalls", GPROF_TRACE_STACK_SYSCALLS },
	{ "faults", GPROF_TRACE_STACK_FAULTS },
	{ "reclaim", GPROF_TRACE_STACK_RECLAIM },
};

static int set_stacks(void *ctx, const char *value)
{
	struct trace *t = ctx;
	const char *list = value ? value : "blocked,waker";

	while (*list) {
		size_t len = strcspn(list, ","), i;

		for (i = 0; i < ARRAY_SIZE(stack_names); i++)
			if (strlen(stack_names[i].name) == len &&
			    !memcmp(stack_names[i].name, list, len))
				break;
		if (i == ARRAY_SIZE(stack_names))
			break;
		t->cfg.stacks |= stack_names[i].stack;
		list += len;
		if (*list == ',' && list[1])
			list++;
	}
	if (!*list && t->cfg.stacks)
		return STATUS_OK;
	return misused("--stacks wants blocked, waker, fork, syscalls, faults or reclaim, or several "
		       "with commas between, not \"%s\"", value);
}

/* HZ of the timer, or an event as gprofctl cpu -e takes it. */
static int set_samples(void *ctx, const char *value)
{
	struct trace *t = ctx;
	struct gprof_cpu_event *ev = &t->samples;
	unsigned long long n;
	char *colon;

	if (t->event)
		return misused("two kinds of CPU samples: %s and %s", t->event, value);
	if (parse_count(value, &n)) {
		if (!n)
			return misused("--cpu-samples wants samples per second above 0, or an event "
				       "such as cycles:1M");
		t->event = xprintf("timer");
		ev->hz = n;
	} else {
		t->event = xprintf("%s", value);
		colon = event_period(t->event);
		if (colon) {
			*colon = '\0';
			if (!parse_count(colon + 1, &n) || !n)
				return misused("--cpu-samples %s: the period is a number of events "
					       "above 0, such as %s:1M", value, t->event);
			ev->period = n;
		}
		if (!*t->event)
			return misused("--cpu-samples wants samples per second, or an event such as "
				       "cycles; gprofctl info lists them");
	}
	ev->name = t->event;
	t->cfg.samples = ev;
	return STATUS_OK;
}

static int set_kernel_mode(struct trace *t, enum kernel_mode mode)
{
	if (t->kernel != KERNEL_IF_PERMITTED && t->kernel != mode)
		return misused("--user-only and --kernel exclude each other");
	t->kernel = mode;
	return STATUS_OK;
}

static int set_user_only(void *ctx, const char *value)
{
	(void)value;
	return set_kernel_mode(ctx, KERNEL_NEVER);
}

static int set_kernel(void *ctx, const char *value)
{
	(void)value;
	return set_kernel_mode(ctx, KERNEL_ALWAYS);
}

static int set_generation(void *ctx, const char *value)
{
	struct trace *t = ctx;
	int64_t ns;

	if (!duration_parse(value, &ns) || ns < 10000000 || ns > 3600 * 1000000000LL)
		return misused("--generation wants a time from 10ms to an hour, such as 1 (second), "
			       "not \"%s\"", value);
	t->cfg.generation_ns = (uint64_t)ns;
	return STATUS_OK;
}

static int set_version(void *ctx, const char *value)
{
	static const struct { const char *name; unsigned int version; } versions[] = {
		{ "1.22", 22 }, { "1.23", 23 }, { "1.25", 25 }, { "1.26", 26 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(versions); i++) {
		if (strcmp(value, versions[i].name))
			continue;
		((struct trace *)ctx)->cfg.version = versions[i].version;
		return STATUS_OK;
	}
	return misused("--go-version wants 1.22, 1.23, 1.25 or 1.26, not \"%s\"", value);
}

static int set_index(void *ctx, const char *value)
{
	(void)value;
	((struct trace *)ctx)->cfg.index = true;
	return STATUS_OK;
}

static int set_buffer(void *ctx, const char *value)
{
	unsigned long long n;

	if (!parse_size(value, &n) || !n)
		return misused("--buffer wants bytes, such as 4M, not \"%s\"", value);
	((struct trace *)ctx)->cfg.buffer_bytes = n;
	return STATUS_OK;
}

static const struct option_row trace_rows[] = {
	{ 'o', "output", "FILE", "the trace (default: " DEFAULT_FILE "); \"-\" is stdout", set_output },
	{ 0, "syscalls", NULL, "system calls too, each as a region of its task", set_syscalls },
	{ 0, "irqs", NULL, "interrupts and softirqs", set_irqs },
	{ 0, "faults", NULL, "page faults of user code", set_faults },
	{ 0, "reclaim", NULL, "direct reclaim and compaction of memory", set_reclaim },
	{ 0, "freq", NULL, "frequencies of the CPUs", set_freq },
	{ 0, "throttle", NULL, "cgroups that have used up their CPU time", set_throttle },
	{ 0, "stacks", "[=WHICH]", "where tasks were: blocked (as they stop), waker, fork, syscalls,\n"
	  "faults, reclaim, with commas between (default: blocked,waker)", set_stacks },
	{ 0, "cpu-samples", "HZ|EVENT[:PERIOD]", "CPU samples too: so many per second of CPU time,\n"
	  "or of an event as for gprofctl cpu -e", set_samples },
	{ 0, "user-only", NULL, "leave the kernel out of stacks and CPU samples", set_user_only },
	{ 0, "kernel", NULL, "insist on the kernel there; otherwise it is included where the\n"
	  "caller may see it (CAP_PERFMON)", set_kernel },
	{ 0, "generation", "TIME", "write the trace in pieces of so long (default: 1 s)",
	  set_generation },
	{ 0, "go-version", "1.NN", "for readers of Go 1.22, 1.23, 1.25 or 1.26 (default: 1.23,\n"
	  "which all later ones take too)", set_version },
	{ 0, "index", NULL, "end the trace with an index of its pieces", set_index },
	{ 0, "buffer", "BYTES", "kernel buffer per CPU", set_buffer },
	{ 0 },
};

static const struct usage trace_usage = {
	.name = "trace",
	.synopsis = "[OPTIONS] " TARGET_SYNOPSIS,
	.text =
"Records which task ran on which CPU, why it stopped, and who woke it, and writes\n"
"that as an execution trace: go tool trace opens it, gprofctl read and gprofctl mmu\n"
"do too. A CPU is a proc there, and a task a goroutine.\n"
"The trace is written meanwhile; memory does not grow with its length. The groups\n"
"of events that are off by default slow down every task of the host while they are\n"
"recorded, and need CAP_PERFMON.\n"
"\n"
"A command's exit status is passed on; 1 or 2 mean that gprofctl itself failed,\n"
"127 or 126 that the command could not be run. The last line on stderr counts the\n"
"events: produced = read + lost + overwritten.",
	.examples =
"  gprofctl trace -- make -j4               # into trace.out\n"
"  go tool trace trace.out                  # look at it in a browser\n"
"  gprofctl read trace.out --summary        # or as numbers\n"
"  gprofctl trace -p 1234 -d 10 --stacks    # with where it waits, and who wakes it\n"
"  gprofctl trace -a -d 10 --syscalls --irqs -o host.trace",
};

static struct gprof_trace_recorder *make_with(struct trace *t, bool kernel)
{
	t->cfg.kernel_frames = kernel;
	t->samples.flags = kernel ? GPROF_EVENT_KERNEL : 0;
	return gprof_trace_recorder_new(&t->cfg);
}

/* Whether the kernel may be looked at is for the module to decide: ask it. */
static struct gprof_trace_recorder *make(struct trace *t)
{
	bool kernel = t->kernel != KERNEL_NEVER && (t->cfg.stacks || t->cfg.samples);
	struct gprof_trace_recorder *r = make_with(t, kernel);

	if (r || !kernel || t->kernel == KERNEL_ALWAYS || errno != EPERM)
		return r;
	return make_with(t, false);
}

static int start(struct trace *t)
{
	int status;

	if (t->target.command) {
		status = launch_prepare(&t->command, t->target.command, &t->watch.old_mask);
		if (status != STATUS_OK)
			return status;
		t->target.gprof.id = t->command.pid;
		status = watch_command(&t->watch, t->command.pid);
		if (status != STATUS_OK)
			return status;
	}
	t->cfg.sz = sizeof(t->cfg);
	t->cfg.target = t->target.gprof;
	t->recorder = make(t);
	if (!t->recorder || gprof_trace_recorder_start(t->recorder, t->output.fd))
		return fail("%s", gprof_error());
	if (t->target.command)
		return launch_go(&t->command);
	watch_target(&t->watch, &t->target.gprof);
	return STATUS_OK;
}

static bool tick(void *ctx, uint64_t ns)
{
	struct gprof_trace_recorder_stats st = { .sz = sizeof(st) };
	struct trace *t = ctx;

	/* What was not written cannot be made good. */
	if (gprof_trace_recorder_failed(t->recorder))
		return false;
	if (t->shown && !gprof_trace_recorder_stats(t->recorder, &st))
		progress("recording: %.1f s, %" PRIu64 " events, %.1f MB, %" PRIu64
			 " lost (Ctrl-C ends it)", ns / 1e9, st.produced, st.writer.bytes / 1e6,
			 st.lost);
	return true;
}

/* What a reader of the trace must know before trusting it, and the counts. */
static int tell(const struct trace *t)
{
	struct gprof_trace_recorder_stats st = { .sz = sizeof(st) };
	const struct gprof_trace_writer_stats *w = &st.writer;

	if (gprof_trace_recorder_stats(t->recorder, &st))
		return fail("%s", gprof_error());
	if (!st.produced)
		say("nothing happened to the target while it was recorded");
	if (st.lost)
		say("%" PRIu64 " of %" PRIu64 " events (%.2g %%) were lost, as the buffer was full; "
		    "a larger --buffer avoids it. The trace says where, and goes on from what was "
		    "seen next", st.lost, st.produced, 100.0 * st.lost / st.produced);
	if (st.malformed)
		say("%" PRIu64 " records of the kernel made no sense and were left out; this is a "
		    "bug of gprof", st.malformed);
	if (progress_wanted() && st.read)
		say("%" PRIu64 " events of %" PRIu64 " tasks on %" PRIu64 " CPUs in %" PRIu64
		    " bytes: %" PRIu64 " in the trace, %.2f bytes each", st.read, w->tasks, w->cpus,
		    w->bytes, w->events, w->events ? (double)w->bytes / w->events : 0);
	fprintf(stderr, "produced=%" PRIu64 " read=%" PRIu64 " lost=%" PRIu64 " overwritten=%" PRIu64
		" switches=%" PRIu64 " forks=%" PRIu64 " tasks=%" PRIu64 " cpus=%" PRIu64
		" generations=%" PRIu64 " repaired=%" PRIu64 " events=%" PRIu64
		" bytes=%" PRIu64 " stacks=%" PRIu64 " samples=%" PRIu64 "\n",
		st.produced, st.read, st.lost, st.overwritten, w->switches, w->forks, w->tasks,
		w->cpus, w->generations, w->repaired, w->events, w->bytes, st.stacks,
		st.points[GPROF_TRACE_POINT_SAMPLE]);
	return STATUS_OK;
}

/* What was written before is a trace, of a shorter time, if there is a generation. */
static void keep(struct trace *t)
{
	struct gprof_trace_recorder_stats st = { .sz = sizeof(st) };
	const char *name = t->output.name;

	if (!gprof_trace_recorder_stats(t->recorder, &st) && st.whole_generations &&
	    output_keep(&t->output, (off_t)st.whole_bytes) == STATUS_OK)
		say("%s ends early: the %" PRIu64 " generations in it were written before that",
		    name, st.whole_generations);
	else
		say("%s was not written", name);
	output_discard(&t->output);
}

/* Ends the recording and puts the trace in place, or what there is of it. */
static int finish(struct trace *t)
{
	int status;

	watch_hurry(output_discard_all);
	if (gprof_trace_recorder_stop(t->recorder)) {
		status = fail("%s: %s", t->output.name, gprof_error());
		watch_resume();
		keep(t);
	} else {
		watch_resume();
		status = output_commit(&t->output);
	}
	progress_clear();
	if (tell(t) != STATUS_OK)
		status = STATUS_FAILED;
	return status;
}

static int record_trace(struct trace *t)
{
	int status = watch_begin(&t->watch);

	if (status != STATUS_OK)
		return status;
	/* With a command the terminal is the command's. */
	t->shown = progress_wanted() && !t->target.command;
	status = output_open(&t->output, t->file);
	if (status == STATUS_OK)
		status = start(t);
	if (status == STATUS_OK) {
		watch_wait(&t->watch, t->target.duration_ns, tick, t);
		status = finish(t);
		if (t->target.command) {
			int command_status;

			/* After -d the command runs on; what it did is for the caller to know. */
			watch_wait(&t->watch, 0, NULL, NULL);
			command_status = launch_wait(&t->command);
			if (status == STATUS_OK)
				status = command_status;
		}
	}
	gprof_trace_recorder_free(t->recorder);
	launch_abandon(&t->command);
	output_discard(&t->output);
	watch_end(&t->watch);
	return status;
}

int cmd_trace(int argc, char **argv)
{
	struct trace t = { .output.fd = -1 };
	const struct option_table tables[] = {
		{ "What to record", trace_rows, &t },
		{ "Whom to record", target_options, &t.target },
		{ 0 },
	};
	int operands, status;

	if (!options_parse(&trace_usage, tables, argc, argv, false, &operands, &status)) {
		free(t.event);
		return status;
	}
	status = target_complete(&t.target, argv + operands, trace_usage.name);
	if (!t.file)
		t.file = DEFAULT_FILE;
	if (status == STATUS_OK)
		status = record_trace(&t);
	free(t.event);
	return status;
}
