// SPDX-License-Identifier: GPL-2.0-only
/*
 * gprofctl schedstat: the scheduler's counters of a target, again and again.
 */
#include "cli/cmd.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/duration.h"
#include "cli/options.h"
#include "cli/diag.h"
#include "cli/json.h"
#include "sched_session.h"
#include "sched_view.h"

#define NSEC_PER_SEC	1000000000ULL
#define INTERVAL_MIN	(NSEC_PER_SEC / 100)

/**
 * struct schedstat - the command line, and the last reading
 * @sched: target and options
 * @interval_ns: -i, 0 when absent
 * @json: --json
 * @openmetrics: --openmetrics
 * @metric: --metric, or NULL
 * @list: --metric help
 * @session: statistics
 * @last: readings; the one before and the one that comes, in turns
 * @nr: readings that were shown
 * @redraw: on a terminal the table stays in its place
 */
struct schedstat {
	struct sched_options sched;
	unsigned long long interval_ns;
	bool json;
	bool openmetrics;
	const char *metric;
	bool list;
	struct sched_session session;
	struct gprof_sched_stats last[2];
	uint64_t nr;
	bool redraw;
};

static int set_interval(void *ctx, const char *value)
{
	struct schedstat *s = ctx;
	int64_t ns;

	if (!duration_parse(value, &ns) || ns < (int64_t)INTERVAL_MIN)
		return misused("-i wants a time of 10ms or more, such as 1 (second) or 500ms, "
			       "not \"%s\"", value);
	s->interval_ns = ns;
	return STATUS_OK;
}

static int set_openmetrics(void *ctx, const char *value)
{
	(void)value;
	((struct schedstat *)ctx)->openmetrics = true;
	return STATUS_OK;
}

static const char *metric_name(const void *ctx, size_t i)
{
	const struct gprof_sched_metric *m;

	(void)ctx;
	return i < gprof_sched_metrics(&m) ? m[i].name : NULL;
}

static int set_metric(void *ctx, const char *value)
{
	struct schedstat *s = ctx;
	const char *name, *meant;

	s->list = !strcmp(value, "help");
	if (s->list)
		return STATUS_OK;
	for (size_t i = 0; (name = metric_name(NULL, i)); i++)
		if (!strcmp(name, value)) {
			s->metric = name;
			return STATUS_OK;
		}
	meant = nearest(value, metric_name, NULL);
	if (meant)
		return misused("there is no metric \"%s\"; did you mean %s?", value, meant);
	return misused("there is no metric \"%s\"; --metric help lists them", value);
}

static const struct option_row schedstat_rows[] = {
	{ 'i', "interval", "SECONDS", "show them this often, until Ctrl-C (default: once, after a\n"
	  "second, after -d, or at the end of a command)", set_interval },
	{ 0, "openmetrics", NULL, "as OpenMetrics text, as Prometheus reads it", set_openmetrics },
	{ 0, "metric", "NAME", "only this metric, such as total_switches or delay_ns; help\n"
	  "lists them", set_metric },
	{ 0 },
};

static const struct usage schedstat_usage = {
	.name = "schedstat",
	.synopsis = "[OPTIONS] " TARGET_SYNOPSIS,
	.text =
"Shows the scheduler's counters of a program, a process, a cgroup or, without a\n"
"target, the whole host: how often tasks run, how many wait, and for how long. It\n"
"counts all events from the beginning on, and samples none. It ends after a second,\n"
"after -d, with the command, or with -i at Ctrl-C or with the target.",
	.examples =
"  gprofctl schedstat                          # the whole host, for a second\n"
"  gprofctl schedstat -i 1                     # the same every second\n"
"  gprofctl schedstat -- make -j4              # a build, when it is done\n"
"  gprofctl schedstat -p 1234 -i 5 --json      # a process, for a program\n"
"  gprofctl schedstat -d 1 --metric delay_ns   # one second of waiting for CPUs",
};

/* Names first, so that programs can read them. */
static int list_metrics(void)
{
	const struct gprof_sched_metric *m;
	size_t nr = gprof_sched_metrics(&m);

	for (size_t i = 0; i < nr; i++)
		printf("%-20s %-12s %s%s\n", m[i].name, m[i].unit, m[i].help,
		       m[i].stable ? "" : " (unstable)");
	return finish_stdout();
}

static void print(struct schedstat *s, const struct sched_view *v)
{
	struct openmetrics m = { .out = stdout };

	if (s->json) {
		sched_json(stdout, v, s->metric);
	} else if (s->openmetrics) {
		sched_openmetrics(&m, v, s->metric);
		openmetrics_end(&m);
	} else if (s->metric) {
		sched_plain(stdout, v, s->metric);
	} else {
		if (s->redraw)
			fputs("\033[H\033[J", stdout);
		else if (s->nr)
			putchar('\n');
		sched_table(stdout, v);
	}
}

/* Reads once and shows it. */
static int show(struct schedstat *s)
{
	struct gprof_sched_stats *now = &s->last[s->nr % 2];

	now->sz = sizeof(*now);
	if (gprof_sched_stats_read(s->session.sched, now))
		return fail("%s", gprof_error());
	print(s, &(struct sched_view){
		.target = &s->sched.target,
		.now = now,
		.before = s->nr ? &s->last[(s->nr - 1) % 2] : NULL,
	});
	s->nr++;
	return finish_stdout();
}

/* Better now than when the command has run. */
static int check_metric(struct schedstat *s)
{
	struct gprof_sched_stats st = { .sz = sizeof(st) };
	struct gprof_sched_value value;

	if (gprof_sched_stats_read(s->session.sched, &st))
		return fail("%s", gprof_error());
	if (gprof_sched_stats_get(&st, s->metric, &value))
		return misused("%s is not counted; add --syscalls, --faults or --stall", s->metric);
	return STATUS_OK;
}

/* Shows the statistics at each interval, and at the end. */
static int watch(struct schedstat *s)
{
	uint64_t begun = now_ns(), limit = s->sched.target.duration_ns, next = s->interval_ns;
	int status = STATUS_OK;

	for (;;) {
		uint64_t past = now_ns() - begun, until = limit;

		if (next && (!limit || next < limit))
			until = next;
		/* Missed intervals are not made up for. */
		if (until && past >= until)
			past = until - 1;
		if (!watch_wait(&s->session.session.watch, until ? until - past : 0, NULL, NULL) ||
		    until == limit)
			break;
		status = show(s);
		if (status != STATUS_OK)
			return status;
		while (next <= now_ns() - begun)
			next += s->interval_ns;
	}
	return show(s);
}

static int complete(struct schedstat *s, char **operands)
{
	struct target *t = &s->sched.target;

	if (!t->chosen && !operands[0]) {
		t->chosen = "-a";
		t->gprof.type = GPROF_SYSTEM;
	}
	if (!s->interval_ns && !t->duration_ns && !operands[0])
		t->duration_ns = NSEC_PER_SEC;
	/* A command writes to the terminal too: then nothing may be taken off it. */
	s->redraw = s->interval_ns && !operands[0] && isatty(STDOUT_FILENO);
	return target_complete(t, operands, schedstat_usage.name);
}

int cmd_schedstat(int argc, char **argv)
{
	struct schedstat s = { .sched.hz = SCHED_DEFAULT_HZ };
	const struct option_table tables[] = {
		{ "What to show", schedstat_rows, &s },
		{ "What to count", sched_option_rows, &s.sched },
		{ "Target", target_options, &s.sched.target },
		{ JSON_TABLE, json_options, &s.json },
		{ 0 },
	};
	int operands, status;

	if (!options_parse(&schedstat_usage, tables, argc, argv, false, &operands, &status))
		return status;
	if (s.json && s.openmetrics)
		return misused("--json and --openmetrics exclude each other");
	if (s.list)
		return list_metrics();
	status = complete(&s, argv + operands);
	if (status != STATUS_OK)
		return status;
	status = sched_begin(&s.session, &s.sched);
	if (status == STATUS_OK && s.metric)
		status = check_metric(&s);
	if (status == STATUS_OK)
		status = session_go(&s.session.session);
	if (status == STATUS_OK)
		status = watch(&s);
	return sched_end(&s.session, status);
}
