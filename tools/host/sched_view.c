// SPDX-License-Identifier: GPL-2.0-only
/*
 * The formats for programs go through the library's list of metrics, so that a
 * new one appears by itself; the table for people picks.
 */
#include "sched_view.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/diag.h"
#include "cli/json.h"
#include "cli/text.h"

#define NSEC_PER_SEC	1000000000.0

/* Bounds of an exposition's buckets: powers of two from 1 us to 17 s. */
#define LE_FIRST	10
#define LE_LAST		34

const char *sched_time(uint64_t ns, char text[SCHED_TEXT_MAX])
{
	static const char *const units[] = { "ns", "us", "ms", "s" };
	double value = (double)ns;
	size_t u = 0;

	/* 999.5 would be written as 1000. */
	for (; u + 1 < ARRAY_SIZE(units) && value >= 999.5; u++)
		value /= 1000;
	snprintf(text, SCHED_TEXT_MAX, "%.*f %s", !u || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2,
		 value, units[u]);
	return text;
}

const char *sched_count(uint64_t n, char text[SCHED_TEXT_MAX])
{
	char digits[SCHED_TEXT_MAX];
	int length = snprintf(digits, sizeof(digits), "%" PRIu64, n);
	char *p = text;

	for (int i = 0; i < length; i++) {
		*p++ = digits[i];
		if (i + 1 < length && (length - i - 1) % 3 == 0)
			*p++ = ',';
	}
	*p = '\0';
	return text;
}

char *sched_target_text(const struct target *target)
{
	const struct gprof_target *t = &target->gprof;

	if (target->command)
		return xprintf("%s", target->command[0]);
	switch (t->type) {
	case GPROF_THREAD:
		return xprintf("thread %d", t->id);
	case GPROF_PROCESS:
		return xprintf("process %d", t->id);
	case GPROF_CGROUP:
		return xprintf("cgroup %s", t->name);
	default:
		return xprintf("the whole host");
	}
}

char *sched_labels(const struct target *target)
{
	const struct gprof_target *t = &target->gprof;
	char id[16], *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return xprintf("%s", "");
	snprintf(id, sizeof(id), "%d", t->id);
	switch (t->type) {
	case GPROF_THREAD:
		openmetrics_label(f, "scope", "thread");
		openmetrics_label(f, "tid", id);
		break;
	case GPROF_PROCESS:
		openmetrics_label(f, "scope", "process");
		openmetrics_label(f, "pid", id);
		break;
	case GPROF_CGROUP:
		openmetrics_label(f, "scope", "cgroup");
		openmetrics_label(f, "cgroup", t->name);
		break;
	default:
		openmetrics_label(f, "scope", "system");
	}
	fclose(f);
	return text ? text : xprintf("%s", "");
}

static bool wanted(const struct gprof_sched_metric *m, const char *only)
{
	return !only || !strcmp(m->name, only);
}

/* "total_stall_ns" as "gprof_sched_stall_seconds". */
static const char *family_name(const struct gprof_sched_metric *m, char name[64])
{
	static const char total[] = "total_", ns[] = "_ns";
	const char *p = m->name;
	size_t n;

	if (!strncmp(p, total, strlen(total)))
		p += strlen(total);
	n = strlen(p);
	if (n > strlen(ns) && !strcmp(p + n - strlen(ns), ns))
		snprintf(name, 64, "gprof_sched_%.*s_seconds", (int)(n - strlen(ns)), p);
	else
		snprintf(name, 64, "gprof_sched_%s", p);
	return name;
}

static void put_histogram(struct openmetrics *m, const char *labels,
			  const struct gprof_histogram *h)
{
	struct openmetrics_bucket b[LE_LAST - LE_FIRST + 1];

	/* A bound is counted with its bucket: the last nanosecond before a power of two. */
	for (int i = LE_FIRST; i <= LE_LAST; i++) {
		b[i - LE_FIRST].le = (UINT64_C(1) << i) - 1;
		b[i - LE_FIRST].count =
			gprof_histogram_below(h, gprof_histogram_bucket(UINT64_C(1) << i));
	}
	openmetrics_histogram(m, labels, b, ARRAY_SIZE(b), h->sum, h->count);
}

void sched_openmetrics(struct openmetrics *om, const struct sched_view *v, const char *only)
{
	static const enum openmetrics_kind kinds[] = {
		[GPROF_METRIC_COUNTER] = OPENMETRICS_COUNTER,
		[GPROF_METRIC_GAUGE] = OPENMETRICS_GAUGE,
		[GPROF_METRIC_HISTOGRAM] = OPENMETRICS_HISTOGRAM,
	};
	char *labels = sched_labels(v->target);
	const struct gprof_sched_metric *m;
	size_t nr = gprof_sched_metrics(&m);

	for (; nr--; m++) {
		struct gprof_sched_value value;
		char name[64], help[256];

		/* The last samples are for people, a scraper has the histogram. */
		if (!wanted(m, only) || m->type == GPROF_METRIC_SAMPLES ||
		    gprof_sched_stats_get(v->now, m->name, &value))
			continue;
		snprintf(help, sizeof(help), "%s%s", m->help, m->stable ? "" : " (unstable)");
		openmetrics_family(om, kinds[m->type], family_name(m, name),
				   strcmp(m->unit, "nanoseconds") ? "" : "seconds", help);
		if (value.histogram)
			put_histogram(om, labels, value.histogram);
		else
			openmetrics_sample(om, labels, value.number);
	}
	if (!only) {
		openmetrics_family(om, OPENMETRICS_GAUGE, "gprof_sched_clock_doubtful", "",
				   "1 when the CPUs' clocks disagree, so that times are not to be "
				   "trusted.");
		openmetrics_sample(om, labels, v->now->clock_doubtful);
	}
	free(labels);
}

static void put_samples(struct json *j, const char *name, const uint64_t *samples)
{
	json_array(j, name);
	for (size_t i = 0; i < GPROF_SCHED_DELAYS; i++)
		json_u64(j, NULL, samples[i]);
	json_end(j);
}

static void put_json_histogram(struct json *j, const char *name, const struct gprof_histogram *h)
{
	json_object(j, name);
	json_u64(j, "count", h->count);
	json_u64(j, "sum", h->sum);
	json_u64(j, "largest", h->largest);
	json_u64(j, "p50", gprof_histogram_quantile(h, 0.5));
	json_u64(j, "p90", gprof_histogram_quantile(h, 0.9));
	json_u64(j, "p99", gprof_histogram_quantile(h, 0.99));
	json_array(j, "buckets");
	for (size_t i = 0; i < GPROF_HISTOGRAM_NR; i++) {
		if (!h->buckets[i])
			continue;
		json_object(j, NULL);
		json_u64(j, "lowest", gprof_histogram_lowest(i));
		json_u64(j, "count", h->buckets[i]);
		json_end(j);
	}
	json_end(j);
	json_end(j);
}

void sched_json(FILE *f, const struct sched_view *v, const char *only)
{
	const struct gprof_sched_stats *st = v->now;
	const struct gprof_sched_metric *m;
	size_t nr = gprof_sched_metrics(&m);
	char *target = sched_target_text(v->target);
	struct json j = { .one_line = true };

	json_open(&j, f, "schedstat");
	json_string(&j, "target", target);
	free(target);
	json_u64(&j, "time_ns", st->time_ns);
	json_u64(&j, "started_ns", st->started_ns);
	json_bool(&j, "clock_doubtful", st->clock_doubtful);
	for (size_t i = 0; i < nr; i++) {
		struct gprof_sched_value value;

		if (!wanted(&m[i], only))
			continue;
		if (gprof_sched_stats_get(st, m[i].name, &value))
			json_null(&j, m[i].name);
		else if (value.samples)
			put_samples(&j, m[i].name, value.samples);
		else if (value.histogram)
			put_json_histogram(&j, m[i].name, value.histogram);
		else
			json_u64(&j, m[i].name, value.number);
	}
	json_array(&j, "unstable");
	for (size_t i = 0; i < nr; i++)
		if (!m[i].stable && wanted(&m[i], only))
			json_string(&j, NULL, m[i].name);
	json_end(&j);
	if (st->missed)
		json_loss(&j, NULL, "%" PRIu64 " delays were not measured and are in no time",
			  st->missed);
	if (st->faults_missed)
		json_loss(&j, NULL, "%" PRIu64 " page faults, of any task, were not counted",
			  st->faults_missed);
	json_close(&j);
}

void sched_plain(FILE *f, const struct sched_view *v, const char *only)
{
	struct gprof_sched_value value;
	uint64_t nr = v->now->num_samples;

	if (gprof_sched_stats_get(v->now, only, &value))
		return;
	if (value.histogram) {
		const struct gprof_histogram *h = value.histogram;

		fprintf(f, "count=%" PRIu64 " sum=%" PRIu64 " largest=%" PRIu64 " p50=%" PRIu64
			" p90=%" PRIu64 " p99=%" PRIu64 "\n", h->count, h->sum, h->largest,
			gprof_histogram_quantile(h, 0.5), gprof_histogram_quantile(h, 0.9),
			gprof_histogram_quantile(h, 0.99));
	} else if (value.samples) {
		/* Those that there are, the most recent last. */
		uint64_t first = nr > GPROF_SCHED_DELAYS ? nr - GPROF_SCHED_DELAYS : 0;

		for (uint64_t i = first; i < nr; i++)
			fprintf(f, "%s%" PRIu64, i > first ? " " : "",
				value.samples[i % GPROF_SCHED_DELAYS]);
		putc('\n', f);
	} else {
		fprintf(f, "%" PRIu64 "\n", value.number);
	}
}

/**
 * struct row - a line of the table
 * @what: unit of the total
 * @total: metric, or NULL
 * @num: metric as it is now, or NULL
 * @note: meaning of @num, or NULL
 */
struct row {
	const char *what;
	const char *total;
	const char *num;
	const char *note;
};

static const struct row rows[] = {
	{ "switched in", "total_task_exec", "num_task_exec", "tasks on a CPU" },
	{ "switched out", "total_switches", NULL, NULL },
	{ "became runnable", "total_task_sched", "num_task_sched", "tasks waiting for a CPU" },
	{ "created", "total_task", "num_task", "tasks alive" },
	{ "system calls", "total_sys_calls", "num_sys_calls", "tasks in one" },
	{ "page faults", "total_faults", "num_faults", "tasks in one" },
	{ "CPUs left idle", "total_thread_starts", "num_threads", "CPUs busy" },
};

/* Seconds that the rates are of. */
static double span(const struct sched_view *v)
{
	uint64_t since = v->before ? v->before->time_ns : v->now->started_ns;

	return v->now->time_ns > since ? (v->now->time_ns - since) / NSEC_PER_SEC : 0;
}

static uint64_t number(const struct gprof_sched_stats *st, const char *name)
{
	struct gprof_sched_value value;

	return st && !gprof_sched_stats_get(st, name, &value) ? value.number : 0;
}

static void put_row(FILE *f, const struct sched_view *v, const struct row *r)
{
	char total[SCHED_TEXT_MAX], rate[SCHED_TEXT_MAX] = "", num[SCHED_TEXT_MAX];
	struct gprof_sched_value value;
	double seconds = span(v);

	if (gprof_sched_stats_get(v->now, r->total, &value))
		return;
	if (seconds)
		snprintf(rate, sizeof(rate), "%.1f",
			 (value.number - number(v->before, r->total)) / seconds);
	fprintf(f, "%-16s %12s %16s", r->what, rate, sched_count(value.number, total));
	/* Of a target that has ended none is left. */
	if (r->num && v->now->max_procs)
		fprintf(f, " %8s  %s", sched_count(number(v->now, r->num), num), r->note);
	putc('\n', f);
}

static void put_stall(FILE *f, const struct sched_view *v)
{
	char total[SCHED_TEXT_MAX], share[SCHED_TEXT_MAX] = "";
	double seconds = span(v);
	uint64_t before = v->before ? v->before->stall_ns : 0;

	if (!v->now->has_stall)
		return;
	if (seconds)
		snprintf(share, sizeof(share), "%.1f %%",
			 (v->now->stall_ns - before) / (seconds * NSEC_PER_SEC) * 100);
	fprintf(f, "%-16s %12s %16s %8s  %s\n", "stalled", share,
		sched_time(v->now->stall_ns, total), "", "some task waited");
}

static void put_times(FILE *f, const char *what, const struct gprof_histogram *h)
{
	static const double shares[] = { 0.5, 0.9, 0.99, 1 };
	char text[SCHED_TEXT_MAX];

	fprintf(f, "%-16s", what);
	for (size_t i = 0; i < ARRAY_SIZE(shares); i++)
		fprintf(f, " %9s", h->count ?
			sched_time(gprof_histogram_quantile(h, shares[i]), text) : "-");
	fprintf(f, " %9s", h->count ? sched_time(h->sum / h->count, text) : "-");
	fprintf(f, " %12s\n", sched_count(h->count, text));
}

static void put_histograms(FILE *f, const struct sched_view *v)
{
	struct gprof_histogram delay = v->now->delay, on_cpu = v->now->on_cpu;

	fprintf(f, "\n%-16s %9s %9s %9s %9s %9s %12s\n", "time", "p50", "p90", "p99", "max",
		"mean", "times");
	if (v->before) {
		gprof_histogram_since(&delay, &v->before->delay);
		gprof_histogram_since(&on_cpu, &v->before->on_cpu);
		put_times(f, "waiting, now", &delay);
	}
	put_times(f, "waiting", &v->now->delay);
	if (v->before)
		put_times(f, "on CPU, now", &on_cpu);
	put_times(f, "on CPU", &v->now->on_cpu);
}

void sched_table(FILE *f, const struct sched_view *v)
{
	char *target = sched_target_text(v->target);
	char text[SCHED_TEXT_MAX];

	text_plain(f, target);
	free(target);
	fprintf(f, ", %.1f s, ", (v->now->time_ns - v->now->started_ns) / NSEC_PER_SEC);
	/* None is left for a target that has ended. */
	if (v->now->max_procs)
		fprintf(f, "%" PRIu64 " of ", v->now->max_procs);
	fprintf(f, "%" PRIu64 " CPUs\n\n", v->now->num_procs);
	fprintf(f, "%-16s %12s %16s%s\n", "", "per second", "total",
		v->now->max_procs ? "      now" : "");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		put_row(f, v, &rows[i]);
	put_stall(f, v);
	put_histograms(f, v);
	if (v->now->missed)
		fprintf(f, "\n%s delays were not measured and are in no time above\n",
			sched_count(v->now->missed, text));
	if (v->now->faults_missed)
		fprintf(f,
			"\n%s page faults, of any task, found the kernel's probe full: not counted\n",
			sched_count(v->now->faults_missed, text));
	if (v->now->clock_doubtful)
		fputs("\nthe CPUs' clocks disagree: times above are not to be trusted\n", f);
}
