// SPDX-License-Identifier: GPL-2.0-only
/*
 * Metrics of "gprofctl push".
 */
#include "pusher.h"

#include <stdlib.h>
#include <string.h>

#include <gprof/version.h>

#include "cli/openmetrics.h"
#include "cli/diag.h"

static void one(struct openmetrics *m, enum openmetrics_kind kind, const char *name,
		const char *unit, uint64_t value, const char *help)
{
	openmetrics_family(m, kind, name, unit, help);
	openmetrics_sample(m, "", value);
}

#define COUNTER(name, unit, value, help)	one(m, OPENMETRICS_COUNTER, name, unit, value, help)
#define GAUGE(name, unit, value, help)		one(m, OPENMETRICS_GAUGE, name, unit, value, help)

static void write_store(struct openmetrics *m, struct pusher *p)
{
	struct store_counts c;

	store_counts(p->store, &c);
	COUNTER("gprof_push_produced_samples", "", c.samples.produced,
		"Samples that were recorded. With those that waited they are all those below.");
	COUNTER("gprof_push_waited_samples", "", c.samples.waited,
		"Samples that waited at the start, or that were found later.");
	COUNTER("gprof_push_stored_samples", "", c.samples.stored,
		"Samples that are kept, and not to be sent.");
	COUNTER("gprof_push_sent_samples", "", c.samples.sent, "Samples that an engine took.");
	COUNTER("gprof_push_refused_samples", "", c.samples.refused,
		"Samples that an engine will never take.");
	COUNTER("gprof_push_dropped_samples", "", c.samples.dropped,
		"Samples that could not be written, or were removed before an engine took them.");
	GAUGE("gprof_push_waiting_samples", "", c.samples.waiting,
	      "Samples that wait for an engine.");
	COUNTER("gprof_push_unsure_samples", "", c.unsure,
		"Samples that are sent again, for it is not known whether they arrived.");
	COUNTER("gprof_push_produced_items", "", c.items.produced,
		"Profiles and traces, likewise.");
	COUNTER("gprof_push_waited_items", "", c.items.waited, "Likewise.");
	COUNTER("gprof_push_stored_items", "", c.items.stored, "Likewise.");
	COUNTER("gprof_push_sent_items", "", c.items.sent, "Likewise.");
	COUNTER("gprof_push_refused_items", "", c.items.refused, "Likewise.");
	COUNTER("gprof_push_dropped_items", "", c.items.dropped, "Likewise.");
	GAUGE("gprof_push_waiting_items", "", c.items.waiting, "Likewise: the queue.");
	COUNTER("gprof_push_removed_items", "", c.removed,
		"Items that were too old or too many, and did not wait for an engine.");
	COUNTER("gprof_push_damaged_items", "", c.damaged,
		"Items that were damaged.");
	COUNTER("gprof_push_store_failures", "", c.failures,
		"Operations on the store's disk that failed.");
	COUNTER("gprof_push_clock_steps", "", c.clock_steps, "Times that the wall clock was set.");
	GAUGE("gprof_push_store_items", "", c.files, "Items in the store.");
	GAUGE("gprof_push_store_bytes", "bytes", c.bytes, "What they take.");
	GAUGE("gprof_push_store_limit_bytes", "bytes", p->keep_bytes, "What they may take.");
}

static void write_sender(struct openmetrics *m, struct pusher *p)
{
	struct sender_counts c = { 0 };

	if (!p->sender)
		return;
	sender_counts(p->sender, &c);
	COUNTER("gprof_push_sends", "", c.tries, "Items that were given to an engine.");
	COUNTER("gprof_push_sends_later", "", c.later,
		"Of these, those that it did not take then.");
	COUNTER("gprof_push_sends_never", "", c.never,
		"Of these, those that it will never take.");
	COUNTER("gprof_push_wire_bytes", "bytes", c.bytes, "What was put on the wire.");
	GAUGE("gprof_push_last_failure_timestamp_seconds", "seconds", c.failed_ns,
	      "When an engine did not take an item last; 0: never.");
	GAUGE("gprof_push_last_success_timestamp_seconds", "seconds", c.taken_ns,
	      "When an engine took an item last; 0: never.");
}

static char *label(const char *name, const char *value)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (f) {
		openmetrics_label(f, name, value);
		fclose(f);
	}
	return text;
}

static void by_kind(struct openmetrics *m, const struct continuous *c, enum openmetrics_kind kind,
		    const char *name, const char *help, uint64_t (*of)(const struct continuous *c,
								      size_t i))
{
	openmetrics_family(m, kind, name, "", help);
	for (size_t i = 0; i < c->kinds.nr; i++) {
		char *text = label("kind", c->kinds.kinds[i].kind);

		if (text)
			openmetrics_sample(m, text, of(c, i));
		free(text);
	}
}

static uint64_t rate_of(const struct continuous *c, size_t i)
{
	return c->kinds.kinds[i].rate;
}

static uint64_t lost_of(const struct continuous *c, size_t i)
{
	return c->lost[i];
}

static uint64_t taken_of(const struct continuous *c, size_t i)
{
	return c->produced[i];
}

static void write_recording(struct openmetrics *m, const struct pusher *p,
			    const struct pusher_shown *shown)
{
	const struct continuous *c = &shown->continuous;
	const struct budget *b = &shown->budget;

	COUNTER("gprof_push_intervals", "", c->intervals, "Intervals that were recorded.");
	GAUGE("gprof_push_interval_seconds", "seconds", budget_interval(b, p->interval_ns),
	      "How long one is now.");
	COUNTER("gprof_push_gap_seconds", "seconds", c->gap_ns,
		"Time that is in no profile, for rates were being changed.");
	by_kind(m, c, OPENMETRICS_GAUGE, "gprof_push_rate",
		"Rate now: samples a second of CPU time for cpu, else one of so many.", rate_of);
	by_kind(m, c, OPENMETRICS_COUNTER, "gprof_push_kernel_samples",
		"Samples that the kernel took.", taken_of);
	by_kind(m, c, OPENMETRICS_COUNTER, "gprof_push_kernel_lost_samples",
		"Of these, those that were lost.", lost_of);
	COUNTER("gprof_push_own_cpu_seconds", "seconds", shown->own_ns, "CPU time of this process.");
	COUNTER("gprof_push_sampling_cpu_seconds", "seconds", shown->sampling_ns,
		"CPU time of the kernel for samples, estimated by their number.");
	GAUGE("gprof_push_budget_seconds", "seconds", (uint64_t)(b->share * 1e9),
	      "CPU time that both may take in a second; 0: any.");
	GAUGE("gprof_push_cost_seconds", "seconds", (uint64_t)(budget_share(b) * 1e9),
	      "CPU time that both took in a second of late.");
	GAUGE("gprof_push_budget_level", "", b->level,
	      "How often rates were halved for the budget.");
}

static void write_windows(struct openmetrics *m, struct pusher *p)
{
	struct window_recorder_counts c;

	if (!p->windows)
		return;
	window_recorder_counts(p->windows, &c);
	COUNTER("gprof_push_windows", "", c.recorded, "Sampled windows that were recorded.");
	COUNTER("gprof_push_windows_failed", "", c.failed, "Sampled windows that were not.");
	COUNTER("gprof_push_windows_missed", "", c.missed,
		"Sampled windows that were not begun: another was recorded, or the clock was set.");
	COUNTER("gprof_push_windows_cut", "", c.cut,
		"Sampled windows that ended before their time, for their traces were large.");
	GAUGE("gprof_push_next_window_timestamp_seconds", "seconds", c.next_ns,
	      "When the next begins.");
}

void pusher_show(struct pusher *p)
{
	pthread_mutex_lock(&p->lock);
	p->shown = (struct pusher_shown){
		.continuous = p->continuous, .budget = p->budget, .own_ns = p->own_ns,
		.sampling_ns = p->sampling_ns,
	};
	pthread_mutex_unlock(&p->lock);
}

static const char *answer(void *ctx, struct http_request *rq)
{
	static const char om[] = "application/openmetrics-text", text[] = "text/plain";
	int newer = http_accepts(rq->accept, om, "1.0.0");
	struct openmetrics m = { .out = rq->body };
	struct pusher_shown shown;
	struct pusher *p = ctx;

	/* A browser, which takes anything, shows plain text and downloads the other. */
	m.old = !newer || newer < http_accepts(rq->accept, text, "0.0.4") ||
		http_accepts(rq->accept, "text/html", NULL) > newer;
	rq->type = m.old ? OPENMETRICS_OLD_TYPE : OPENMETRICS_TYPE;
	openmetrics_family(&m, OPENMETRICS_GAUGE, "gprof_build_info", "",
			   "1, with the version of gprofctl.");
	openmetrics_sample(&m, "version=\"" GPROF_VERSION "\"", 1);
	pthread_mutex_lock(&p->lock);
	shown = p->shown;
	pthread_mutex_unlock(&p->lock);
	write_store(&m, p);
	write_sender(&m, p);
	write_recording(&m, p, &shown);
	write_windows(&m, p);
	openmetrics_end(&m);
	return NULL;
}

const struct http_route pusher_routes[] = {
	{ "/metrics", "counts of recording and sending, for Prometheus",
	  OPENMETRICS_OLD_TYPE, answer },
	{ 0 },
};
