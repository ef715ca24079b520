// SPDX-License-Identifier: GPL-2.0-only
/*
 * The wall view: where the time of each thread went, all of it.
 */
#include "wall.h"

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
#include "trace_profile.h"

#define LEAST_COLUMNS	9	/* of a value */
/* Two events of one instant are told apart by so much: no more in all threads is no column. */
#define LEAST_NS	1000

/* A line of it, and a place where time was spent. */
struct row {
	uint32_t thread;
	int64_t ns[NR_THREAD_STATES];
};

struct place {
	uint32_t thread;
	uint32_t state;		/* NR_THREAD_STATES: CPU samples, of which @times counts */
	uint32_t stack;
};

struct spent {
	int64_t times;
	int64_t ns;
};

/**
 * struct wall - the view in the making
 * @thread_spans: of the threads
 * @rows: by index of the thread
 * @nr: of them
 * @room: of them
 * @places: each once, where a profile is wanted
 * @spent: there
 * @room_spent: of @spent
 * @profile: it is wanted
 */
struct wall {
	struct thread_spans thread_spans;
	struct row *rows;
	size_t nr;
	size_t room;
	struct intern places;
	struct spent *spent;
	size_t room_spent;
	bool profile;
};

static struct row *row_of(struct wall *w, uint32_t thread)
{
	while (w->nr <= thread) {
		w->rows = xgrow(w->rows, w->nr, &w->room, sizeof(*w->rows));
		w->rows[w->nr] = (struct row){ .thread = (uint32_t)w->nr };
		w->nr++;
	}
	return &w->rows[thread];
}

static void spend(struct wall *w, uint32_t thread, uint32_t state, uint32_t stack, int64_t ns)
{
	const struct place place = { thread, state, stack };
	size_t nr = w->places.nr, i = intern_add(&w->places, &place, sizeof(place));

	if (i == nr)
		w->spent = xgrow(w->spent, nr, &w->room_spent, sizeof(*w->spent));
	w->spent[i].times++;
	w->spent[i].ns += ns;
}

static void on_span(void *ctx, struct thread_spans *v, const struct span *s)
{
	struct wall *w = ctx;

	(void)v;
	row_of(w, s->thread)->ns[s->state] += s->end - s->begin;
	if (w->profile)
		spend(w, s->thread, s->state, s->stack, s->end - s->begin);
}

static void on_sample(void *ctx, struct thread_spans *v, uint32_t thread, int64_t time, int64_t cpu,
		      uint32_t stack)
{
	struct wall *w = ctx;

	(void)v, (void)time, (void)cpu;
	if (w->profile && thread != THREAD_NONE && stack)
		spend(w, thread, NR_THREAD_STATES, stack, 0);
}

static int read_all(struct wall *w, const char *file, bool profile)
{
	w->profile = profile;
	w->thread_spans.takes_go = true;
	w->thread_spans.use = (struct thread_spans_ops){
		.ctx = w,
		.span = on_span,
		.sample = on_sample,
	};
	return thread_spans_read(&w->thread_spans, file);
}

static void free_all(struct wall *w)
{
	thread_spans_free(&w->thread_spans);
	intern_free(&w->places);
	free(w->rows);
	free(w->spent);
}

static int64_t elapsed(const struct row *r)
{
	int64_t sum = 0;

	for (size_t i = 0; i < NR_THREAD_STATES; i++)
		sum += r->ns[i];
	return sum;
}

/* Its time on a CPU, or waiting for one. */
static int64_t wanted(const struct row *r)
{
	return r->ns[THREAD_CPU] + r->ns[THREAD_RUNNABLE] + r->ns[THREAD_THROTTLED];
}

static int busiest_first(const void *pa, const void *pb)
{
	const struct row *a = pa, *b = pb;

	if (wanted(a) != wanted(b))
		return wanted(a) < wanted(b) ? 1 : -1;
	return a->thread < b->thread ? -1 : a->thread > b->thread;
}

static void print_json(const struct wall *w, const char *file)
{
	struct json j = { 0 };

	json_open(&j, stdout, "wall");
	json_array(&j, "threads");
	for (size_t i = 0; i < w->nr; i++) {
		const struct row *r = &w->rows[i];
		const struct thread *l = &w->thread_spans.all[r->thread];

		json_object(&j, NULL);
		json_s64(&j, "tid", thread_spans_tid(&w->thread_spans, r->thread));
		json_string(&j, "comm", thread_spans_name(&w->thread_spans, r->thread));
		json_s64(&j, "first_ns", l->first);
		json_s64(&j, "last_ns", l->last);
		json_s64(&j, "elapsed_ns", l->last - l->first);
		for (size_t state = 0; state < NR_THREAD_STATES; state++)
			if (w->thread_spans.go || !thread_state_is_go(state))
				json_ns(&j, thread_state_name(state), r->ns[state]);
		json_end(&j);
	}
	json_end(&j);
	json_lost_events(&j, file, w->thread_spans.lost);
	json_close(&j);
}

static int columns_of(size_t state)
{
	size_t length = strlen(thread_state_name(state));

	return length > LEAST_COLUMNS ? (int)length : LEAST_COLUMNS;
}

static void print_row(const struct row *r, const struct row *total)
{
	char text[HUMAN_MAX];

	printf("%10s", human_ns(elapsed(r), text));
	for (size_t state = 0; state < NR_THREAD_STATES; state++)
		if (total->ns[state] >= LEAST_NS)
			printf(" %*s", columns_of(state),
			       r->ns[state] ? human_ns(r->ns[state], text) : "-");
}

/* Empty columns are left out. */
static void print_table(const struct wall *w, size_t nr)
{
	struct row total = { 0 };

	for (size_t i = 0; i < w->nr; i++)
		for (size_t state = 0; state < NR_THREAD_STATES; state++)
			total.ns[state] += w->rows[i].ns[state];
	printf("%s%10s", terminal_color(stdout, TERMINAL_BOLD), "elapsed");
	for (size_t state = 0; state < NR_THREAD_STATES; state++)
		if (total.ns[state] >= LEAST_NS)
			printf(" %*s", columns_of(state), thread_state_name(state));
	printf("  thread%s\n", terminal_color(stdout, TERMINAL_PLAIN));
	for (size_t i = 0; i < nr; i++) {
		const struct row *r = &w->rows[i];

		print_row(r, &total);
		printf("  %" PRId64 " ", thread_spans_tid(&w->thread_spans, r->thread));
		text_plain(stdout, thread_spans_name(&w->thread_spans, r->thread));
		putchar('\n');
	}
	print_row(&total, &total);
	fputs("  all", stdout);
	if (nr < w->nr)
		printf("; %zu more threads, -n N shows N", w->nr - nr);
	putchar('\n');
}

int wall_table(const char *file, bool json, size_t most)
{
	struct wall w = { 0 };
	int status = read_all(&w, file, false);
	size_t nr = 0;

	if (status == STATUS_OK) {
		/* One that is only named has no time. */
		for (size_t i = 0; i < w.nr; i++)
			if (elapsed(&w.rows[i]))
				w.rows[nr++] = w.rows[i];
		w.nr = nr;
		if (!nr && !json)
			status = thread_spans_report_none(file);
	}
	if (status == STATUS_OK) {
		if (nr)
			qsort(w.rows, nr, sizeof(*w.rows), busiest_first);
		if (most && most < nr)
			nr = most;
		if (json) {
			print_json(&w, file);
		} else {
			pager_begin();
			print_table(&w, nr);
		}
		thread_spans_report(&w.thread_spans, file);
		status = finish_stdout();
	}
	free_all(&w);
	return status;
}

/* Time on a CPU is exact, and CPU samples tell where it went, if there are any. */
struct shares {
	int64_t samples;	/* of a thread */
	int64_t seen;		/* of them so far */
	int64_t given;		/* ns of its time so far */
};

static int add(struct wall *w, struct gprof_profile_builder *b, const struct place *p,
	       int64_t times, int64_t ns)
{
	enum thread_state state = p->state == NR_THREAD_STATES ? THREAD_CPU : p->state;
	struct gprof_frame frames[GPROF_TRACE_FRAMES_MAX];
	size_t nr = trace_stacks_frames(&w->thread_spans.stacks, p->stack, frames);
	const char *name = thread_spans_name(&w->thread_spans, p->thread);
	const struct gprof_tag tags[] = {
		{ .key = "reason", .text = thread_state_name(state) },
		{ .key = "tid", .num = thread_spans_tid(&w->thread_spans, p->thread) },
		{ .key = "comm", .text = name },
	};
	const int64_t values[] = { times, ns };
	char none[32];

	if (!nr) {
		snprintf(none, sizeof(none), "[%s]", thread_state_name(state));
		frames[nr++] = (struct gprof_frame){ .function = none };
		frames[nr++] = (struct gprof_frame){ .function = *name ? name : "[no name]" };
	}
	return gprof_profile_builder_add(b, frames, nr, tags, *name ? 3 : 2, values);
}

static int add_places(struct wall *w, struct gprof_profile_builder *b)
{
	struct shares *shares = xalloc(w->nr + 1, sizeof(*shares));
	int err = 0;
	size_t len;

	for (size_t i = 0; i < w->places.nr; i++) {
		const struct place *p = intern_key(&w->places, i, &len);

		if (p->state == NR_THREAD_STATES && p->thread < w->nr)
			shares[p->thread].samples += w->spent[i].times;
	}
	for (size_t i = 0; i < w->places.nr && !err; i++) {
		const struct place *p = intern_key(&w->places, i, &len);
		struct shares *s = p->thread < w->nr ? &shares[p->thread] : NULL;
		int64_t ns = w->spent[i].ns, until;

		if (!s || (p->state == THREAD_CPU && s->samples))
			continue;
		if (p->state == NR_THREAD_STATES) {
			s->seen += w->spent[i].times;
			until = (int64_t)((double)w->rows[p->thread].ns[THREAD_CPU] *
					  (double)s->seen / (double)s->samples);
			if (s->seen == s->samples)
				until = w->rows[p->thread].ns[THREAD_CPU];
			ns = until - s->given;
			s->given = until;
		}
		err = add(w, b, p, w->spent[i].times, ns);
	}
	free(shares);
	return err;
}

int wall_profile(const char *file, const char *output)
{
	static const struct gprof_value_type types[] = {
		{ "stretches", "count" }, { "wall", "nanoseconds" },
	};
	const struct gprof_profile_builder_config cfg = {
		.sz = sizeof(cfg), .types = types, .nr_types = 2,
	};
	struct gprof_profile_builder *b = gprof_profile_builder_new(&cfg);
	struct wall w = { 0 };
	int status = b ? read_all(&w, file, true) : fail("%s", gprof_error());

	if (status == STATUS_OK && add_places(&w, b))
		status = fail("%s: no memory for the profile", output);
	if (status == STATUS_OK) {
		gprof_profile_builder_time(b, 0, w.thread_spans.end - w.thread_spans.begin);
		if (!w.thread_spans.seen.samples)
			gprof_profile_builder_comment(b, "there are no CPU samples in the trace, "
						      "so that time on a CPU has no stacks");
		thread_spans_report(&w.thread_spans, file);
		status = trace_profile_write(b, output);
	}
	free_all(&w);
	gprof_profile_builder_free(b);
	return status;
}
