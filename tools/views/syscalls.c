// SPDX-License-Identifier: GPL-2.0-only
/*
 * The time of each system call in a trace of the host.
 */
#include "syscalls.h"

#include <gprof/histogram.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/cmd.h"
#include "cli/diag.h"
#include "cli/human.h"
#include "cli/json.h"
#include "cli/pager.h"
#include "cli/terminal.h"
#include "cli/text.h"
#include "thread_spans.h"
#include "timehist.h"
#include "trace_source.h"

/**
 * struct row - a system call, or that of a thread
 * @thread: which, or THREAD_NONE
 * @name: number of the call's name
 * @ns: in all, also of calls that are not whole
 * @off: of that, without a CPU
 * @begin: when the longest began
 * @parts: calls that are not whole: in none of @h
 * @h: of whole calls
 */
struct row {
	uint32_t thread;
	uint32_t name;
	int64_t ns;
	int64_t off;
	int64_t begin;
	uint64_t parts;
	struct gprof_histogram h;
};

/* Time without a CPU of a thread, in the call that it is in since then. */
struct off_cpu {
	int64_t since;
	int64_t ns;
};

/**
 * struct syscalls - the table in the making
 * @thread_spans: of the threads
 * @opts: how it is printed
 * @keys: of the rows
 * @rows: they
 * @room: of @rows
 * @off: by thread
 * @nr_off: of them
 * @room_off: of @off
 * @after: calls that had not ended by its end
 * @broken: calls whose end is lost
 */
struct syscalls {
	struct thread_spans thread_spans;
	struct syscalls_opts opts;
	struct intern keys;
	struct row *rows;
	size_t room;
	struct off_cpu *off;
	size_t nr_off;
	size_t room_off;
	uint64_t after;
	uint64_t broken;
};

static int64_t *off_of(struct syscalls *t, uint32_t thread, int64_t since)
{
	struct off_cpu *off;

	while (t->nr_off <= thread) {
		t->off = xgrow(t->off, t->nr_off, &t->room_off, sizeof(*t->off));
		t->off[t->nr_off++] = (struct off_cpu){ 0 };
	}
	off = &t->off[thread];
	if (off->since != since)
		*off = (struct off_cpu){ .since = since };
	return &off->ns;
}

/* A thread without a CPU neither begins nor ends a call. */
static void on_span(void *ctx, struct thread_spans *v, const struct span *s)
{
	const struct thread *l = &v->all[s->thread];

	if (s->state != THREAD_CPU && s->state != THREAD_LOST && l->call)
		*off_of(ctx, s->thread, l->call_since) += s->end - s->begin;
}

/* The row of a call of a thread, with the time of that. */
static struct row *add(struct syscalls *t, uint32_t thread, uint32_t name, int64_t begin,
		       int64_t end)
{
	const uint32_t key[] = { t->opts.threads ? thread : THREAD_NONE, name };
	size_t nr = t->keys.nr, i = intern_add(&t->keys, key, sizeof(key));
	int64_t off = *off_of(t, thread, begin);

	if (i == nr) {
		t->rows = xgrow(t->rows, nr, &t->room, sizeof(*t->rows));
		t->rows[i] = (struct row){ .thread = key[0], .name = name };
	}
	t->rows[i].ns += end - begin;
	t->rows[i].off += off;
	return &t->rows[i];
}

static void on_call(void *ctx, struct thread_spans *v, uint32_t thread, int64_t begin, int64_t end,
		    bool cut)
{
	struct syscalls *t = ctx;
	struct row *r = add(t, thread, v->all[thread].call - 1, begin, end);
	uint64_t ns = (uint64_t)(end - begin);

	if (cut) {
		r->parts++;
		t->after += v->over;
		t->broken += !v->over;
		return;
	}
	r->h.buckets[gprof_histogram_bucket(ns)]++;
	r->h.count++;
	r->h.sum += ns;
	if (ns >= r->h.largest) {
		r->h.largest = ns;
		r->begin = begin;
	}
}

static int longest_first(const void *pa, const void *pb)
{
	const struct row *a = pa, *b = pb;

	if (a->ns != b->ns)
		return a->ns < b->ns ? 1 : -1;
	if (a->name != b->name)
		return a->name < b->name ? -1 : 1;
	return a->thread < b->thread ? -1 : a->thread > b->thread;
}

static void print_ns(double ns, bool known)
{
	char text[HUMAN_MAX];

	printf(" %9s", known ? human(ns, "nanoseconds", text) : "-");
}

static void print_numbers(const struct row *r, int64_t total)
{
	const struct gprof_histogram *h = &r->h;
	char text[HUMAN_MAX];

	printf("%10s %6.2f%%", human_ns(r->ns, text),
	       total ? 100 * (double)r->ns / (double)total : 0);
	print_ns((double)(r->ns - r->off), true);
	print_ns((double)r->off, true);
	printf(" %9s", human((double)h->count, "count", text));
	print_ns(h->count ? (double)h->sum / (double)h->count : 0, h->count);
	print_ns((double)gprof_histogram_quantile(h, 0.99), h->count);
	print_ns((double)h->largest, h->count);
	putchar(' ');
	if (h->count && r->begin)
		timehist_time(r->begin);
	else
		printf("%15s", h->count ? "" : "-");
	fputs("  ", stdout);
}

static void add_up(struct row *total, const struct row *r)
{
	total->ns += r->ns;
	total->off += r->off;
	for (size_t i = 0; i < GPROF_HISTOGRAM_NR; i++)
		total->h.buckets[i] += r->h.buckets[i];
	total->h.count += r->h.count;
	total->h.sum += r->h.sum;
	if (r->h.largest > total->h.largest)
		total->h.largest = r->h.largest;
}

static void print_table(const struct syscalls *t)
{
	const struct thread_spans *v = &t->thread_spans;
	size_t most = t->opts.rows && t->opts.rows < t->keys.nr ? t->opts.rows : t->keys.nr;
	struct row total = { 0 };

	for (size_t i = 0; i < t->keys.nr; i++)
		add_up(&total, &t->rows[i]);
	printf("%s%10s %7s %9s %9s %9s %9s %9s %9s %15s  %s%s\n",
	       terminal_color(stdout, TERMINAL_BOLD), "total", "share", "on a CPU", "off a CPU",
	       "calls", "mean", "p99", "longest", "from, s", "system call",
	       terminal_color(stdout, TERMINAL_PLAIN));
	for (size_t i = 0; i < most; i++) {
		const struct row *r = &t->rows[i];

		print_numbers(r, total.ns);
		text_plain(stdout, thread_spans_text(v, r->name));
		if (t->opts.threads) {
			fputs("  ", stdout);
			text_plain(stdout, thread_spans_name(v, r->thread));
			printf(" (%" PRId64 ")", thread_spans_tid(v, r->thread));
		}
		putchar('\n');
	}
	print_numbers(&total, total.ns);
	fputs("all", stdout);
	if (most < t->keys.nr)
		printf("; %zu more, -n N shows N", t->keys.nr - most);
	putchar('\n');
	if (t->after || t->broken)
		printf("Calls that had not ended by the end of the trace: %" PRIu64
		       ", whose end is lost: "
		       "%" PRIu64 "; their known time counts in total, on and off a CPU alone.\n",
		       t->after, t->broken);
	puts("Calls that had begun before the trace are not in it.");
}

static void print_json(const struct syscalls *t, const char *file)
{
	const struct thread_spans *v = &t->thread_spans;
	struct json j = { 0 };

	json_open(&j, stdout, "syscalls");
	json_array(&j, "syscalls");
	for (size_t i = 0; i < t->keys.nr; i++) {
		const struct row *r = &t->rows[i];

		json_object(&j, NULL);
		json_string(&j, "name", thread_spans_text(v, r->name));
		if (t->opts.threads) {
			json_s64(&j, "tid", thread_spans_tid(v, r->thread));
			json_string(&j, "comm", thread_spans_name(v, r->thread));
		}
		json_ns(&j, "total", r->ns);
		json_ns(&j, "off_cpu", r->off);
		json_u64(&j, "calls", r->h.count);
		json_ns(&j, "calls_total", (int64_t)r->h.sum);
		json_u64(&j, "p99_ns", gprof_histogram_quantile(&r->h, 0.99));
		json_u64(&j, "max_ns", r->h.largest);
		json_ns(&j, "max_begin", r->begin);
		json_u64(&j, "parts", r->parts);
		json_end(&j);
	}
	json_end(&j);
	json_u64(&j, "not_ended", t->after);
	json_u64(&j, "broken", t->broken);
	json_lost_events(&j, file, v->lost);
	json_close(&j);
}

int syscalls_print(const char *file, const struct syscalls_opts *o)
{
	struct syscalls t = {
		.opts = *o,
		.thread_spans.use = {
			.ctx = &t, .span = on_span, .call = on_call,
		},
	};
	int status = thread_spans_read(&t.thread_spans, file);

	if (status == STATUS_OK)
		status = thread_spans_report_calls(&t.thread_spans, trace_source_told(file),
						   "rows of them");
	if (status == STATUS_OK) {
		if (t.keys.nr)
			qsort(t.rows, t.keys.nr, sizeof(*t.rows), longest_first);
		if (o->json) {
			print_json(&t, file);
		} else {
			pager_begin();
			print_table(&t);
		}
		status = finish_stdout();
	}
	thread_spans_free(&t.thread_spans);
	intern_free(&t.keys);
	free(t.rows);
	free(t.off);
	return status;
}
