// SPDX-License-Identifier: GPL-2.0-only
/*
 * A timeline as a page: the data, and the script.
 */
#include "timeline_page.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/diag.h"
#include "cli/text.h"
#include "timeline_assets.h"
#include "timeline_order.h"
#include "wait_chain.h"

/* Of which the most time was spent in; a page without bounds is none. */
#define STACKS_MAX	8192
#define NAME_COLUMNS	64
#define FUNCTION_COLUMNS	120
/* From one level to the next, and to a number of cells that any window is wider than. */
#define COARSER		4
#define CELLS_MIN	64

/**
 * struct page - in the making
 * @f: file
 * @t: timeline
 * @order: of the tracks of threads
 * @numbers: of lives in the page, + 1
 * @thread_spans: by these numbers
 * @nr_lives: how many
 * @samples: of the timeline's, the first of each thread, by its index
 * @stacks: numbers of stacks in the page, by those of lives; 0: it has none
 * @kept: stacks by their numbers in the page, less 1
 * @nr_kept: how many
 * @functions: names
 */
struct page {
	FILE *f;
	struct timeline *t;
	struct timeline_order order;
	uint32_t *numbers;
	uint32_t *thread_spans;
	size_t nr_lives;
	size_t *samples;
	uint32_t *stacks;
	uint32_t *kept;
	size_t nr_kept;
	struct intern functions;
};

static uint32_t number_of(struct page *p, uint32_t thread)
{
	if (!p->numbers[thread]) {
		p->thread_spans[p->nr_lives++] = thread;
		p->numbers[thread] = (uint32_t)p->nr_lives;
	}
	return p->numbers[thread] - 1;
}

static void order(struct page *p)
{
	const struct timeline *t = p->t;

	timeline_order_make(&p->order, t);
	p->numbers = xalloc(thread_spans_nr(&t->thread_spans), sizeof(*p->numbers));
	p->thread_spans = xalloc(thread_spans_nr(&t->thread_spans), sizeof(*p->thread_spans));
	for (size_t i = 0; i < p->order.nr; i++)
		number_of(p, p->order.rows[i].thread);
}

struct stack_time {
	uint32_t stack;
	int64_t ns;
};

static int longest_first(const void *pa, const void *pb)
{
	const struct stack_time *a = pa, *b = pb;

	if (a->ns != b->ns)
		return a->ns < b->ns ? 1 : -1;
	return a->stack < b->stack ? -1 : a->stack > b->stack;
}

/* Of those with the most time, and of those with the most CPU samples. */
static void keep_stacks(struct page *p, struct stack_time *times, size_t nr_stacks)
{
	size_t nr = 0;

	for (size_t i = 0; i < nr_stacks; i++)
		if (!times[i].stack || p->stacks[times[i].stack])
			times[i].ns = 0;
	qsort(times, nr_stacks, sizeof(*times), longest_first);
	for (; nr < nr_stacks && nr < STACKS_MAX && times[nr].ns; nr++) {
		p->kept[p->nr_kept] = times[nr].stack;
		p->stacks[times[nr].stack] = (uint32_t)++p->nr_kept;
	}
}

static void choose_stacks(struct page *p)
{
	const struct timeline *t = p->t;
	size_t nr_stacks = t->thread_spans.stacks.stacks.nr + 1;
	struct stack_time *times = xalloc(nr_stacks, sizeof(*times));

	p->stacks = xalloc(nr_stacks, sizeof(*p->stacks));
	p->kept = xalloc(2 * STACKS_MAX, sizeof(*p->kept));
	for (size_t i = 0; i < nr_stacks; i++)
		times[i].stack = (uint32_t)i;
	for (size_t i = 0; i < p->order.nr; i++) {
		const struct pieces *all = &t->threads[p->order.rows[i].thread].pieces;

		for (uint32_t j = 0; j < all->nr; j++)
			times[all->all[j].stack].ns += all->all[j].ns;
	}
	keep_stacks(p, times, nr_stacks);
	for (size_t i = 0; i < nr_stacks; i++)
		times[i] = (struct stack_time){ .stack = (uint32_t)i };
	for (size_t i = 0; i < t->nr_samples; i++)
		times[t->samples[i].stack].ns++;
	keep_stacks(p, times, nr_stacks);
	free(times);
}

static int by_thread_and_time(const void *pa, const void *pb)
{
	const struct timeline_sample *a = pa, *b = pb;

	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	return a->time < b->time ? -1 : a->time > b->time;
}

/* Those of each thread stand together from now on. */
static void order_samples(struct page *p)
{
	struct timeline *t = p->t;
	size_t nr = thread_spans_nr(&t->thread_spans), at = 0;

	if (t->nr_samples)
		qsort(t->samples, t->nr_samples, sizeof(*t->samples), by_thread_and_time);
	p->samples = xalloc(nr + 1, sizeof(*p->samples));
	for (size_t i = 0; i <= nr; i++) {
		while (at < t->nr_samples && t->samples[at].thread < i)
			at++;
		p->samples[i] = at;
	}
}

/* As "%lu" does, which most of the time would be spent in. */
static void put_number(FILE *f, uint64_t value)
{
	char text[24], *end = text + sizeof(text), *p = end;

	do
		*--p = (char)('0' + value % 10);
	while (value /= 10);
	fwrite_unlocked(p, 1, (size_t)(end - p), f);
}

static void put_pieces(struct page *p, const struct pieces *all)
{
	putc('"', p->f);
	for (uint32_t i = 0; i < all->nr; i++) {
		const struct piece *one = &all->all[i];
		bool is_thread = all->by_who || one->state != THREAD_CPU;

		putc_unlocked('a' + one->state, p->f);
		put_number(p->f, (uint64_t)one->ns);
		if (one->woken && one->count == 1)
			putc_unlocked('!', p->f);
		if (one->stack && p->stacks[one->stack]) {
			putc_unlocked(':', p->f);
			put_number(p->f, p->stacks[one->stack]);
		}
		/* Several joined waits have no one waker. */
		if (one->who != PIECE_NOBODY && (all->by_who || one->count == 1)) {
			putc_unlocked('@', p->f);
			put_number(p->f, is_thread ? number_of(p, one->who) : one->who);
		}
		if (one->count > 1) {
			putc_unlocked('*', p->f);
			put_number(p->f, one->count);
		}
	}
	putc('"', p->f);
}

/* A level that has not much less than the one before would be of no use. */
static void put_levels(struct page *p, const struct pieces *all)
{
	int64_t r = p->t->resolution, span = p->t->end - p->t->begin;
	struct pieces level = { 0 }, next;

	fprintf(p->f, "\"levels\":[[%" PRId64 ",", r);
	put_pieces(p, all);
	putc(']', p->f);
	while (r <= span / CELLS_MIN / COARSER) {
		r *= COARSER;
		next = (struct pieces){ 0 };
		pieces_copy(&next, level.nr ? &level : all, r);
		if (next.nr > (level.nr ? level.nr : all->nr) / 2) {
			pieces_free(&next);
			continue;
		}
		pieces_free(&level);
		level = next;
		fprintf(p->f, ",\n[%" PRId64 ",", r);
		put_pieces(p, &level);
		putc(']', p->f);
	}
	pieces_free(&level);
	putc(']', p->f);
}

static void put_times(FILE *f, const int64_t *ns)
{
	fputs("\"ns\":[", f);
	for (size_t i = 0; i < NR_THREAD_STATES; i++)
		fprintf(f, "%s%" PRId64, i ? "," : "", ns[i]);
	fputs("],", f);
}

/* { ns since the last one ":" stack "," }* */
static void put_samples(struct page *p, uint32_t thread)
{
	int64_t last = p->t->begin;

	if (p->samples[thread] == p->samples[thread + 1])
		return;
	fputs("\"samples\":\"", p->f);
	for (size_t i = p->samples[thread]; i < p->samples[thread + 1]; i++) {
		const struct timeline_sample *one = &p->t->samples[i];

		put_number(p->f, (uint64_t)(one->time - last));
		putc_unlocked(':', p->f);
		put_number(p->f, p->stacks[one->stack]);
		putc_unlocked(',', p->f);
		last = one->time;
	}
	fputs("\",", p->f);
}

static void put_track(struct page *p, const struct track *track)
{
	int64_t first = track->pieces.nr ? track->pieces.all[0].begin - p->t->begin : 0;

	fprintf(p->f, "\"first\":%" PRId64 ",", first);
	put_times(p->f, track->ns);
	put_levels(p, &track->pieces);
	fputs("}", p->f);
}

static void put_tracks(struct page *p)
{
	const char *comma = "";

	fputs("\"cpus\":[", p->f);
	for (size_t i = 0; i < p->t->nr_cpus; i++) {
		if (!p->t->cpus[i].known)
			continue;
		fprintf(p->f, "%s\n{\"cpu\":%zu,", comma, i);
		put_track(p, &p->t->cpus[i].track);
		comma = ",";
	}
	fputs("],\n\"tracks\":[", p->f);
	for (size_t i = 0; i < p->order.nr; i++) {
		fprintf(p->f, "%s\n{\"thread\":%zu,\"process\":%" PRIu32 ",", i ? "," : "", i,
			p->order.rows[i].process);
		put_samples(p, p->order.rows[i].thread);
		put_track(p, &p->t->threads[p->order.rows[i].thread]);
	}
	fputs("],\n", p->f);
}

static void put_name(FILE *f, const char *name, size_t columns)
{
	char *text = text_short(name, columns);

	text_json(f, text);
	free(text);
}

/* Threads that are named by a track, besides those that have one. */
static void put_threads(struct page *p)
{
	const struct thread_spans *v = &p->t->thread_spans;

	fputs("\"threads\":[", p->f);
	for (size_t i = 0; i < p->nr_lives; i++) {
		fprintf(p->f, "%s[%" PRId64 ",", i ? ",\n" : "\n",
			thread_spans_tid(v, p->thread_spans[i]));
		put_name(p->f, thread_spans_name(v, p->thread_spans[i]), NAME_COLUMNS);
		putc(']', p->f);
	}
	fputs("],\n", p->f);
}

static void put_processes(struct page *p)
{
	const struct thread_spans *v = &p->t->thread_spans;

	fputs("\"processes\":[", p->f);
	for (size_t i = 0; i < p->order.nr_processes; i++) {
		const struct timeline_process *one = &p->order.processes[i];

		fprintf(p->f, "%s[%" PRId64 ",", i ? ",\n" : "\n", v->go ? 0 : one->pid);
		put_name(p->f, !v->go && one->pid == TIMELINE_KERNEL ? "kernel threads" :
			 thread_spans_name(v, one->named_by), NAME_COLUMNS);
		putc(']', p->f);
	}
	fputs("],\n", p->f);
}

/* Places say which of its frames tell where a thread is, as wait_chain.c has it. */
static void put_stacks(struct page *p)
{
	struct gprof_frame frames[GPROF_TRACE_FRAMES_MAX];
	struct wait_place place;
	size_t len;

	fputs("\"stacks\":[", p->f);
	for (size_t i = 0; i < p->nr_kept; i++) {
		size_t nr = trace_stacks_frames(&p->t->thread_spans.stacks, p->kept[i], frames);

		fputs(i ? ",\n[" : "\n[", p->f);
		for (size_t j = 0; j < nr; j++)
			fprintf(p->f, "%s%zu", j ? "," : "",
				intern_add(&p->functions, frames[j].function,
					   strlen(frames[j].function) + 1));
		putc(']', p->f);
	}
	fputs("],\n\"places\":[", p->f);
	for (size_t i = 0; i < p->nr_kept; i++) {
		size_t nr = trace_stacks_frames(&p->t->thread_spans.stacks, p->kept[i], frames);

		if (!wait_chain_place(frames, nr, &place))
			place = (struct wait_place){ .in_kernel = -1 };
		fprintf(p->f, "%s[%zu,%zu,%ld]", i ? "," : "", place.begin, place.end,
			place.in_kernel);
	}
	fputs("],\n\"functions\":[", p->f);
	for (size_t i = 0; i < p->functions.nr; i++) {
		fputs(i ? ",\n" : "\n", p->f);
		put_name(p->f, intern_key(&p->functions, i, &len), FUNCTION_COLUMNS);
	}
	fputs("],\n", p->f);
}

static void put_others(struct page *p)
{
	int64_t ns[NR_THREAD_STATES] = { 0 };
	size_t nr = 0;

	for (size_t i = 0; i < p->t->nr_threads; i++) {
		const struct track *track = &p->t->threads[i];

		if (!track->left_out)
			continue;
		nr++;
		for (size_t state = 0; state < NR_THREAD_STATES; state++)
			ns[state] += track->ns[state];
	}
	fputs("\"others\":{", p->f);
	put_times(p->f, ns);
	fprintf(p->f, "\"threads\":%zu},\n", nr);
}

/* Warnings about missing parts of the trace. */
static void put_notes(struct page *p)
{
	const struct thread_spans *v = &p->t->thread_spans;
	const char *comma = "";
	char *text;

	fputs("\"notes\":[", p->f);
	if (v->lost) {
		text = xprintf("%" PRIu64 " events are missing in the trace; what CPUs and threads "
			       "did then is drawn as lost", v->lost);
		text_json(p->f, text);
		free(text);
		comma = ",\n";
	}
	text = thread_spans_missing(v, "the trace");
	if (text) {
		fputs(comma, p->f);
		text_json(p->f, text);
		free(text);
	}
	fputs("],\n", p->f);
}

/* All readers of a page see the same times: those of the zone where it was made. */
static void put_wall_clock(struct page *p)
{
	const struct thread_spans *v = &p->t->thread_spans;
	int64_t wall = (int64_t)(v->clock.sec * 1000000000 + v->clock.nsec) +
		       (p->t->begin - v->clock.time);
	time_t seconds = wall / 1000000000;
	struct tm tm;

	if (!v->has_clock || v->clock.sec > INT64_MAX / 2000000000 || wall < 0 ||
	    !localtime_r(&seconds, &tm)) {
		fputs("\"wall\":null,\n", p->f);
		return;
	}
	fprintf(p->f, "\"wall\":\"%" PRId64 "\",\n\"zone\":[%ld,", wall, tm.tm_gmtoff / 60);
	text_json(p->f, tm.tm_zone);
	fputs("],\n", p->f);
}

static void put_words(struct page *p)
{
	const struct thread_spans *v = &p->t->thread_spans;

	fputs("\"words\":[", p->f);
	for (size_t i = 0; i < NR_THREAD_STATES; i++)
		fprintf(p->f, "%s\"%s\"", i ? "," : "", wait_chain_words(i));
	fputs("],\n\"ended\":[", p->f);
	for (size_t i = 0; i < WAIT_CHAIN_ENDS; i++)
		fprintf(p->f, "%s\"%s\"", i ? "," : "", wait_chain_ended(v, i));
	fprintf(p->f, "],\n\"whole\":%s,\n",
		p->t->begin == v->begin && p->t->end == v->end ? "true" : "false");
}

static void put_data(struct page *p, const char *title)
{
	fputs("{\"title\":", p->f);
	text_json(p->f, title);
	fprintf(p->f, ",\n\"begin\":\"%" PRId64 "\",\n\"span\":%" PRId64 ",\n\"resolution\":%"
		PRId64 ",\n\"parts\":[", p->t->begin, p->t->end - p->t->begin, p->t->resolution);
	for (size_t i = 0; i < NR_THREAD_STATES; i++)
		fprintf(p->f, "%s\"%s\"", i ? "," : "", thread_state_name(i));
	fputs("],\n", p->f);
	put_words(p);
	put_wall_clock(p);
	fprintf(p->f, "\"sampled\":%u,\n", 1U << p->t->halvings);
	put_notes(p);
	put_others(p);
	put_tracks(p);
	put_threads(p);
	put_processes(p);
	put_stacks(p);
	fprintf(p->f, "\"go\":%s,\n\"version\":1}\n", p->t->thread_spans.go ? "true" : "false");
}

void timeline_page(FILE *f, struct timeline *t, const char *title)
{
	struct page p = { .f = f, .t = t };

	order(&p);
	order_samples(&p);
	choose_stacks(&p);
	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	      /* Names in a trace are not trusted: a browser may neither run nor fetch them. */
	      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
	      "style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n<title>", f);
	text_xml(f, title, SIZE_MAX);
	fprintf(f, "</title>\n<style>\n%s</style>\n</head>\n<body>\n"
		"<noscript>This page draws its data by a script, which is switched off.</noscript>\n"
		"<script id=\"data\" type=\"application/json\">\n", timeline_style);
	put_data(&p, title);
	fprintf(f, "</script>\n<script>\n%s</script>\n</body>\n</html>\n", timeline_script);
	timeline_order_free(&p.order);
	free(p.numbers);
	free(p.thread_spans);
	free(p.samples);
	free(p.stacks);
	free(p.kept);
	intern_free(&p.functions);
}
