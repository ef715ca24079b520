// SPDX-License-Identifier: GPL-2.0-only
/*
 * How long threads wait for a CPU: quantiles, and the tables of perf sched for each switch.
 *
 * A delay is from a waking, a creation or a preemption to running; in the lines of each
 * switch, as in perf sched timehist, it is that of wakings and creations alone.
 */
#include "latency.h"

#include <gprof/histogram.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd.h"
#include "cli/diag.h"
#include "cli/human.h"
#include "cli/json.h"
#include "cli/pager.h"
#include "cli/terminal.h"
#include "cli/text.h"
#include "thread_spans.h"
#include "timehist.h"

/* Of millions of lines. */
#define OUT_BYTES	(256U << 10)

/**
 * struct waiting - a thread's waits for CPUs
 * @ran: ns on them
 * @times: it came to one from waiting
 * @delay: ns of that
 * @max: the longest
 * @max_end: when that ended
 * @delays: how often which, by the buckets of a histogram; NULL: none yet
 * @ready: since when it is runnable, in the stretch before running; 0: it is not
 * @ready_end: when that ended
 * @woken: it was woken or created before that
 * @out: when it left a CPU last; 0: not yet
 * @members: threads added up
 * @thread: the first of them
 * @short_name: in the map, or 0
 * @task: as lines have it, where there were any
 * @task_len: bytes of it
 * @task_name: number of the name in it
 */
struct waiting {
	int64_t ran;
	int64_t times;
	int64_t delay;
	int64_t max;
	int64_t max_end;
	uint32_t *delays;
	int64_t ready;
	int64_t ready_end;
	bool woken;
	int64_t out;
	uint32_t members;
	uint32_t thread;
	uint32_t short_name;
	uint32_t task_name;
	size_t task_len;
	char *task;
};

/* State of a CPU, for the lines of each switch. */
struct on_cpu {
	uint32_t thread;
	bool known;
	bool idle;
	int64_t since;		/* it idles */
	int64_t idled;		/* until when, before that */
};

/**
 * struct latency - a table in the making
 * @thread_spans: of the threads
 * @opts: how it is printed
 * @file: of the trace
 * @all: by index of the thread
 * @nr: how many
 * @room: of @all
 * @cpus: by number
 * @nr_cpus: how many
 * @short_names: that threads have in the map
 * @begin: of this interval, in ns; 0: all is one
 */
struct latency {
	struct thread_spans thread_spans;
	struct latency_opts opts;
	const char *file;
	struct waiting *all;
	size_t nr;
	size_t room;
	struct on_cpu *cpus;
	size_t nr_cpus;
	uint32_t short_names;
	int64_t begin;
};

static struct waiting *make(struct latency *t, uint32_t thread)
{
	while (t->nr <= thread) {
		t->all = xgrow(t->all, t->nr, &t->room, sizeof(*t->all));
		t->all[t->nr] = (struct waiting){ .members = 1, .thread = (uint32_t)t->nr };
		t->nr++;
	}
	return &t->all[thread];
}

static struct waiting *of(struct latency *t, uint32_t thread)
{
	return thread < t->nr ? &t->all[thread] : make(t, thread);
}

/* "NAME[TID]" and blanks up to the next column, made once for each name that it has. */
static const char *task_of(const struct thread_spans *v, struct waiting *w)
{
	const struct thread *l = &v->all[w->thread];
	char *plain, *safe;
	size_t len;

	if (w->task && w->task_name == l->name)
		return w->task;
	free(w->task);
	plain = xprintf("%s[%" PRId64 "]", thread_spans_name(v, w->thread),
			thread_spans_tid(v, w->thread));
	safe = text_safe(plain);
	len = text_columns(safe);
	w->task = xprintf("%s%*s", safe, len < TIMEHIST_TASK ? (int)(TIMEHIST_TASK - len) : 0, "");
	w->task_len = strlen(w->task);
	w->task_name = l->name;
	free(plain);
	free(safe);
	return w->task;
}

static void print_left(const struct thread_spans *v, const struct span *s, struct waiting *w)
{
	bool ready = w->ready && w->ready_end == s->begin && w->woken;
	const char *task = task_of(v, w);

	timehist_line(s->end, v->all[s->thread].cpu, task, w->task_len,
		      w->out ? s->begin - w->out : 0, ready ? s->begin - w->ready : 0,
		      s->end - s->begin);
}

/* A span that began before the interval counts with its rest. */
static int64_t inside(const struct latency *t, int64_t begin, int64_t end)
{
	if (begin < t->begin)
		begin = t->begin;
	return end > begin ? end - begin : 0;
}

/* It has a CPU from @time on, after the delay that it had, if any. */
static void came(struct waiting *w, int64_t time)
{
	if (w->ready && w->ready_end == time) {
		if (!w->delays)
			w->delays = xalloc(GPROF_HISTOGRAM_NR, sizeof(*w->delays));
		w->delays[gprof_histogram_bucket((uint64_t)(time - w->ready))]++;
		w->times++;
		w->delay += time - w->ready;
		if (time - w->ready >= w->max) {
			w->max = time - w->ready;
			w->max_end = time;
		}
	}
	w->ready = 0;
}

static inline void add_span(const struct latency *t, struct waiting *w, const struct span *s)
{
	if (s->state == THREAD_RUNNABLE || s->state == THREAD_THROTTLED) {
		if (s->cut)
			return;
		if (!w->ready || w->ready_end != s->begin) {
			w->ready = s->begin;
			w->woken = s->woken || !w->out;
		}
		w->ready_end = s->end;
		return;
	}
	/* From when on it was off, or ready, is not known behind that. */
	if (s->state == THREAD_LOST)
		w->out = w->ready = 0;
	if (s->state != THREAD_CPU)
		return;
	w->ran += inside(t, s->begin, s->end);
	w->out = s->end;
	came(w, s->begin);
}

static __attribute__((noinline)) void add_first(struct latency *t, const struct span *s)
{
	add_span(t, make(t, s->thread), s);
}

static void on_span(void *ctx, struct thread_spans *v, const struct span *s)
{
	struct latency *t = ctx;

	(void)v;
	if (s->thread < t->nr)
		add_span(t, &t->all[s->thread], s);
	else
		add_first(t, s);
}

static void on_span_line(void *ctx, struct thread_spans *v, const struct span *s)
{
	struct latency *t = ctx;

	/* A thread that runs to the end of the trace has not left. */
	if (s->state == THREAD_CPU && !v->over && !s->goes_on)
		print_left(v, s, of(t, s->thread));
	on_span(t, v, s);
}

static struct on_cpu *cpu_of(struct latency *t, int64_t cpu)
{
	if (cpu < 0)
		return NULL;
	if ((size_t)cpu >= t->nr_cpus) {
		struct on_cpu *cpus = xalloc((size_t)cpu + 1, sizeof(*cpus));

		if (t->nr_cpus)
			memcpy(cpus, t->cpus, t->nr_cpus * sizeof(*cpus));
		free(t->cpus);
		t->cpus = cpus;
		t->nr_cpus = (size_t)cpu + 1;
	}
	return &t->cpus[cpu];
}

/* A0 to Z9, and from the start again. */
static void print_short(uint32_t number)
{
	number = (number - 1) % 260;
	printf("%c%c", 'A' + number % 26, '0' + number / 26);
}

static void print_map(struct latency *t, const struct thread_spans *v, int64_t cpu, uint32_t thread,
		      int64_t time)
{
	bool fresh = thread != THREAD_NONE && !of(t, thread)->short_name;

	if (fresh)
		of(t, thread)->short_name = ++t->short_names;
	fputs("  ", stdout);
	for (size_t i = 0; i < t->nr_cpus; i++) {
		const struct on_cpu *c = &t->cpus[i];

		putchar(i == (size_t)cpu ? '*' : ' ');
		if (!c->known || v->cpus[i].lost_to)
			fputs("  ", stdout);
		else if (c->idle)
			fputs(". ", stdout);
		else
			print_short(of(t, c->thread)->short_name);
		putchar(' ');
	}
	timehist_time(time);
	fputs(" secs ", stdout);
	if (fresh) {
		print_short(of(t, thread)->short_name);
		fputs(" => ", stdout);
		text_plain(stdout, thread_spans_name(v, thread));
		printf(":%" PRId64, thread_spans_tid(v, thread));
	}
	putchar('\n');
}

static void on_switch(void *ctx, struct thread_spans *v, int64_t cpu, uint32_t left,
		      uint32_t thread, int64_t time)
{
	static const char idle[TIMEHIST_TASK + 1] = "<idle>                        ";
	struct latency *t = ctx;
	struct on_cpu *c = cpu_of(t, cpu);

	(void)left;
	if (!c)
		return;
	if (c->idle && t->opts.table == LATENCY_TIMEHIST && thread != THREAD_NONE)
		timehist_line(time, cpu, idle, TIMEHIST_TASK, c->idled ? c->since - c->idled : 0, 0,
			   time - c->since);
	if (c->idle)
		c->idled = time;
	c->known = true;
	c->idle = thread == THREAD_NONE;
	c->thread = thread;
	c->since = time;
	if (t->opts.table == LATENCY_MAP)
		print_map(t, v, cpu, thread, time);
}

/* Nor is it known since when, and until when, it idled. */
static void on_lost(void *ctx, struct thread_spans *v, int64_t cpu, uint32_t thread, int64_t begin,
		    int64_t end)
{
	struct latency *t = ctx;
	struct on_cpu *c = cpu_of(t, cpu);

	(void)v, (void)begin, (void)end;
	if (!c)
		return;
	c->known = thread != THREAD_UNKNOWN;
	c->idle = false;
	c->idled = 0;
}

/**
 * struct row - a line of the summary
 * @w: a thread, or the sum of those of a name
 * @h: of the delays
 */
struct row {
	struct waiting w;
	struct gprof_histogram h;
};

static void add_delays(struct gprof_histogram *h, const struct waiting *w)
{
	for (size_t i = 0; w->delays && i < GPROF_HISTOGRAM_NR; i++)
		h->buckets[i] += w->delays[i];
	h->count += (uint64_t)w->times;
	h->sum += (uint64_t)w->delay;
	if ((uint64_t)w->max > h->largest)
		h->largest = (uint64_t)w->max;
}

/* A row for each thread, or for each name, of which the first thread stands for all. */
static struct row *make_rows(const struct latency *t, bool threads, size_t *nr)
{
	struct row *rows = xalloc(t->nr + 1, sizeof(*rows));
	struct intern names = { 0 };

	*nr = 0;
	for (size_t i = 0; i < t->nr; i++) {
		const struct waiting *w = &t->all[i];
		const char *name = thread_spans_name(&t->thread_spans, w->thread);
		size_t at = threads ? *nr : intern_add(&names, name, strlen(name));
		struct row *row = &rows[at];

		if (!w->ran && !w->times && threads)
			continue;
		if (at == *nr) {
			++*nr;
			row->w = *w;
		} else {
			row->w.ran += w->ran;
			row->w.times += w->times;
			row->w.delay += w->delay;
			row->w.members++;
			if (w->max > row->w.max) {
				row->w.max = w->max;
				row->w.max_end = w->max_end;
			}
		}
		add_delays(&row->h, w);
	}
	intern_free(&names);
	return rows;
}

static double average(const struct waiting *w)
{
	return w->times ? (double)w->delay / (double)w->times : 0;
}

static int longest_first(const void *pa, const void *pb)
{
	const struct waiting *a = &((const struct row *)pa)->w, *b = &((const struct row *)pb)->w;

	if (a->delay != b->delay)
		return a->delay < b->delay ? 1 : -1;
	if (a->max != b->max)
		return a->max < b->max ? 1 : -1;
	return a->thread < b->thread ? -1 : a->thread > b->thread;
}

static void print_numbers(const struct waiting *w, const struct gprof_histogram *h)
{
	const double values[] = {
		(double)w->ran, average(w), (double)gprof_histogram_quantile(h, 0.5),
		(double)gprof_histogram_quantile(h, 0.99), (double)w->max,
	};
	char text[HUMAN_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		printf(" %9s", w->times || !i ? human(values[i], "nanoseconds", text) : "-");
		if (!i)
			printf(" %9s", human((double)w->times, "count", text));
	}
}

static void print_row(const struct latency *t, const struct row *r)
{
	const struct waiting *w = &r->w;
	const char *name = thread_spans_name(&t->thread_spans, w->thread);
	int64_t number =
		w->members > 1 ? w->members : thread_spans_tid(&t->thread_spans, w->thread);
	char *task = xprintf(w->members > 1 ? "%s (%" PRId64 " threads)" : "%s (%" PRId64 ")", name,
			     number);

	print_numbers(w, &r->h);
	putchar(' ');
	if (w->times)
		timehist_time(w->max_end - w->max);
	else
		printf("%15s", "-");
	fputs("  ", stdout);
	text_plain(stdout, task);
	putchar('\n');
	free(task);
}

static void print_rows(const struct latency *t, const struct row *rows, size_t nr)
{
	struct row total = { 0 };
	size_t shown = 0, most = t->opts.rows ? t->opts.rows : LATENCY_ROWS, more = 0;

	printf("%s%10s %9s %9s %9s %9s %9s %15s  %s%s\n", terminal_color(stdout, TERMINAL_BOLD),
	       "on a CPU", "waits", "mean", "p50", "p99", "longest", "from, s", "thread",
	       terminal_color(stdout, TERMINAL_PLAIN));
	for (size_t i = 0; i < nr; i++) {
		const struct row *r = &rows[i];

		if (!r->w.ran && !r->w.times)
			continue;
		if (shown < most) {
			print_row(t, r);
			shown++;
		} else {
			more++;
		}
		total.w.ran += r->w.ran;
		total.w.times += r->w.times;
		total.w.delay += r->w.delay;
		if (r->w.max > total.w.max)
			total.w.max = r->w.max;
		for (size_t k = 0; k < GPROF_HISTOGRAM_NR; k++)
			total.h.buckets[k] += r->h.buckets[k];
		total.h.count += r->h.count;
		total.h.sum += r->h.sum;
		if (r->h.largest > total.h.largest)
			total.h.largest = r->h.largest;
	}
	print_numbers(&total.w, &total.h);
	printf(" %15s  all", "");
	if (more)
		printf("; %zu more, -n N shows N", more);
	putchar('\n');
}

static void print_json(const struct latency *t, const struct row *rows, size_t nr)
{
	struct json j = { .one_line = t->opts.interval_ns };

	json_open(&j, stdout, "latency");
	json_array(&j, "threads");
	for (size_t i = 0; i < nr; i++) {
		const struct waiting *w = &rows[i].w;

		json_object(&j, NULL);
		json_s64(&j, "tid", thread_spans_tid(&t->thread_spans, w->thread));
		json_string(&j, "comm", thread_spans_name(&t->thread_spans, w->thread));
		json_s64(&j, "runtime_ns", w->ran);
		json_s64(&j, "switches", w->times);
		json_s64(&j, "delay_ns", w->delay);
		json_u64(&j, "p50_delay_ns", gprof_histogram_quantile(&rows[i].h, 0.5));
		json_u64(&j, "p99_delay_ns", gprof_histogram_quantile(&rows[i].h, 0.99));
		json_s64(&j, "max_delay_ns", w->max);
		json_s64(&j, "max_delay_end_ns", w->max_end);
		json_end(&j);
	}
	json_end(&j);
	json_lost_events(&j, t->file, t->thread_spans.lost);
	json_close(&j);
}

static void print_summary(const struct latency *t)
{
	size_t nr;
	struct row *rows = make_rows(t, t->opts.threads || t->opts.json, &nr);

	if (nr)
		qsort(rows, nr, sizeof(*rows), longest_first);
	if (t->opts.redraw)
		fputs("\033[H\033[J", stdout);
	else if (!t->opts.json && !t->opts.interval_ns)
		pager_begin();
	if (t->opts.json)
		print_json(t, rows, nr);
	else
		print_rows(t, rows, nr);
	free(rows);
}

static void free_waiting(struct waiting *w)
{
	free(w->task);
	free(w->delays);
}

static void moved(void *ctx, uint32_t from, uint32_t to)
{
	struct latency *t = ctx;

	if (from != to && from < t->nr) {
		free_waiting(&t->all[to]);
		t->all[to] = t->all[from];
		t->all[from].task = NULL;
		t->all[from].delays = NULL;
		t->all[to].thread = to;
	}
	for (size_t i = 0; i < t->nr_cpus; i++)
		if (t->cpus[i].thread == from)
			t->cpus[i].thread = to;
}

/* A running thread has run up to now, and the rest is of the next interval. */
static void end_interval(struct latency *t, int64_t now)
{
	struct thread_spans *v = &t->thread_spans;

	if (t->opts.table == LATENCY_SUMMARY) {
		for (uint32_t i = 0; i < thread_spans_nr(v) && !v->over; i++) {
			if (!thread_is_running(&v->all[i]))
				continue;
			of(t, i)->ran += inside(t, v->all[i].since, now);
			came(of(t, i), v->all[i].since);
		}
		print_summary(t);
		if (!t->opts.redraw && !t->opts.json)
			putchar('\n');
	}
	fflush(stdout);
	thread_spans_forget(v, moved, t);
	for (size_t i = thread_spans_nr(v); i < t->nr; i++)
		free_waiting(&t->all[i]);
	if (t->nr > thread_spans_nr(v))
		t->nr = thread_spans_nr(v);
	for (size_t i = 0; i < t->nr; i++) {
		struct waiting *w = &t->all[i];

		w->ran = w->times = w->delay = w->max = 0;
		if (w->delays)
			memset(w->delays, 0, GPROF_HISTOGRAM_NR * sizeof(*w->delays));
	}
	t->begin = now;
}

static void on_generation(void *ctx, struct thread_spans *v, int64_t time)
{
	struct latency *t = ctx;

	if (!t->begin)
		t->begin = v->begin;
	/* Generations are about as long as an interval, and end with their last event. */
	if (time - t->begin >= t->opts.interval_ns / 2)
		end_interval(t, time);
}

static void begin_table(struct latency *t)
{
	t->thread_spans.use = (struct thread_spans_ops){ .ctx = t, .span = on_span };
	t->thread_spans.takes_go = true;
	if (t->opts.interval_ns)
		t->thread_spans.use.generation = on_generation;
	if (t->opts.table == LATENCY_SUMMARY)
		return;
	if (t->opts.table == LATENCY_TIMEHIST)
		t->thread_spans.use.span = on_span_line;
	t->thread_spans.use.cpu_switch = on_switch;
	t->thread_spans.use.lost = on_lost;
	setvbuf(stdout, NULL, _IOFBF, OUT_BYTES);
	if (t->opts.table == LATENCY_TIMEHIST)
		timehist_head();
}

static int end_table(struct latency *t, int status)
{
	if (status == STATUS_OK && t->opts.table == LATENCY_SUMMARY &&
	    (!t->begin || t->thread_spans.end > t->begin))
		print_summary(t);
	if (status == STATUS_OK && t->thread_spans.go)
		thread_spans_report(&t->thread_spans, t->file);
	if (status == STATUS_OK)
		status = finish_stdout();
	thread_spans_free(&t->thread_spans);
	for (size_t i = 0; i < t->nr; i++)
		free_waiting(&t->all[i]);
	free(t->all);
	free(t->cpus);
	return status;
}

int latency_print(const char *file, const struct latency_opts *o)
{
	struct latency t = { .opts = *o, .file = file };

	begin_table(&t);
	return end_table(&t, thread_spans_read(&t.thread_spans, file));
}

int latency_read(int fd, const char *name, const struct latency_opts *o)
{
	struct latency t = { .opts = *o, .file = name };

	begin_table(&t);
	return end_table(&t, thread_spans_read_fd(&t.thread_spans, fd, name));
}
