// SPDX-License-Identifier: GPL-2.0-only
/*
 * gprofctl read: contents of an execution trace.
 */
#include "cli/cmd.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <gprof/trace.h>

#include "cli/file_kind.h"
#include "cli/intern.h"
#include "cli/options.h"
#include "cli/diag.h"
#include "cli/json.h"
#include "cli/text.h"
#include "core_dump.h"
#include "trace_text.h"
#include "views/join.h"
#include "views/perfetto.h"
#include "views/regions.h"
#include "views/csv_tables.h"
#include "views/trace_profile.h"
#include "views/trace_tasks.h"
#include "views/wall.h"
#include "views/wait_chain.h"

/* A recorder that lost events closes the gap with transitions of this reason. */
#define REASON_LOST	"lost events"

/**
 * struct summary - counts
 * @kinds: events of each kind
 * @threads: seen
 * @last_thread: the last of them, and whether there was one
 * @procs: that came to be
 * @goroutines: likewise
 * @alive: of them now
 * @alive_max: most at a time
 * @lost: transitions that stand for lost events
 * @tasks: their time by state
 * @first: time of the first event that is no sync
 * @last: and of the last
 * @any: was there one?
 */
struct summary {
	uint64_t kinds[GPROF_TRACE_NR_KINDS];
	struct intern threads;
	int64_t last_thread;
	uint64_t procs;
	uint64_t goroutines;
	uint64_t alive;
	uint64_t alive_max;
	uint64_t lost;
	struct trace_tasks tasks;
	int64_t first;
	int64_t last;
	bool any;
};

/**
 * struct read - the subcommand
 * @summary: --summary
 * @json: --json
 * @stacks: --stacks
 * @regions: --regions
 * @join: --join
 * @pprof: --pprof
 * @file: -o
 * @why: --why
 * @at: --at
 * @format: --format
 * @core: --core
 * @id: of which recorder, or 0
 */
struct read {
	const char *pprof;
	const char *file;
	const char *why;
	const char *at;
	const char *format;
	const char *join;
	bool summary;
	bool json;
	bool stacks;
	bool regions;
	bool core;
	uint64_t id;
};

static void count_transition(struct summary *s, const struct gprof_trace_event *ev)
{
	if (!strcmp(ev->transition.reason.s, REASON_LOST))
		s->lost++;
	if (ev->transition.resource.kind == GPROF_TRACE_RESOURCE_PROC) {
		s->procs += ev->transition.from == GPROF_TRACE_PROC_UNDETERMINED ||
			    ev->transition.from == GPROF_TRACE_PROC_NOT_EXIST;
		return;
	}
	if (ev->transition.from == GPROF_TRACE_GO_UNDETERMINED ||
	    ev->transition.from == GPROF_TRACE_GO_NOT_EXIST) {
		s->goroutines++;
		s->alive++;
		if (s->alive > s->alive_max)
			s->alive_max = s->alive;
	} else if (ev->transition.to == GPROF_TRACE_GO_NOT_EXIST) {
		s->alive--;
	}
}

static void count(struct summary *s, const struct gprof_trace *t,
		  const struct gprof_trace_event *ev)
{
	s->kinds[ev->kind]++;
	trace_tasks_event(&s->tasks, t, ev);
	if (ev->kind == GPROF_TRACE_SYNC)
		return;
	if (!s->any)
		s->first = ev->time;
	s->any = true;
	s->last = ev->time;
	if (ev->thread != GPROF_TRACE_NONE && ev->thread != s->last_thread) {
		intern_add(&s->threads, (const char *)&ev->thread, sizeof(ev->thread));
		s->last_thread = ev->thread;
	}
	if (ev->kind == GPROF_TRACE_STATE_TRANSITION)
		count_transition(s, ev);
}

static int by_time_running(const void *pa, const void *pb)
{
	const struct trace_task *a = pa, *b = pb;

	return trace_tasks_ran_longer(a, b) ? -1 : a->id != b->id;
}

static void print_tasks(struct trace_tasks *t)
{
	size_t nr = t->ids.nr < TRACE_TASKS_LONGEST ? t->ids.nr : TRACE_TASKS_LONGEST;

	if (!nr)
		return;
	/* None is found by its number any more. */
	qsort(t->tasks, t->ids.nr, sizeof(*t->tasks), by_time_running);
	printf("\n%12s %12s %12s %12s  %s\n", "running ms", "runnable", "blocked",
	       "in syscalls", t->own ? "task" : "goroutine");
	for (size_t i = 0; i < nr; i++) {
		const struct trace_task *task = &t->tasks[i];

		printf("%12.3f %12.3f %12.3f %12.3f  %" PRId64 " ",
		       (double)task->total[TRACE_TIME_RUNNING] / 1e6,
		       (double)task->total[TRACE_TIME_RUNNABLE] / 1e6,
		       (double)task->total[TRACE_TIME_BLOCKED] / 1e6,
		       (double)task->total[TRACE_TIME_SYSCALL] / 1e6, task->id);
		text_plain(stdout, trace_tasks_name(t, task));
		putchar('\n');
	}
}

static void print_summary(struct summary *s, const struct gprof_trace_stats *st)
{
	printf("Format:       Go execution trace, version 1.%u%s\n", st->version,
	       st->gprof_version ? ", of a host, by gprof" : "");
	printf("Events:       %" PRIu64 " in %.6f s\n", st->events,
	       (double)(s->last - s->first) / 1e9);
	printf("Generations:  %" PRIu64 " of %" PRIu64 " batches (%" PRIu64 " experimental)\n",
	       st->generations, st->batches, st->experimental);
	printf("Threads:      %zu\n", s->threads.nr);
	printf("Procs:        %" PRIu64 "\n", s->procs);
	printf("Goroutines:   %" PRIu64 ", at most %" PRIu64 " at a time\n", s->goroutines,
	       s->alive_max);
	printf("Switches:     %" PRIu64 "\n", s->tasks.switches);
	if (st->gprof_version)
		printf("Lost:         %" PRIu64 " events, %" PRIu64 " gaps\n", st->lost, s->lost);
	else
		printf("Lost:         %" PRIu64 " gaps\n", s->lost);
	printf("Repaired:     %" PRIu64 " timestamps that contradicted the order\n", st->repaired);
	printf("\n%12s  kind\n", "events");
	for (size_t i = 1; i < ARRAY_SIZE(s->kinds); i++)
		if (s->kinds[i])
			printf("%12" PRIu64 "  %s\n", s->kinds[i], gprof_trace_kind_name(i));
	print_tasks(&s->tasks);
}

static void put_summary(struct json *j, const struct summary *s, const struct gprof_trace_stats *st)
{
	char version[16];

	snprintf(version, sizeof(version), "1.%u", st->version);
	json_string(j, "version", version);
	json_u64(j, "events", st->events);
	json_u64(j, "generations", st->generations);
	json_u64(j, "batches", st->batches);
	json_u64(j, "experimental_batches", st->experimental);
	json_s64(j, "first_ns", s->first);
	json_s64(j, "last_ns", s->last);
	json_u64(j, "threads", s->threads.nr);
	json_u64(j, "procs", s->procs);
	json_u64(j, "goroutines", s->goroutines);
	json_u64(j, "goroutines_max", s->alive_max);
	json_u64(j, "lost", s->lost);
	json_u64(j, "repaired", st->repaired);
	json_u64(j, "tied", st->tied);
	json_bool(j, "own", st->gprof_version);
	json_u64(j, "lost_events", st->lost);
	json_u64(j, "switches", s->tasks.switches);
	json_object(j, "kinds");
	for (size_t i = 1; i < ARRAY_SIZE(s->kinds); i++)
		json_u64(j, gprof_trace_kind_name(i), s->kinds[i]);
	json_end(j);
}

/* Events before the one that is wrong were right, and are shown. */
static int read_events(const struct read *r, struct gprof_trace *t, struct trace_metadata *metadata,
		       const char *name)
{
	struct gprof_trace_stats st = { .sz = sizeof(st) };
	struct summary s = {
		.last_thread = GPROF_TRACE_NONE, .tasks.longest = true,
		.tasks.metadata = metadata,
	};
	struct gprof_trace_event ev;
	struct json j = { 0 };
	int ret;

	if (r->summary && r->json)
		json_open(&j, stdout, "read");
	else if (r->json)
		json_open_array(&j, stdout, "read");
	while ((ret = gprof_trace_next(t, &ev)) > 0) {
		if (r->summary)
			count(&s, t, &ev);
		else if (r->json)
			trace_json(&j, t, &ev, r->stacks);
		else
			trace_line(t, &ev, r->stacks);
		/* Its reader went away, or the disk is full. */
		if (ferror(stdout))
			break;
	}
	gprof_trace_stats(t, &st);
	trace_tasks_end(&s.tasks, s.last);
	if (r->summary && r->json)
		put_summary(&j, &s, &st);
	else if (r->summary)
		print_summary(&s, &st);
	if (r->json) {
		json_lost_events(&j, name, st.lost);
		if (ret < 0)
			json_loss(&j, name, "%s; the part before it was read", gprof_error());
		json_close(&j);
	}
	trace_tasks_free(&s.tasks);
	intern_free(&s.threads);
	if (finish_stdout() != STATUS_OK)
		return STATUS_FAILED;
	if (ret < 0)
		return fail("%s: %s; the part before it was read", name, gprof_error());
	if (!r->summary && st.repaired)
		diag("%s: %" PRIu64 " timestamps contradicted the order and were put right", name,
		     st.repaired);
	return STATUS_OK;
}

static int set_pprof(void *ctx, const char *value)
{
	if (!trace_profile_kind(value) && strcmp(value, "wall"))
		return misused("--pprof wants cpu, sched, block, syscall, irq or wall, not \"%s\"",
			       value);
	((struct read *)ctx)->pprof = value;
	return STATUS_OK;
}

static int set_file(void *ctx, const char *value)
{
	((struct read *)ctx)->file = value;
	return STATUS_OK;
}

static int set_why(void *ctx, const char *value)
{
	((struct read *)ctx)->why = value;
	return STATUS_OK;
}

static int set_at(void *ctx, const char *value)
{
	((struct read *)ctx)->at = value;
	return STATUS_OK;
}

static int set_format(void *ctx, const char *value)
{
	if (strcmp(value, "csv") && strcmp(value, "perfetto"))
		return misused("--format wants csv or perfetto, not \"%s\"", value);
	((struct read *)ctx)->format = value;
	return STATUS_OK;
}

static int set_core(void *ctx, const char *value)
{
	struct read *r = ctx;
	unsigned long long id = 0;

	if (value && (!parse_count(value, &id) || !id))
		return misused("--core wants the id of a recorder, which gprofctl read --core FILE "
			       "lists, not \"%s\"", value);
	r->core = true;
	r->id = id;
	return STATUS_OK;
}

static int set_summary(void *ctx, const char *value)
{
	(void)value;
	((struct read *)ctx)->summary = true;
	return STATUS_OK;
}

static int set_stacks(void *ctx, const char *value)
{
	(void)value;
	((struct read *)ctx)->stacks = true;
	return STATUS_OK;
}

static int set_join(void *ctx, const char *value)
{
	((struct read *)ctx)->join = value;
	return STATUS_OK;
}

static int set_regions(void *ctx, const char *value)
{
	(void)value;
	((struct read *)ctx)->regions = true;
	return STATUS_OK;
}

static const struct option_row read_rows[] = {
	{ 0, "summary", NULL, "count instead: events by kind, procs, goroutines, losses, ...",
	  set_summary },
	{ 0, "stacks", NULL, "with the stacks of events", set_stacks },
	{ 0, "regions", NULL, "durations of the program's own regions and tasks, by type, with\n"
	  "the states of their threads; also as --json", set_regions },
	{ 0, "join", "GO.TRACE", "states in the kernel of the threads of a Go program that wrote\n"
	  "GO.TRACE; FILE is a trace of the host from the same time", set_join },
	{ 0, "pprof", "KIND", "write a profile instead: of time that tasks ran (cpu), waited for\n"
	  "a CPU (sched), slept (block), spent in system calls (syscall) or lost to interrupts\n"
	  "(irq), or of all their time, by reason (wall)", set_pprof },
	{ 0, "why", "TID|COMM", "as gprofctl why --thread, with all steps", set_why },
	{ 0, "at", "TIME", "with --why: as gprofctl why --at", set_at },
	{ 0, "format", "csv|perfetto", "write a trace of the host as tables: switches.csv, wakings.csv,\n"
	  "syscalls.csv, waits.csv, threads.csv in the directory of -o; or as a\n"
	  "file for ui.perfetto.dev", set_format },
	{ 0, "core", "[=ID]", "FILE is a core dump: list the recorders that its program had; with -o\n"
	  "write the trace or profile that one held, the only one or ID", set_core },
	{ 'o', "output", "FILE", "the profile (default: KIND.pb.gz), or the output of --core;\n"
	  "\"-\" is stdout", set_file },
	{ 0 },
};

static const struct usage read_usage = {
	.name = "read",
	.synopsis = "FILE [OPTIONS]",
	.text =
"Prints the events of an execution trace, of a Go program (1.22 and later) or\n"
"gprof's own, in the order in which they happened, one a line as go tool trace\n"
"-d=parsed does. FILE may be \"-\" for stdin. Profiles have the stacks that are\n"
"in the trace (gprofctl trace --stacks, --cpu-samples); else names of tasks,\n"
"reasons and system calls stand in their place.",
	.examples =
"  gprofctl read trace.out --summary               # what is in it\n"
"  gprofctl read trace.out | grep 'G=7 '           # the life of a goroutine\n"
"  gprofctl read trace.out --pprof sched -o s.pb.gz # waits for a CPU\n"
"  gprofctl read --core core -o last.trace         # what a program's recorder held at its end\n"
"  gprofctl read trace.out --json | jq -c '.data[] | select(.kind == \"Log\")'",
};

static int add_batch(void *ctx, const struct gprof_trace_batch *batch)
{
	metadata_add_batch(ctx, batch);
	return 0;
}

/* The trace is read from @fd, but for views that open it themselves. */
static int use(const struct read *r, int fd, const char *name)
{
	char *file = r->file ? xprintf("%s", r->file) : xprintf("%s.pb.gz", r->pprof);
	struct trace_metadata metadata = { 0 };
	const struct gprof_trace_opts opts = {
		.sz = sizeof(opts), .batch = add_batch, .ctx = &metadata,
	};
	struct gprof_trace *t = NULL;
	int status;

	if (r->join) {
		status = join_print(name, r->join, r->json);
	} else if (r->format) {
		status = *r->format == 'c' ? csv_tables_write(name, r->file) :
					     perfetto_write(name, r->file);
	} else if (r->why) {
		const struct wait_question q = { .thread = r->why, .at = r->at };

		status = wait_chain_print(name, &q, r->file);
	} else if (r->pprof && !strcmp(r->pprof, "wall")) {
		status = wall_profile(name, file);
	} else {
		t = gprof_trace_new(fd, r->pprof || r->summary ? &opts : NULL);
		if (!t)
			status = file_not_opened(name, fd, FILE_TRACE);
		else if (r->regions)
			status = regions_print(t, name, r->json);
		else if (r->pprof)
			status = trace_profile(t, &metadata, name, r->pprof, file);
		else
			status = read_events(r, t, &metadata, name);
	}
	gprof_trace_free(t);
	metadata_free(&metadata);
	free(file);
	return status;
}

/* Subcommands that open the file themselves know what it is. */
static bool reads_trace(const struct read *r)
{
	return !r->join && !r->format && !r->why && (!r->pprof || strcmp(r->pprof, "wall"));
}

static int read_file(const struct read *r, int *fd, const char *name)
{
	bool output = r->pprof || r->core || r->why || r->format;
	int status = STATUS_OK;

	if (r->core)
		return core_dump(name, *fd, r->id, r->file, r->json);
	if (r->file && !output && !file_is_raw(*fd))
		return misused("-o is for a profile, which --pprof or --why asks for, for --format, "
			       "for --core, or for the trace of a raw snapshot");
	if (r->file && !output)
		return r->summary || r->json || r->stacks || r->regions ?
		       misused("-o excludes all else with a raw snapshot; read the trace that it "
			       "writes") : core_dump(name, *fd, 0, r->file, false);
	if (file_is_raw(*fd) && reads_trace(r))
		status = core_dump_trace(name, fd);
	return status == STATUS_OK ? use(r, *fd, name) : status;
}

int cmd_read(int argc, char **argv)
{
	struct read r = { 0 };
	const struct option_table tables[] = {
		{ "Options", read_rows, &r }, { JSON_TABLE, json_options, &r.json }, { 0 }
	};
	int operands, status, fd;
	const char *name;

	if (!options_parse(&read_usage, tables, argc, argv, true, &operands, &status))
		return status;
	if (argc - operands != 1)
		return misused("read wants one trace, as in gprofctl read trace.out");
	if (r.pprof && (r.summary || r.json || r.stacks))
		return misused("--pprof excludes --summary, --json and --stacks");
	if (r.join && (r.summary || r.stacks || r.regions || r.pprof || r.why || r.format || r.core))
		return misused("--join excludes all but --json");
	if (r.regions && (r.summary || r.stacks || r.pprof || r.why || r.format || r.core))
		return misused("--regions excludes all but --json");
	if (r.why && (r.pprof || r.summary || r.json || r.stacks || r.core))
		return misused("--why excludes all but --at and -o");
	if (r.format && (r.why || r.pprof || r.summary || r.json || r.stacks || r.core))
		return misused("--format excludes all but -o");
	if (r.format && !r.file)
		return misused("--format wants to know where to, as in -o trace.%s", r.format);
	if (r.at && !r.why)
		return misused("--at is for --why");
	if (r.core && (r.pprof || r.summary || r.stacks || (r.json && r.file)))
		return misused("--core excludes all but -o or --json; read the trace that it writes");
	name = argv[operands];
	fd = strcmp(name, "-") ? open(name, O_RDONLY | O_CLOEXEC) :
				 fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
	if (fd < 0)
		return fail("%s cannot be opened (%s)", name, strerror(errno));
	status = read_file(&r, &fd, name);
	close(fd);
	return status;
}
