// SPDX-License-Identifier: GPL-2.0-only
/*
 * gprofctl cpu: where CPU time goes, or where any event of a performance
 * counter happens.
 */
#include "cli/cmd.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <gprof/recorder.h>

#include "cli/options.h"
#include "cli/diag.h"
#include "cli/target_options.h"
#include "events.h"
#include "kinds.h"
#include "record.h"

#define EVENTS_MAX	16
#define DEFAULT_FILE	"cpu.pb.gz"

/* How the kernel's part of the program is dealt with. */
enum kernel_mode { KERNEL_IF_PERMITTED, KERNEL_NEVER, KERNEL_ALWAYS };

/**
 * struct cpu_options - the command line
 * @target: tasks or CPUs
 * @events: -e, in order
 * @files: -o of each event, NULL where there is none
 * @nr: number of events
 * @early_file: an -o before any -e
 * @hz: -F, 0 when absent
 * @buffer: --buffer, 0 when absent
 * @precise: --precise
 * @flags: GPROF_EVENT_* asked for
 * @kernel: --user-only, --kernel
 * @no_callchain: --no-callchain
 * @no_tables: --no-unwind-tables
 * @python: --python
 * @slice_ns: --slices, 0 when absent
 */
struct cpu_options {
	struct target target;
	struct gprof_cpu_event events[EVENTS_MAX];
	const char *files[EVENTS_MAX];
	size_t nr;
	const char *early_file;
	unsigned long long hz;
	unsigned long long buffer;
	unsigned long long precise;
	unsigned int flags;
	enum kernel_mode kernel;
	bool no_callchain;
	bool no_tables;
	bool python;
	uint64_t slice_ns;
};

static int set_kernel_mode(struct cpu_options *o, enum kernel_mode mode)
{
	if (o->kernel != KERNEL_IF_PERMITTED && o->kernel != mode)
		return misused("--user-only and --kernel exclude each other");
	o->kernel = mode;
	return STATUS_OK;
}

static int set_event(void *ctx, const char *value)
{
	struct cpu_options *o = ctx;
	struct gprof_cpu_event *ev = &o->events[o->nr];
	struct event_word word;
	int status;

	if (o->nr == EVENTS_MAX)
		return misused("-e %s: more than %d events at once are too many", value, EVENTS_MAX);
	status = events_read(&word, value);
	ev->name = word.name;
	ev->period = word.period;
	o->nr++;
	if (status == STATUS_OK && word.user_only)
		status = set_kernel_mode(o, KERNEL_NEVER);
	if (status == STATUS_OK && word.kernel)
		status = set_kernel_mode(o, KERNEL_ALWAYS);
	if (word.precise > o->precise)
		o->precise = word.precise;
	if (status != STATUS_OK)
		return status;
	for (size_t i = 0; i + 1 < o->nr; i++)
		if (!strcmp(o->events[i].name, word.name))
			return misused("the event %s is given twice", word.name);
	return STATUS_OK;
}

static int set_output(void *ctx, const char *value)
{
	struct cpu_options *o = ctx;
	const char **file = o->nr ? &o->files[o->nr - 1] : &o->early_file;

	if (*file)
		return misused("two outputs, %s and %s, for one event: an -o belongs to the -e "
			       "before it", *file, value);
	*file = value;
	return STATUS_OK;
}

static int set_hz(void *ctx, const char *value)
{
	struct cpu_options *o = ctx;

	if (!parse_count(value, &o->hz) || !o->hz)
		return misused("-F wants samples per second above 0, not \"%s\"", value);
	return STATUS_OK;
}

static int set_precise(void *ctx, const char *value)
{
	struct cpu_options *o = ctx;

	if (!parse_count(value, &o->precise) || o->precise > 3)
		return misused("--precise wants 0, 1, 2 or 3, not \"%s\"", value);
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

static int set_idle(void *ctx, const char *value)
{
	(void)value;
	((struct cpu_options *)ctx)->flags |= GPROF_EVENT_IDLE;
	return STATUS_OK;
}

static int set_hv(void *ctx, const char *value)
{
	(void)value;
	((struct cpu_options *)ctx)->flags |= GPROF_EVENT_HV;
	return STATUS_OK;
}

static int set_addr(void *ctx, const char *value)
{
	(void)value;
	((struct cpu_options *)ctx)->flags |= GPROF_EVENT_ADDR;
	return STATUS_OK;
}

static int set_latency(void *ctx, const char *value)
{
	(void)value;
	((struct cpu_options *)ctx)->flags |= GPROF_EVENT_LATENCY;
	return STATUS_OK;
}

static int set_no_tables(void *ctx, const char *value)
{
	(void)value;
	((struct cpu_options *)ctx)->no_tables = true;
	return STATUS_OK;
}

static int set_python(void *ctx, const char *value)
{
	(void)value;
	((struct cpu_options *)ctx)->python = true;
	return STATUS_OK;
}

static int set_slices(void *ctx, const char *value)
{
	return parse_slices(value, &((struct cpu_options *)ctx)->slice_ns);
}

static int set_no_callchain(void *ctx, const char *value)
{
	(void)value;
	((struct cpu_options *)ctx)->no_callchain = true;
	return STATUS_OK;
}

static int set_buffer(void *ctx, const char *value)
{
	struct cpu_options *o = ctx;

	if (!parse_size(value, &o->buffer) || !o->buffer)
		return misused("--buffer wants bytes, such as 4M, not \"%s\"", value);
	return STATUS_OK;
}

static const struct option_row cpu_rows[] = {
	{ 'e', "event", "EVENT[:PERIOD]", "the event to sample, every PERIOD-th time (default:\n"
	  "timer); may be repeated, each with an -o of its own", set_event },
	{ 'o', "output", "FILE", "the profile of the -e before it (default: " DEFAULT_FILE ");\n"
	  "\"-\" is stdout", set_output },
	{ 'F', "frequency", "HZ", "samples per second of CPU time (default: of the timer, 999 of a\n"
	  "COMMAND and else 100); other events have a period for about as many on a busy\n"
	  "CPU of 2.4 GHz", set_hz },
	{ 0, "precise", "0..3", "skid of the sampled instruction: 0 any, 1 constant, 2 none if\n"
	  "possible, 3 none (default: 0)", set_precise },
	{ 0, "user-only", NULL, "leave the kernel out: neither its time nor its frames",
	  set_user_only },
	{ 0, "kernel", NULL, "require the kernel's time and frames (default: if permitted,\n"
	  "CAP_PERFMON)", set_kernel },
	{ 0, "idle", NULL, "count the idle CPU too", set_idle },
	{ 0, "hv", NULL, "count the hypervisor too", set_hv },
	{ 0, "addr", NULL, "label samples with the data address, where the event has one",
	  set_addr },
	{ 0, "latency", NULL, "a second value: the weight of a sample divided by the number of\n"
	  "the target's tasks on CPUs (label parallelism)", set_latency },
	{ 0, "no-callchain", NULL, "record the sampled instruction alone, not its callers",
	  set_no_callchain },
	{ 0, "no-unwind-tables", NULL, "walk stacks by frame pointers alone", set_no_tables },
	{ 0, "python", NULL, "put functions of Python programs into the stacks (CPython 3.11 and\n"
	  "3.13)", set_python },
	{ 0, "slices", "TIME", SLICES_HELP, set_slices },
	{ 0, "buffer", "BYTES", "kernel buffer per CPU and event", set_buffer },
	RECORD_DEBUGINFOD,
	{ 0 },
};

static const struct usage cpu_usage = {
	.name = "cpu",
	.synopsis = "[OPTIONS] " TARGET_SYNOPSIS,
	.text =
"Records the CPU time of a program, a process, a cgroup, CPUs or the whole host\n"
"as a pprof profile.\n"
"\n"
"EVENT is timer, cycles, instructions, cacheReferences, cacheMisses, branches,\n"
"branchMisses, page-faults and the like, rHEX (a raw event number), or PMU/EVENT/\n"
"as under /sys/bus/event_source; gprofctl info lists those that work here. perf's\n"
"names work too, with :u and :p behind. PERIOD may end in k, M or G. The other\n"
"options hold for all events.\n"
"\n"
"gprofctl exits with the command's status; 1 or 2: gprofctl itself failed, 127 or\n"
"126: the command did not start. Where samples were lost, and with -v, the last\n"
"line on stderr counts them: produced = read + lost + overwritten. Where stacks are\n"
"cut, and with -v, the line before it counts them (man gprofctl).",
	.examples =
"  gprofctl cpu -- make -j4                 # profile a build, into cpu.pb.gz\n"
"  gprofctl top cpu.pb.gz                   # then look at it,\n"
"  gprofctl view cpu.pb.gz                  # in the browser\n"
"  gprofctl cpu -p 1234 -d 30 -o srv.pb.gz  # a running process, 30 seconds long\n"
"  gprofctl cpu --latency -- make -j4       # and what keeps it from being done sooner:\n"
"  gprofctl top --type latency cpu.pb.gz\n"
"  gprofctl cpu -e cycles:1M -o c.pb.gz -e instructions:1M -o i.pb.gz -a -d 10",
};

static bool is_timer(const struct gprof_cpu_event *ev)
{
	return !strcmp(ev->name, "timer");
}

/* Checks over several rows. */
static int complete(struct cpu_options *o)
{
	if (!o->nr)
		o->events[o->nr++].name = xprintf("timer");
	if (o->early_file) {
		if (o->nr > 1 || o->files[0])
			return misused("-o %s stands before every -e: an -o belongs to the -e "
				       "before it", o->early_file);
		o->files[0] = o->early_file;
	}
	if (o->nr == 1 && !o->files[0])
		o->files[0] = DEFAULT_FILE;
	for (size_t i = 0; i < o->nr; i++) {
		struct gprof_cpu_event *ev = &o->events[i];

		if (!o->files[i])
			return misused("the event %s has no output: with several events each wants "
				       "an -o of its own", ev->name);
		if (is_timer(ev)) {
			if (ev->period)
				return misused("the timer has no period but a rate: use -e timer "
					       "with -F HZ, not timer:%llu",
					       (unsigned long long)ev->period);
			ev->hz = o->hz;
		} else if (o->hz && !ev->period) {
			ev->period = events_period(ev->name, o->hz);
			if (!ev->period)
				return misused("-F %llu: %s are sampled each time they happen; %s:N is "
					       "every N-th", o->hz, ev->name, ev->name);
			diag("%s: -F %llu is taken as %s:%llu, every so many", ev->name, o->hz,
			     ev->name, (unsigned long long)ev->period);
		}
		ev->precise = o->precise;
	}
	if (o->python && (o->no_callchain || o->no_tables))
		return misused("--python is about callers, which are found by unwind tables: it "
			       "excludes --no-callchain and --no-unwind-tables");
	if (o->flags & GPROF_EVENT_IDLE && o->flags & GPROF_EVENT_LATENCY)
		return misused("--idle and --latency exclude each other: an idle CPU runs no task "
			       "whose time could be divided");
	if (o->flags & (GPROF_EVENT_IDLE | GPROF_EVENT_HV)) {
		if (o->kernel == KERNEL_NEVER)
			return misused("--user-only excludes --idle and --hv");
		o->kernel = KERNEL_ALWAYS;
	}
	return STATUS_OK;
}

static struct gprof_recorder *make_with(struct cpu_options *o, const struct gprof_target *target,
					bool on_exec, bool kernel)
{
	struct gprof_cpu_config cfg = {
		.sz = sizeof(cfg),
		.target = *target,
		.events = o->events,
		.nr_events = o->nr,
		.buffer_bytes = o->buffer,
		.on_exec = on_exec,
		.no_unwind_tables = o->no_tables,
		.python = o->python,
		.slice_ns = o->slice_ns,
	};
	unsigned int flags = o->flags;

	if (kernel)
		flags |= GPROF_EVENT_KERNEL;
	if (kernel && !o->no_callchain)
		flags |= GPROF_EVENT_CALLCHAIN_KERNEL;
	if (o->no_callchain)
		flags |= GPROF_EVENT_NO_CALLCHAIN_USER;
	for (size_t i = 0; i < o->nr; i++)
		o->events[i].flags = flags;
	return gprof_cpu_recorder_new(&cfg);
}

/* Whether the kernel may be looked at is for the module to decide: ask it. */
static struct gprof_recorder *make(void *ctx, const struct gprof_target *target, bool on_exec)
{
	struct cpu_options *o = ctx;
	struct gprof_recorder *r = NULL;

	errno = EPERM;
	if (o->kernel != KERNEL_NEVER)
		r = make_with(o, target, on_exec, true);
	if (r || o->kernel == KERNEL_ALWAYS || errno != EPERM)
		return r;
	return make_with(o, target, on_exec, false);
}

int cmd_cpu(int argc, char **argv)
{
	struct cpu_options o = { 0 };
	const struct option_table tables[] = {
		{ "What to record", cpu_rows, &o },
		{ "Target", target_record_options, &o.target },
		{ 0 },
	};
	int operands, status;

	if (options_parse(&cpu_usage, tables, argc, argv, false, &operands, &status))
		status = complete(&o);
	else
		goto out;
	if (status == STATUS_OK)
		status = target_complete(&o.target, argv + operands, cpu_usage.name);
	for (size_t i = 0; i < o.nr && o.target.is_command && !o.hz; i++)
		if (is_timer(&o.events[i]))
			o.events[i].hz = RECORD_COMMAND_HZ;
	if (status == STATUS_OK)
		status = record(&(struct recording){
			.target = &o.target,
			.files = o.files,
			.nr_files = o.nr,
			.make = make,
			.ctx = &o,
			.words = {
				.fewer = "a longer period",
				.more = "a shorter one (-F for the timer, -e EVENT:PERIOD)",
				.none = "the target did not run while it was recorded, or too "
					"short for one period, or only where it is not counted",
			},
		});
out:
	for (size_t i = 0; i < o.nr; i++)
		free((char *)o.events[i].name);
	return status;
}
