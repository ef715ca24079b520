// SPDX-License-Identifier: GPL-2.0-only
/*
 * A trace as it comes, interval by interval.
 */
#include "live_analysis.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <gprof/histogram.h>

#include "cli/cmd.h"
#include "cli/duration.h"
#include "cli/diag.h"
#include "cli/text.h"
#include "thread_spans.h"

#define WAITS_SHOWN	8
#define THREADS_SHOWN	12
/* Of a picture besides its threads and waits. */
#define LINES_AROUND	7
#define COLUMNS		100
#define COLUMNS_MIN	20
#define LINE_MAX_BYTES	1024
#define UNIT_NS		64

/* A thread's time in this interval, ns; and the longest delay before it ran. */
struct did {
	int64_t ran;
	int64_t ready;
	int64_t longest;
	uint32_t delays;
};

/* A wait that ended in it. */
struct wait {
	int64_t ns;
	uint32_t thread;
	uint32_t waker;
	enum thread_state state;
};

/**
 * struct live_analysis - the picture in the making
 * @thread_spans: of the threads
 * @opts: how it is shown
 * @did: by index of the thread
 * @nr: of them
 * @room: of them
 * @delays: from being runnable to running
 * @slowest: thread with the longest of them
 * @waits: the longest first
 * @nr_waits: how many
 * @switches: that a CPU got a thread
 * @begin: of the interval, ns
 * @began: there was one
 * @pictures: that were shown
 * @columns: that a line has room for
 */
struct live_analysis {
	struct thread_spans thread_spans;
	struct live_analysis_opts opts;
	struct did *did;
	size_t nr;
	size_t room;
	struct gprof_histogram delays;
	uint32_t slowest;
	struct wait waits[WAITS_SHOWN];
	size_t nr_waits;
	uint64_t switches;
	int64_t begin;
	bool began;
	uint64_t pictures;
	size_t columns;
};

static struct did *did_of(struct live_analysis *f, uint32_t thread)
{
	for (; f->nr <= thread; f->nr++)
		f->did = xgrow(f->did, f->nr, &f->room, sizeof(*f->did));
	return &f->did[thread];
}

/* A span that began before the interval counts with its rest. */
static int64_t inside(struct live_analysis *f, int64_t begin, int64_t end)
{
	if (!f->began) {
		f->began = true;
		f->begin = f->thread_spans.begin;
	}
	if (begin < f->begin)
		begin = f->begin;
	return end > begin ? end - begin : 0;
}

static void add_delay(struct live_analysis *f, uint32_t thread, int64_t ns)
{
	struct did *d = did_of(f, thread);

	if ((uint64_t)ns >= f->delays.largest) {
		f->delays.largest = (uint64_t)ns;
		f->slowest = thread;
	}
	f->delays.count++;
	f->delays.sum += (uint64_t)ns;
	f->delays.buckets[gprof_histogram_bucket((uint64_t)ns)]++;
	d->delays++;
	if (ns > d->longest)
		d->longest = ns;
}

/* Threads of the kernel that wait for work are of less interest than other waiters. */
static bool is_longer(const struct wait *a, const struct wait *b)
{
	bool one = a->state == THREAD_KERNEL || a->state == THREAD_OTHER;
	bool other = b->state == THREAD_KERNEL || b->state == THREAD_OTHER;

	return one != other ? other : a->ns > b->ns;
}

static void add_wait(struct live_analysis *f, const struct span *s)
{
	const struct wait w = { s->end - s->begin, s->thread, s->waker, s->state };
	size_t i = f->nr_waits;

	if (i == WAITS_SHOWN && !is_longer(&w, &f->waits[--i]))
		return;
	for (; i && is_longer(&w, &f->waits[i - 1]); i--)
		f->waits[i] = f->waits[i - 1];
	f->waits[i] = w;
	if (f->nr_waits < WAITS_SHOWN)
		f->nr_waits++;
}

static bool is_ready(enum thread_state state)
{
	return state == THREAD_RUNNABLE || state == THREAD_THROTTLED;
}

static void on_span(void *ctx, struct thread_spans *v, const struct span *s)
{
	struct live_analysis *f = ctx;
	int64_t ns = inside(f, s->begin, s->end);

	if (s->state == THREAD_CPU)
		did_of(f, s->thread)->ran += ns;
	else if (is_ready(s->state))
		did_of(f, s->thread)->ready += ns;
	/* A wait by choice, or one without a known begin, is not for another thread. */
	else if (s->woken && !s->cut && s->state != THREAD_SLEEP)
		add_wait(f, s);
	/* Below the unit of a trace it was only told of then. */
	if (is_ready(s->state) && !s->cut && !v->over && (s->woken || s->end - s->begin >= UNIT_NS))
		add_delay(f, s->thread, s->end - s->begin);
}

static void on_switch(void *ctx, struct thread_spans *v, int64_t cpu, uint32_t left,
		      uint32_t thread, int64_t time)
{
	struct live_analysis *f = ctx;

	(void)v, (void)cpu, (void)left, (void)time;
	f->switches += thread != THREAD_NONE;
}

/* A line of at most the width; %s of names is made safe before. */
static void print(struct live_analysis *f, const char *colour, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
static void print(struct live_analysis *f, const char *colour, const char *fmt, ...)
{
	char line[LINE_MAX_BYTES], *safe;
	const char *p;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	safe = text_safe(line);
	if (f->opts.colour && *colour)
		fprintf(f->opts.out, "\033[%sm", colour);
	p = safe;
	for (size_t columns = 0; *p;) {
		uint32_t c = text_next(&p);

		columns += c >= 0x1100 ? 2 : 1;
		if (f->opts.redraw && columns > f->columns)
			break;
		text_put(f->opts.out, c);
	}
	if (f->opts.colour && *colour)
		fputs("\033[0m", f->opts.out);
	fputs(f->opts.redraw ? "\033[K\n" : "\n", f->opts.out);
	free(safe);
}

static const char *name_of(const struct live_analysis *f, uint32_t thread, char *text, size_t size)
{
	if (thread == THREAD_NONE)
		snprintf(text, size, "an interrupt, or a task that was not recorded");
	else
		snprintf(text, size, "%" PRId64 " %.64s",
			 THREAD_TID(f->thread_spans.all[thread].id),
			 thread_spans_name(&f->thread_spans, thread));
	return text;
}

static void print_delays(struct live_analysis *f)
{
	static const double shares[] = { 0.5, 0.9, 0.99, 1 };
	char text[4][DURATION_TEXT], name[96];

	if (!f->delays.count) {
		print(f, "", "no thread had to wait for a CPU");
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(shares); i++)
		duration_text((int64_t)gprof_histogram_quantile(&f->delays, shares[i]), text[i]);
	print(f, "", "waits for a CPU: %" PRIu64 ", half up to %s, 90 %% %s, 99 %% %s, all %s (%s)",
	      f->delays.count, text[0], text[1], text[2], text[3],
	      name_of(f, f->slowest, name, sizeof(name)));
}

/* For qsort(), which passes nothing on. */
static const struct did *sorted;

static int most_first(const void *pa, const void *pb)
{
	const struct did *a = &sorted[*(const uint32_t *)pa], *b = &sorted[*(const uint32_t *)pb];
	int64_t one = a->ran + a->ready, other = b->ran + b->ready;

	if (one != other)
		return one < other ? 1 : -1;
	return a < b ? -1 : a > b;
}

static bool did_anything(const struct did *d)
{
	return d->ran || d->ready;
}

static void print_threads(struct live_analysis *f, int64_t ns, size_t most)
{
	uint32_t *order = xalloc(f->nr, sizeof(*order));
	char name[96], longest[DURATION_TEXT];
	size_t nr = 0;

	for (uint32_t i = 0; i < f->nr; i++)
		if (did_anything(&f->did[i]))
			order[nr++] = i;
	sorted = f->did;
	if (nr)
		qsort(order, nr, sizeof(*order), most_first);
	print(f, "1", "%8s %8s %8s %12s  %s", "ran %", "ready %", "waits", "longest", "thread");
	for (size_t i = 0; i < nr && i < most; i++) {
		const struct did *d = &f->did[order[i]];

		print(f, d->ready > d->ran ? "33" : "", "%8.1f %8.1f %8" PRIu32 " %12s  %s",
		      100.0 * (double)d->ran / (double)ns, 100.0 * (double)d->ready / (double)ns,
		      d->delays, d->delays ? duration_text(d->longest, longest) : "-",
		      name_of(f, order[i], name, sizeof(name)));
	}
	if (nr > most)
		print(f, "", "%8s and %zu threads more", "", nr - most);
	free(order);
}

static void print_waits(struct live_analysis *f, size_t most)
{
	char name[96], waker[96], ns[DURATION_TEXT];

	print(f, "1", "%12s %-8s  %s", "waited", "for", "thread, and its waker");
	for (size_t i = 0; i < f->nr_waits && i < most; i++) {
		const struct wait *w = &f->waits[i];

		print(f, "", "%12s %-8s  %s, by %s", duration_text(w->ns, ns),
		      thread_state_name(w->state), name_of(f, w->thread, name, sizeof(name)),
		      name_of(f, w->waker, waker, sizeof(waker)));
	}
}

/*
 * A pending span counts up to now, as far as it is known; the rest is of the next interval.
 */
static void add_open(struct live_analysis *f, int64_t now)
{
	for (uint32_t i = 0; i < thread_spans_nr(&f->thread_spans); i++) {
		const struct thread *l = &f->thread_spans.all[i];
		int64_t known = thread_span_known_until(&f->thread_spans, l);
		enum thread_state state;

		if (l->state != GPROF_TRACE_GO_RUNNING && l->state != GPROF_TRACE_GO_SYSCALL &&
		    l->state != GPROF_TRACE_GO_RUNNABLE)
			continue;
		state = thread_spans_state(&f->thread_spans, l);
		if (state == THREAD_CPU)
			did_of(f, i)->ran += inside(f, l->since, now);
		else if (is_ready(state))
			did_of(f, i)->ready += inside(f, l->since, known < now ? known : now);
	}
}

static void measure(struct live_analysis *f, size_t *threads, size_t *waits)
{
	struct winsize w = { 0 };

	*threads = THREADS_SHOWN;
	*waits = WAITS_SHOWN;
	f->columns = COLUMNS;
	if (!f->opts.redraw || ioctl(fileno(f->opts.out), TIOCGWINSZ, &w))
		return;
	if (w.ws_col >= COLUMNS_MIN)
		f->columns = w.ws_col;
	if (w.ws_row && w.ws_row < LINES_AROUND + THREADS_SHOWN + WAITS_SHOWN) {
		size_t lines = w.ws_row > LINES_AROUND + 4 ? w.ws_row - LINES_AROUND : 4;

		*waits = lines / 3;
		*threads = lines - *waits;
	}
}

/* Those of which something was told; not all need be recorded. */
static size_t count_cpus(const struct thread_spans *v)
{
	size_t nr = 0;

	for (size_t i = 0; i < v->nr_cpus; i++)
		nr += v->cpus[i].last != 0;
	return nr;
}

static void show(struct live_analysis *f, int64_t now)
{
	int64_t ns = now - f->begin, busy = 0;
	size_t threads, waits, cpus = count_cpus(&f->thread_spans), nr = 0;

	measure(f, &threads, &waits);
	for (size_t i = 0; i < f->nr; i++) {
		busy += f->did[i].ran;
		nr += did_anything(&f->did[i]);
	}
	if (f->opts.redraw)
		fputs("\033[H", f->opts.out);
	print(f, "1", "+%.1f s: %zu CPUs %.0f %% busy, %.0f switches/s, %zu threads%s",
	      (double)(now - f->thread_spans.begin) / 1e9, cpus,
	      cpus ? 100.0 * (double)busy / (double)ns / (double)cpus : 0,
	      (double)f->switches * 1e9 / (double)ns, nr,
	      f->thread_spans.lost ? "; events were lost" : "");
	print_delays(f);
	print_threads(f, ns, threads);
	print_waits(f, waits);
	if (f->opts.redraw)
		fputs("\033[J", f->opts.out);
	else
		putc('\n', f->opts.out);
	fflush(f->opts.out);
	f->pictures++;
}

static void end_interval(struct live_analysis *f, int64_t now)
{
	if (!f->began || now <= f->begin)
		return;
	if (!f->thread_spans.over)
		add_open(f, now);
	show(f, now);
	thread_spans_forget(&f->thread_spans, NULL, NULL);
	if (f->nr)
		memset(f->did, 0, f->nr * sizeof(*f->did));
	f->nr = 0;
	memset(&f->delays, 0, sizeof(f->delays));
	f->slowest = THREAD_NONE;
	f->nr_waits = 0;
	f->switches = 0;
	f->begin = now;
}

static void on_generation(void *ctx, struct thread_spans *v, int64_t time)
{
	struct live_analysis *f = ctx;

	(void)v;
	inside(f, time, time);
	/* Generations are about as long as an interval, and end with their last event. */
	if (time - f->begin >= f->opts.interval_ns / 2)
		end_interval(f, time);
}

void live_analysis_terminal(struct live_analysis_opts *o)
{
	const char *term = getenv("TERM"), *no_colour = getenv("NO_COLOR");

	o->redraw = isatty(fileno(o->out)) && term && *term && strcmp(term, "dumb");
	o->colour = o->redraw && !(no_colour && *no_colour);
}

int live_analysis_read(int fd, const struct live_analysis_opts *o)
{
	struct live_analysis f = {
		.opts = *o, .slowest = THREAD_NONE,
		.thread_spans.use = {
			.ctx = &f, .span = on_span, .cpu_switch = on_switch,
			.generation = on_generation,
		},
		.thread_spans.quiet = true,
	};
	int status;

	if (o->redraw)
		fputs("\033[2J", o->out);
	status = thread_spans_read_fd(&f.thread_spans, fd, "the trace");
	/* The part after the last full interval. */
	if (status == STATUS_OK)
		end_interval(&f, f.thread_spans.end);
	if (ferror(o->out) && status == STATUS_OK)
		status = STATUS_FAILED;
	thread_spans_free(&f.thread_spans);
	free(f.did);
	return status;
}
