// SPDX-License-Identifier: GPL-2.0-only
/*
 * gprofctl serve: pages about this machine for monitoring and for browsers. A
 * new page is a row in the table and its function.
 */
#include "cmd.h"

#include <gprof/version.h>

#include "http.h"
#include "openmetrics.h"
#include "options.h"
#include "recorder_view.h"
#include "say.h"
#include "sched_session.h"
#include "sched_view.h"

#define DEFAULT_LISTEN	"127.0.0.1:9747"

/**
 * struct serve - the command line, and what the pages are made of
 * @sched: what to count
 * @listen: --listen
 * @session: statistics; the server's thread reads them while it runs
 */
struct serve {
	struct sched_options sched;
	const char *listen;
	struct sched_session session;
};

static const char *answer_metrics(void *ctx, struct http_request *rq)
{
	static const char om[] = "application/openmetrics-text", text[] = "text/plain";
	struct serve *s = ctx;
	struct gprof_sched_stats st = { .sz = sizeof(st) };
	struct openmetrics m = { .out = rq->body };
	int newer = http_accepts(rq->accept, om, "1.0.0");
	const char *why;

	/* A browser, which takes anything, shows plain text and downloads the other. */
	m.old = !newer || newer < http_accepts(rq->accept, text, "0.0.4") ||
		http_accepts(rq->accept, "text/html", NULL) > newer;
	rq->type = m.old ? OPENMETRICS_OLD_TYPE : OPENMETRICS_TYPE;
	if (gprof_sched_stats_read(s->session.sched, &st))
		return gprof_error();
	openmetrics_family(&m, OPENMETRICS_GAUGE, "gprof_build_info", "",
			   "1, with the version of gprofctl.");
	openmetrics_sample(&m, "version=\"" GPROF_VERSION "\"", 1);
	sched_openmetrics(&m, &(struct sched_view){
		.target = &s->sched.target,
		.now = &st,
	}, NULL);
	why = recorder_openmetrics(&m);
	if (!why)
		openmetrics_end(&m);
	return why;
}

static const char *answer_sched(void *ctx, struct http_request *rq)
{
	struct serve *s = ctx;
	struct gprof_sched_stats st = { .sz = sizeof(st) };

	if (gprof_sched_stats_read(s->session.sched, &st))
		return gprof_error();
	sched_json(rq->body, &(struct sched_view){
		.target = &s->sched.target,
		.now = &st,
	}, NULL);
	return NULL;
}

static const struct http_route routes[] = {
	{ "/metrics", "scheduler statistics and recorders, for Prometheus",
	  OPENMETRICS_OLD_TYPE, answer_metrics },
	{ "/schedstat", "scheduler statistics as JSON", "application/json", answer_sched },
	{ 0 },
};

static int set_listen(void *ctx, const char *value)
{
	((struct serve *)ctx)->listen = value;
	return STATUS_OK;
}

static const struct option_row serve_rows[] = {
	{ 'l', "listen", "[ADDR:]PORT", "where to serve (default: " DEFAULT_LISTEN ");\n"
	  "without ADDR to this machine alone, port 0 is any that is free", set_listen },
	{ 0 },
};

static const struct usage serve_usage = {
	.name = "serve",
	.synopsis = "[--listen [ADDR:]PORT] [OPTIONS] " TARGET_SYNOPSIS,
	.text =
"Serves pages over HTTP: /metrics for Prometheus, / lists all. The scheduler\n"
"statistics are of the whole host unless a target is given. There is no password:\n"
"who reaches the address can read. It ends with the target, after -d, or with\n"
"Ctrl-C.",
	.examples =
"  gprofctl serve                           # then open http://" DEFAULT_LISTEN "/\n"
"  gprofctl serve --listen 0.0.0.0:9747     # for scrapers elsewhere\n"
"  gprofctl serve -G /sys/fs/cgroup/system.slice",
};

static int complete(struct serve *s, char **operands)
{
	struct target *t = &s->sched.target;

	if (!t->chosen && !operands[0]) {
		t->chosen = "-a";
		t->gprof.type = GPROF_SYSTEM;
	}
	return target_complete(t, operands, serve_usage.name);
}

static int serve(struct serve *s, struct http *h)
{
	int status = http_start(h, routes, s);

	if (status != STATUS_OK)
		return status;
	say("serving at %s%s", http_url(h),
	    http_is_local(h) ? "" : "; whoever reaches it can read");
	status = sched_go(&s->session);
	if (status == STATUS_OK)
		watch_wait(&s->session.watch, s->sched.target.duration_ns, NULL, NULL);
	return status;
}

int cmd_serve(int argc, char **argv)
{
	struct serve s = { .listen = DEFAULT_LISTEN, .sched.hz = SCHED_DEFAULT_HZ };
	const struct option_table tables[] = {
		{ "What to serve", serve_rows, &s },
		{ "What to count", sched_option_rows, &s.sched },
		{ "Of whom", target_options, &s.sched.target },
		{ 0 },
	};
	struct http *h;
	int operands, status;

	if (!options_parse(&serve_usage, tables, argc, argv, false, &operands, &status))
		return status;
	status = complete(&s, argv + operands);
	if (status != STATUS_OK)
		return status;
	h = http_listen(s.listen, &status);
	if (!h)
		return status;
	status = sched_begin(&s.session, &s.sched);
	if (status == STATUS_OK)
		status = serve(&s, h);
	http_close(h);
	return sched_end(&s.session, status);
}
