// SPDX-License-Identifier: GPL-2.0-only
/*
 * gprofctl serve: pages about this machine for monitoring and for browsers. A
 * new page is a row in the table and its function.
 */
#include "cli/cmd.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <gprof/flight.h>
#include <gprof/http.h>
#include <gprof/version.h>

#include "cli/duration.h"
#include "cli/openmetrics.h"
#include "cli/options.h"
#include "cli/diag.h"
#include "host/sched_session.h"
#include "host/sched_view.h"
#include "http/access.h"
#include "http/http_server.h"
#include "http/http_host.h"
#include "profile/page.h"
#include "record/preload.h"
#include "caps.h"
#include "recorder_metrics.h"
#include "serve_view.h"

#define DEFAULT_LISTEN	"127.0.0.1:9747"
#define DEFAULT_SECONDS	"300"
#define DEFAULT_AT_ONCE	"16"
#define AT_ONCE_MAX	48	/* of 64 connections, some are for pages */
#define FLIGHT_NS	10000000000LL

/**
 * struct serve - the command line, and sources of the pages
 * @sched: target and options
 * @listen: --listen, or NULL
 * @socket: --socket, or NULL
 * @mode: --socket-mode
 * @hosts: each --host
 * @web_config: --web.config.file, or NULL
 * @token_file: --token-file, or NULL
 * @max_ns: --max-seconds, 0 when absent
 * @at_once: --max-recordings, 0 when absent
 * @memory: --max-memory, 0 when absent
 * @flight_ns: --flight, 0 when absent
 * @session: statistics; the servers' threads read them while they run
 * @access: passwords and token
 * @flight: recorder of trace?flight=1, or NULL
 * @profiles: handler of /debug/pprof/
 * @https: servers, of an address and of a socket, or NULL
 */
struct serve {
	struct sched_options sched;
	const char *listen;
	const char *socket;
	unsigned int mode;
	struct http_hosts hosts;
	const char *web_config;
	const char *token_file;
	int64_t max_ns;
	unsigned long long at_once;
	unsigned long long memory;
	int64_t flight_ns;
	struct sched_session session;
	struct access *access;
	struct gprof_flight *flight;
	struct gprof_http *profiles;
	struct http_server *https[2];
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
	why = recorder_openmetrics(&m, rq);
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

/* It has no data: the browser asks for these, as for all profiles. */
static const char *answer_live(void *ctx, struct http_request *rq)
{
	(void)ctx;
	page_write_live(rq->body, "live profile");
	return NULL;
}

static const struct http_route routes[] = {
	{ "/metrics", "scheduler statistics and recorders, for Prometheus",
	  OPENMETRICS_OLD_TYPE, answer_metrics },
	{ "/live", "the newest CPU profile as a page that renews itself; with the query of "
	  GPROF_HTTP_PREFIX "profile", "text/html; charset=utf-8", answer_live },
	{ "/schedstat", "scheduler statistics as JSON", "application/json", answer_sched },
	{ 0 },
};

static int set_listen(void *ctx, const char *value)
{
	((struct serve *)ctx)->listen = value;
	return STATUS_OK;
}

static int set_socket(void *ctx, const char *value)
{
	((struct serve *)ctx)->socket = value;
	return STATUS_OK;
}

static int set_mode(void *ctx, const char *value)
{
	struct serve *s = ctx;
	char *end;

	s->mode = strtoul(value, &end, 8);
	if (value[0] < '0' || value[0] > '7' || *end || s->mode > 0777)
		return misused("--socket-mode wants permissions such as 0660, not \"%s\"", value);
	return STATUS_OK;
}

static int set_host(void *ctx, const char *value)
{
	return http_hosts_option(&((struct serve *)ctx)->hosts, value);
}

static int set_web_config(void *ctx, const char *value)
{
	((struct serve *)ctx)->web_config = value;
	return STATUS_OK;
}

static int set_token_file(void *ctx, const char *value)
{
	((struct serve *)ctx)->token_file = value;
	return STATUS_OK;
}

static int set_max_seconds(void *ctx, const char *value)
{
	struct serve *s = ctx;

	if (!duration_parse(value, &s->max_ns) || s->max_ns < 1000000000LL ||
	    s->max_ns > 86400 * 1000000000LL)
		return misused("--max-seconds wants a time from a second to a day, not \"%s\"", value);
	return STATUS_OK;
}

static int set_at_once(void *ctx, const char *value)
{
	struct serve *s = ctx;

	if (!parse_count(value, &s->at_once) || !s->at_once || s->at_once > AT_ONCE_MAX)
		return misused("--max-recordings wants a number from 1 to %d, not \"%s\"", AT_ONCE_MAX,
			       value);
	return STATUS_OK;
}

static int set_memory(void *ctx, const char *value)
{
	struct serve *s = ctx;

	if (!parse_size(value, &s->memory) || !s->memory)
		return misused("--max-memory wants a size above 0, such as 256M, not \"%s\"", value);
	return STATUS_OK;
}

static int set_flight(void *ctx, const char *value)
{
	struct serve *s = ctx;

	s->flight_ns = FLIGHT_NS;
	if (value && (!duration_parse(value, &s->flight_ns) || s->flight_ns <= 0))
		return misused("--flight wants a time above 0, such as 10 (seconds), not \"%s\"", value);
	return STATUS_OK;
}

static const struct option_row serve_rows[] = {
	{ 'l', "listen", "[ADDR:]PORT", "the address (default: " DEFAULT_LISTEN ", with\n"
	  "--socket none); without ADDR for this machine alone; port 0 is any free one",
	  set_listen },
	{ 0, "socket", "PATH", "a socket in the file system, for users who may open it",
	  set_socket },
	{ 0, "socket-mode", "MODE", "its permissions (default: 0600)", set_mode },
	{ 0, "host", "NAME", "another name of this host, by which clients may ask at the address; may\n"
	  "be repeated", set_host },
	{ 0, "web.config.file", "FILE", "users, and certificates, as Prometheus' exporters have\n"
	  "it: basic_auth_users with bcrypt, tls_server_config; read again at SIGHUP",
	  set_web_config },
	{ 0, "token-file", "FILE", "a file whose first line is a token for profiles, as a bearer\n"
	  "or as any user's password; read again at SIGHUP", set_token_file },
	{ 0, "max-seconds", "TIME", "longest recording (default: " DEFAULT_SECONDS ")",
	  set_max_seconds },
	{ 0, "max-recordings", "N", "recordings at once (default: " DEFAULT_AT_ONCE ")",
	  set_at_once },
	{ 0, "max-memory", "SIZE", "memory for the samples of a recording, beyond which it fails; all\n"
	  "at once get four times that (default: 256M)", set_memory },
	{ 0, "flight", "[=TIME]", "keep the last seconds of a trace (default: 10), which\n"
	  "/debug/pprof/trace?flight=1 gives", set_flight },
	{ 0 },
};

static const struct usage serve_usage = {
	.name = "serve",
	.synopsis = "[--listen [ADDR:]PORT] [--socket PATH] [OPTIONS] " TARGET_SYNOPSIS,
	.text =
"Serves pages over HTTP: /metrics for Prometheus, / lists all. The scheduler\n"
"statistics are of the whole host unless a target is given. Any client of the address\n"
"can read them, unless --web.config.file names users.\n"
"\n"
"/debug/pprof/ records profiles and traces on request, of the target or of the\n"
"request's, for the tools of Go's net/http/pprof. They show other users'\n"
"programs: a --socket serves them, and an address, also of this machine, for a\n"
"password or token alone.\n"
"\n"
"It ends with the target, after -d, or with Ctrl-C.",
	.examples =
"  gprofctl serve                           # then open http://" DEFAULT_LISTEN "/\n"
"  gprofctl serve --listen 0.0.0.0:9747     # for scrapers elsewhere\n"
"  gprofctl serve -G /sys/fs/cgroup/system.slice\n"
"  gprofctl serve --socket /run/gprof.sock  # with profiles, for root\n"
"  curl --unix-socket /run/gprof.sock 'http://x/debug/pprof/profile?seconds=5' -o cpu.pb.gz\n"
"  gprofctl serve --web.config.file web.yml\n"
"  go tool pprof 'http://USER:PASSWORD@" DEFAULT_LISTEN "/debug/pprof/profile?pid=1234'",
};

static int complete(struct serve *s, char **operands)
{
	struct target *t = &s->sched.target;

	if (!t->chosen && !operands[0]) {
		t->chosen = "-a";
		t->gprof.type = GPROF_SYSTEM;
	}
	if (!s->listen && !s->socket)
		s->listen = DEFAULT_LISTEN;
	if (s->mode && !s->socket)
		return misused("--socket-mode is about a --socket, which is not there");
	return target_complete(t, operands, serve_usage.name);
}

static int listen_all(struct serve *s)
{
	int status = STATUS_OK;

	if (s->web_config || s->token_file) {
		s->access = access_new(s->web_config, s->token_file, &status);
		if (!s->access)
			return status;
	}
	if (s->listen) {
		s->https[0] = http_listen(s->listen, &status);
		if (!s->https[0])
			return status;
		http_protect(s->https[0], s->access);
		http_answer_to(s->https[0], &s->hosts);
	}
	if (s->socket) {
		s->https[1] = http_listen_socket(s->socket, s->mode ? s->mode : 0600, &status);
		if (!s->https[1])
			return status;
	}
	return STATUS_OK;
}

/*
 * A command has the shim, so that its heap can be asked for; without it only that cannot. Later
 * children of this process have the old environment.
 */
static int begin(struct serve *s)
{
	const char *was = getenv("LD_PRELOAD");
	char *old = was ? xprintf("%s", was) : NULL;
	int status;

	if (s->sched.target.is_command && (s->socket || s->access))
		preload(s->sched.target.command, GPROF_HTTP_PREFIX "heap",
			GPROF_HTTP_PREFIX "kernel-heap");
	status = sched_begin(&s->session, &s->sched);
	if (old)
		setenv("LD_PRELOAD", old, 1);
	else
		unsetenv("LD_PRELOAD");
	free(old);
	return status;
}

static void reload(void *ctx)
{
	access_reload(((struct serve *)ctx)->access);
}

static int begin_profiles(struct serve *s)
{
	const struct gprof_target target = s->sched.target.gprof;
	const struct gprof_trace_config trace = { .sz = sizeof(trace), .target = target };
	const struct gprof_flight_opts opts = { .sz = sizeof(opts), .min_age_ns = s->flight_ns };
	struct gprof_http_config cfg = {
		.sz = sizeof(cfg),
		.target = target,
		.max_ns = s->max_ns,
		.max_recordings = s->at_once,
		.max_memory = s->memory,
	};

	if (s->flight_ns) {
		s->flight = gprof_flight_new(&trace, &opts);
		if (!s->flight || gprof_flight_start(s->flight))
			return fail("%s", gprof_error());
	}
	cfg.flight = s->flight;
	cfg.views = serve_views(&cfg.nr_views);
	s->profiles = gprof_http_new(&cfg);
	return s->profiles ? STATUS_OK : fail("%s", gprof_error());
}

static void report_serving(const struct serve *s, const struct http_server *h)
{
	bool users = access_has_users(s->access), token = access_has_token(s->access);

	if (h == s->https[1])
		diag("serving at %s", http_url(h));
	else
		diag("serving at %s%s", http_url(h),
		     http_is_local(h) || users ? "" : "; any client that reaches it can read");
	if (h == s->https[0] && !http_is_local(h) && (users || token) && !access_tls(s->access))
		diag("%s: passwords and tokens are not encrypted on their way", http_url(h));
}

static int serve(struct serve *s)
{
	int status = begin_profiles(s);

	if (status == STATUS_OK)
		status = caps_keep_needed();
	for (size_t i = 0; i < ARRAY_SIZE(s->https) && status == STATUS_OK; i++) {
		if (!s->https[i])
			continue;
		http_serve_profiles(s->https[i], s->profiles);
		status = http_start(s->https[i], routes, s);
		if (status == STATUS_OK)
			report_serving(s, s->https[i]);
	}
	if (status == STATUS_OK)
		status = session_go(&s->session.session);
	if (status == STATUS_OK && s->access) {
		s->session.session.watch.hangup = reload;
		s->session.session.watch.hangup_ctx = s;
	}
	if (status == STATUS_OK)
		session_wait(&s->session.session, NULL, NULL);
	return status;
}

int cmd_serve(int argc, char **argv)
{
	struct serve s = { .sched.hz = SCHED_DEFAULT_HZ };
	const struct option_table tables[] = {
		{ "What to serve", serve_rows, &s },
		{ "What to count", sched_option_rows, &s.sched },
		{ "Target", target_options, &s.sched.target },
		{ 0 },
	};
	int operands, status;

	if (!options_parse(&serve_usage, tables, argc, argv, false, &operands, &status))
		return status;
	status = complete(&s, argv + operands);
	if (status != STATUS_OK)
		return status;
	status = listen_all(&s);
	if (status == STATUS_OK) {
		status = begin(&s);
		if (status == STATUS_OK)
			status = serve(&s);
		for (size_t i = 0; i < ARRAY_SIZE(s.https); i++)
			http_close(s.https[i]);
		status = sched_end(&s.session, status);
	} else {
		for (size_t i = 0; i < ARRAY_SIZE(s.https); i++)
			http_close(s.https[i]);
	}
	gprof_http_free(s.profiles);
	gprof_flight_free(s.flight);
	access_free(s.access);
	http_hosts_free(&s.hosts);
	return status;
}
