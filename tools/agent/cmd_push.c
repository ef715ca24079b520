// SPDX-License-Identifier: GPL-2.0-only
/*
 * gprofctl push: profiles of this host all the time, kept here and sent to an engine.
 */
#include "cli/cmd.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "cli/duration.h"
#include "cli/options.h"
#include "cli/diag.h"
#include "cli/watch.h"
#include "caps.h"
#include "engine.h"
#include "memory_trim.h"
#include "http/http_host.h"
#include "item_make.h"
#include "pusher.h"
#include "store/time_range.h"

#define DEFAULT_STORE	"/var/lib/gprof"
#define DEFAULT_KEEP	(2ULL << 30)
#define DEFAULT_FOR_NS	(7 * 86400 * 1000000000ULL)
#define DEFAULT_NS	(10 * 1000000000ULL)
#define TIMEOUT_MS	30000
#define HEADERS_MAX	16
#define TRACE_BYTES_MAX	(ITEM_BYTES_MAX / 4 * 3)	/* some come until it has ended */

/**
 * struct push - the command line
 * @p: store, recorder and sender
 * @store: --store, or NULL
 * @store_dir: the same, or the default
 * @keep_ns: --for
 * @otlp: --otlp, or NULL
 * @engine: of that; NULL: none, or it is the sender's
 * @headers: --header and the lines of --header-file, NULL-terminated
 * @header_files: contents of --header-file
 * @nr_headers: how many
 * @ca_file: --ca-file, or NULL
 * @give_up: end requests under way
 * @no_names: --no-names
 * @windows: --windows
 * @nr_windows: how many
 * @metrics: --metrics, or NULL
 * @hosts: each --host
 * @http: server for metrics, or NULL
 * @once: --once
 * @kinds_given: there was an -e
 */
struct push {
	struct pusher p;
	const char *store;
	char *store_dir;
	uint64_t keep_ns;
	const char *otlp;
	struct engine *engine;
	const char *headers[HEADERS_MAX + 1];
	size_t nr_headers;
	struct {
		char *v[HEADERS_MAX];
		size_t nr;
	} header_files;
	const char *ca_file;
	atomic_bool give_up;
	bool no_names;
	struct scheduled_window windows[WINDOW_RECORDER_MAX];
	size_t nr_windows;
	const char *metrics;
	struct http_hosts hosts;
	struct http_server *http;
	bool once;
	bool kinds_given;
};

static int set_kind(void *ctx, const char *value)
{
	struct push *o = ctx;

	o->kinds_given = true;
	return continuous_add(&o->p.continuous, value);
}

static int set_interval(void *ctx, const char *value)
{
	int64_t ns;

	if (!duration_parse(value, &ns) || ns < 1000000000LL || (uint64_t)ns > ITEM_LONGEST_NS)
		return misused("--interval wants a time from a second to an hour, not \"%s\"",
			       value);
	((struct push *)ctx)->p.interval_ns = (uint64_t)ns;
	return STATUS_OK;
}

static int set_budget(void *ctx, const char *value)
{
	struct push *o = ctx;
	char *end;
	double percent = strtod(value, &end);

	if (end == value || (strcmp(end, "%") && *end) || !(percent > 0) || percent > 100)
		return misused("--budget wants a part of one CPU such as 0.5%%, not \"%s\"", value);
	o->p.budget.share = percent / 100;
	return STATUS_OK;
}

static int set_windows(void *ctx, const char *value)
{
	struct push *o = ctx;

	if (o->nr_windows == WINDOW_RECORDER_MAX)
		return misused("more than %d --windows are too many", WINDOW_RECORDER_MAX);
	if (!scheduled_window_parse(value, &o->windows[o->nr_windows++]))
		return misused("--windows wants 1/N:T/h, in an hour one host in N for a time T, "
			       "such as 1/10:20s/h or 1/10:1min/h=cpu:499, not \"%s\"", value);
	return STATUS_OK;
}

static int set_store(void *ctx, const char *value)
{
	((struct push *)ctx)->store = value;
	return STATUS_OK;
}

static int set_keep(void *ctx, const char *value)
{
	unsigned long long bytes;

	if (!parse_size(value, &bytes) || bytes < 1 << 20)
		return misused("--keep wants bytes, 1M or more, not \"%s\"", value);
	((struct push *)ctx)->p.keep_bytes = bytes;
	return STATUS_OK;
}

static int set_for(void *ctx, const char *value)
{
	int64_t ns;

	if (!duration_parse(value, &ns) || ns <= 0)
		return misused("--for wants a time such as 7d, not \"%s\"", value);
	((struct push *)ctx)->keep_ns = (uint64_t)ns;
	return STATUS_OK;
}

static int set_otlp(void *ctx, const char *value)
{
	struct push *o = ctx;

	if (o->otlp)
		return misused("--otlp is given twice: profiles go to one engine");
	o->otlp = value;
	return STATUS_OK;
}

/* Options of earlier versions, which files of services may still have. */
static int set_raw(void *ctx, const char *value)
{
	(void)ctx;
	(void)value;
	return misused("push has no option --pyroscope or --parca any more: both engines take OTLP, "
		       "themselves or from an OpenTelemetry Collector, so use --otlp URL");
}

static int set_put(void *ctx, const char *value)
{
	(void)ctx;
	(void)value;
	return misused("push has no option --put any more: OTLP is the one form that it sends, so "
		       "use --otlp URL for profiles, and copy traces from the store");
}

static int set_header(void *ctx, const char *value)
{
	struct push *o = ctx;

	if (o->nr_headers == HEADERS_MAX)
		return misused("more than %d headers are too many", HEADERS_MAX);
	if (!strchr(value, ':') || strpbrk(value, "\r\n"))
		return misused("--header wants \"Name: value\"");
	o->headers[o->nr_headers++] = value;
	return STATUS_OK;
}

/* Of tokens, which the arguments of a process show to all. A line with # in front is none. */
static int set_header_file(void *ctx, const char *value)
{
	struct push *o = ctx;
	FILE *f = fopen(value, "re");
	int status = STATUS_OK;
	char *line = NULL;
	size_t room = 0, end, before = o->header_files.nr;
	ssize_t n;

	if (!f)
		return fail("%s: %s", value, strerror(errno));
	while (status == STATUS_OK && (n = getline(&line, &room, f)) >= 0) {
		end = (size_t)n - (n > 0 && line[n - 1] == '\n');
		line[end] = '\0';
		if (!line[0] || line[0] == '#')
			continue;
		/* Without its contents, which are a secret. */
		if (!strchr(line, ':') || memchr(line, '\0', end))
			status = misused("%s: each line is to be \"Name: value\"", value);
		else
			status = set_header(o, line);
		if (status == STATUS_OK) {
			o->header_files.v[o->header_files.nr++] = line;
			line = NULL;
			room = 0;
		}
	}
	/* Without its token an engine takes nothing: better not to begin. */
	if (status == STATUS_OK && !feof(f))
		status = fail("%s: %s", value, strerror(errno));
	else if (status == STATUS_OK && o->header_files.nr == before)
		status = misused("%s has no header: each line is to be \"Name: value\"", value);
	free(line);
	fclose(f);
	return status;
}

static int set_ca_file(void *ctx, const char *value)
{
	((struct push *)ctx)->ca_file = value;
	return STATUS_OK;
}

static int set_no_names(void *ctx, const char *value)
{
	(void)value;
	((struct push *)ctx)->no_names = true;
	return STATUS_OK;
}

static int set_host(void *ctx, const char *value)
{
	return http_hosts_option(&((struct push *)ctx)->hosts, value);
}

static int set_metrics(void *ctx, const char *value)
{
	((struct push *)ctx)->metrics = value;
	return STATUS_OK;
}

static int set_once(void *ctx, const char *value)
{
	(void)value;
	((struct push *)ctx)->once = true;
	return STATUS_OK;
}

static const struct option_row record_rows[] = {
	{ 'e', "kind", "KIND[:RATE]", "a kind of profile, as record has them, or wall, which is\n"
	  "cpu and block; may be repeated (default: cpu). RATE is samples per second of CPU time\n"
	  "for cpu (default: 19), bytes per sample for alloc and heap (default: 4M), else one\n"
	  "sample of so many (default: 100, for mutex 10)", set_kind },
	{ 0, "interval", "TIME", "length of an interval (default: 10s)", set_interval },
	{ 0, "budget", "SHARE", "limit of its CPU time as a share of one CPU, such as 0.5%: rates\n"
	  "are halved until it takes no more (default: any)", set_budget },
	{ 0, "windows", "1/N:T/h[=KIND[:RATE]]", "each hour on one host in N, at random, for a\n"
	  "time T: also a trace, or a profile of KIND; may be repeated", set_windows },
	{ 0, "once", NULL, "one interval, then send the waiting items, and end", set_once },
	{ 0 },
};

static const struct option_row store_rows[] = {
	{ 0, "store", "DIR", "directory of the store (default: " DEFAULT_STORE ", or\n"
	  "systemd's for a service); made if it is missing", set_store },
	{ 0, "keep", "BYTES", "size of the store (default: 2G); profiles in a sum of ten minutes\n"
	  "go first, then the oldest", set_keep },
	{ 0, "for", "TIME", "longest age of an item in the store (default: 7d), no end of push,\n"
	  "which runs until a signal", set_for },
	{ 0 },
};

static const struct option_row send_rows[] = {
	{ 0, "otlp", "URL", "send profiles as OTLP, over HTTP", set_otlp },
	{ 0, "pyroscope", "URL", NULL, set_raw },
	{ 0, "parca", "URL", NULL, set_raw },
	{ 0, "put", "URL", NULL, set_put },
	{ 0, "header", "HEADER", "\"Name: value\" to send along, such as a token; may be repeated",
	  set_header },
	{ 0, "header-file", "FILE", "the same, one a line; other users can see a command line",
	  set_header_file },
	{ 0, "ca-file", "FILE", "certificates to trust in place of the system's", set_ca_file },
	{ 0, "no-names", NULL, "send addresses and build-ids alone; the engine has the names",
	  set_no_names },
	{ 0, "metrics", "unix:PATH|[ADDR:]PORT", "serve its metrics to Prometheus", set_metrics },
	{ 0, "host", "NAME", "another name of this host, by which --metrics may be asked for; may be\n"
	  "repeated", set_host },
	{ 0 },
};

static const struct usage usage = {
	.name = "push",
	.synopsis = "[OPTIONS]",
	.text =
"Records the whole host all the time, at low rates, and keeps a profile of each\n"
"interval in a store, from which gprofctl history merges any span of time. It\n"
"also sends them to an engine, if there is one; items that the engine does not\n"
"take now wait in the store. The label service.name has the service of a sample.\n"
"\n"
"Ctrl-C ends it; the last interval is kept, and sent if the engine takes it at\n"
"once.",
	.examples =
"  gprofctl push --store /var/lib/gprof -e wall -e mutex --budget 0.5%\n"
"  gprofctl history --store /var/lib/gprof --from -1h -o hour.pb.gz\n"
"  gprofctl push --windows 1/100:20s/h        # a trace of 20 s, of a host in 100 each hour\n"
"  gprofctl push --otlp http://collector:4318 --metrics 127.0.0.1:9748",
};

/* A service has a directory of its own, which may be reached by a link of systemd's. */
static char *store_dir(const struct push *o)
{
	const char *state = getenv("STATE_DIRECTORY");

	if (o->store)
		return xprintf("%s", o->store);
	return state && *state == '/' && !strchr(state, ':') ? xprintf("%s/store", state) :
							       xprintf(DEFAULT_STORE);
}

static int complete(struct push *o, char **operands)
{
	if (operands[0])
		return misused("push takes no \"%s\": it records the whole host, and --otlp URL says "
			       "where to", operands[0]);
	if (o->nr_headers && !o->otlp)
		return misused("--header is for an engine: --otlp URL");
	if (!o->kinds_given)
		return continuous_add(&o->p.continuous, "cpu");
	return STATUS_OK;
}

static int open_store(struct push *o)
{
	struct engine_options engine = {
		.url = o->otlp,
		.headers = o->nr_headers ? o->headers : NULL,
		.ca_file = o->ca_file,
		.timeout_ms = TIMEOUT_MS,
		.no_names = o->no_names,
		.give_up = &o->give_up,
	};
	struct store_options options = {
		.dir = o->store_dir, .keep_bytes = o->p.keep_bytes, .keep_ns = o->keep_ns,
	};
	int status;

	if (o->otlp && engine_otlp_open(&o->engine, &engine))
		return STATUS_FAILED;
	if (o->otlp) {
		options.wait = o->engine->takes;
		options.parts[ITEM_PROFILE] = o->engine->parts;
	}
	o->p.store = store_open(&options, &status);
	/* An engine keeps the profiles of long spans itself. */
	if (!o->otlp)
		o->p.rollups = (struct rollups){ .store = o->p.store, .dir = o->store_dir };
	return status;
}

/* Threads that send, and that record windows. */
static int start_threads(struct push *o)
{
	struct pusher *p = &o->p;
	uint64_t trace_bytes = p->keep_bytes / 4;
	int status = STATUS_OK;

	if (o->otlp) {
		p->sender = sender_start(p->store, &o->engine, 1, &o->give_up, &status);
		o->engine = NULL;
	}
	if (status == STATUS_OK && o->nr_windows) {
		if (trace_bytes > TRACE_BYTES_MAX)
			trace_bytes = TRACE_BYTES_MAX;
		p->windows = window_recorder_start(p->store, o->store_dir, trace_bytes,
						   p->continuous.host, o->windows, o->nr_windows,
						   &status);
	}
	return status;
}

static uint64_t own_cpu_ns(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return ((uint64_t)u.ru_utime.tv_sec + (uint64_t)u.ru_stime.tv_sec) * 1000000000ULL +
	       ((uint64_t)u.ru_utime.tv_usec + (uint64_t)u.ru_stime.tv_usec) * 1000;
}

/* Charges the cost of the interval; does that change the rates? */
static bool judge(struct pusher *p, const uint64_t produced[KINDS_MAX])
{
	uint64_t own = own_cpu_ns(), sampling = continuous_cost(&p->continuous, produced);
	uint64_t cost = own - p->own_ns + sampling, now = now_ns(), elapsed = now - p->judged_ns;

	cost += rollups_pay(&p->rollups, elapsed);
	p->own_ns = own;
	p->judged_ns = now;
	p->sampling_ns += sampling;
	return budget_step(&p->budget, cost, elapsed);
}

/* One interval: its profiles are in the store then. */
static int store_interval(struct push *o, bool last)
{
	struct pusher *p = &o->p;
	/* Before the next interval begins, which may be of the same ten minutes. */
	uint64_t produced[KINDS_MAX], until = clock_now_ns(CLOCK_REALTIME);
	int status;

	memcpy(produced, p->continuous.produced, sizeof(produced));
	status = continuous_store(&p->continuous, p->store,
				  last ? CONTINUOUS_END : CONTINUOUS_GO_ON);
	/*
	 * Rates are of the recorder: it is made anew. Samples that come meanwhile are of the next
	 * level.
	 */
	if (!last && status == STATUS_OK && judge(p, produced)) {
		status = continuous_store(&p->continuous, p->store, CONTINUOUS_RENEW);
		if (status == STATUS_OK)
			status = continuous_start(&p->continuous, &p->budget);
	}
	/* It cannot go on: the last samples are kept. */
	if (!last && status != STATUS_OK)
		continuous_store(&p->continuous, p->store, CONTINUOUS_END);
	pusher_show(p);
	sender_wake(p->sender);
	/* Which is no interval's cost alone: rollups_pay(). */
	if (!last)
		p->own_ns += rollups_step(&p->rollups, until);
	return status;
}

/* Intervals adjoin, and begin on time however long the writing of each takes. */
static int go_on(struct push *o, struct watch *w)
{
	uint64_t next = now_ns();
	int status = STATUS_OK;

	/* The cost of the start is no interval's. */
	o->p.own_ns = own_cpu_ns();
	o->p.judged_ns = next;

	while (status == STATUS_OK) {
		uint64_t interval = budget_interval(&o->p.budget, o->p.interval_ns), now = now_ns();
		bool timed;

		/* Where a profile takes longer than that, intervals do so too. */
		do
			next += interval;
		while (next < now + interval / 4);
		timed = watch_wait(w, next - now, NULL, NULL);
		if (!timed || o->once)
			return store_interval(o, true);
		status = store_interval(o, false);
	}
	return status;
}

/* ---- metrics ---- */

static int listen_for_metrics(struct push *o)
{
	int status;

	if (!o->metrics)
		return STATUS_OK;
	if (!strncmp(o->metrics, "unix:", 5))
		o->http = http_listen_socket(o->metrics + 5, 0600, &status);
	else
		o->http = http_listen(o->metrics, &status);
	if (o->http)
		http_answer_to(o->http, &o->hosts);
	return o->http ? STATUS_OK : status;
}

static int serve_metrics(struct push *o)
{
	int status;

	if (!o->http)
		return STATUS_OK;
	pusher_show(&o->p);
	status = http_start(o->http, pusher_routes, &o->p);
	if (status == STATUS_OK)
		diag("metrics at %s", http_url(o->http));
	return status;
}

static void report(struct push *o)
{
	const struct continuous *k = &o->p.continuous;
	struct store_counts c;
	uint64_t lost = 0;

	store_counts(o->p.store, &c);
	for (size_t i = 0; i < k->kinds.nr; i++)
		lost += k->lost[i];
	if (lost)
		diag("%llu samples were lost in the kernel", (unsigned long long)lost);
	diag("samples: produced=%llu stored=%llu sent=%llu waiting=%llu refused=%llu dropped=%llu "
	     "waited=%llu",
	     (unsigned long long)c.samples.produced, (unsigned long long)c.samples.stored,
	     (unsigned long long)c.samples.sent, (unsigned long long)c.samples.waiting,
	     (unsigned long long)c.samples.refused, (unsigned long long)c.samples.dropped,
	     (unsigned long long)c.samples.waited);
}

/* The store keeps its items, and the next process sends them. */
static void give_up(void)
{
}

static int push(struct push *o)
{
	struct pusher *p = &o->p;
	struct watch w;
	int status = watch_begin(&w);

	if (status != STATUS_OK)
		return status;
	memory_trim_init();
	item_host(p->continuous.host);
	status = open_store(o);
	if (status == STATUS_OK)
		status = listen_for_metrics(o);
	/* Before there are threads: each has capabilities of its own, and some serve other users. */
	if (status == STATUS_OK)
		status = caps_keep_needed();
	if (status == STATUS_OK)
		status = start_threads(o);
	if (status == STATUS_OK)
		status = continuous_start(&p->continuous, &p->budget);
	if (status == STATUS_OK)
		status = serve_metrics(o);
	if (status == STATUS_OK)
		status = go_on(o, &w);
	/* Metrics read the others, which end after the server. */
	http_close(o->http);
	watch_hurry(give_up);
	window_recorder_stop(p->windows);
	sender_stop(p->sender, true);
	p->sender = NULL;
	watch_resume();
	if (o->engine)
		o->engine->close(o->engine);
	if (p->store)
		report(o);
	store_close(p->store);
	watch_end(&w);
	return status;
}

int cmd_push(int argc, char **argv)
{
	struct push o = {
		.p = { .keep_bytes = DEFAULT_KEEP, .interval_ns = DEFAULT_NS },
		.keep_ns = DEFAULT_FOR_NS,
	};
	const struct option_table tables[] = {
		{ "What to record", record_rows, &o },
		{ "Store", store_rows, &o },
		{ "Engines", send_rows, &o },
		{ 0 },
	};
	int operands, status;

	if (!options_parse(&usage, tables, argc, argv, false, &operands, &status))
		return status;
	status = complete(&o, argv + operands);
	if (status == STATUS_OK) {
		o.store_dir = store_dir(&o);
		pthread_mutex_init(&o.p.lock, NULL);
		status = push(&o);
		pthread_mutex_destroy(&o.p.lock);
	}
	continuous_free(&o.p.continuous);
	http_hosts_free(&o.hosts);
	free(o.store_dir);
	for (size_t i = 0; i < o.header_files.nr; i++)
		free(o.header_files.v[i]);
	return status;
}
