// SPDX-License-Identifier: GPL-2.0-only
/*
 * The timeline of a trace, as tracks of pieces.
 */
#include "timeline.h"

#include <stdlib.h>

#include "cli/cmd.h"
#include "cli/diag.h"

/* Of CPUs, where a trace says more than that of threads on them. */
#define CPUS_MAX	8192
/* Pieces that may be left when there were too many. */
#define ENOUGH		(TIMELINE_PIECES_MAX / 4 * 3)

int64_t timeline_demand(const struct track *track)
{
	return track->ns[THREAD_CPU] + track->ns[THREAD_RUNNABLE] + track->ns[THREAD_THROTTLED];
}

static int most_wanted(const void *pa, const void *pb)
{
	const struct track *a = *(struct track *const *)pa, *b = *(struct track *const *)pb;
	int64_t one = timeline_demand(a), other = timeline_demand(b);

	if (one != other)
		return one < other ? 1 : -1;
	return a < b ? -1 : a > b;
}

static size_t room_of(const struct timeline *t)
{
	size_t room = 0;

	for (size_t i = 0; i < t->nr_threads; i++)
		room += t->threads[i].pieces.room;
	for (size_t i = 0; i < t->nr_cpus; i++)
		room += t->cpus[i].track.pieces.room;
	return room;
}

/* More threads than tracks: those that did least have none. */
static void leave_out(struct timeline *t)
{
	struct track **by_time = xalloc(t->nr_threads + 1, sizeof(struct track *));
	size_t nr = 0;

	for (size_t i = 0; i < t->nr_threads; i++)
		if (t->threads[i].pieces.nr)
			by_time[nr++] = &t->threads[i];
	if (nr)
		qsort(by_time, nr, sizeof(struct track *), most_wanted);
	for (size_t i = TIMELINE_TRACKS_MAX; i < nr; i++) {
		by_time[i]->left_out = true;
		pieces_free(&by_time[i]->pieces);
	}
	free(by_time);
}

/* Until there is room for more again, or there is nothing left that could be joined. */
static void coarsen(struct timeline *t)
{
	int64_t span = t->thread_spans.end - t->begin;

	do {
		t->resolution *= 2;
		for (size_t i = 0; i < t->nr_threads; i++)
			pieces_coarsen(&t->threads[i].pieces, t->resolution);
		for (size_t i = 0; i < t->nr_cpus; i++)
			pieces_coarsen(&t->cpus[i].track.pieces, t->resolution);
		t->nr = room_of(t);
	} while (t->nr > ENOUGH && t->resolution < span);
	if (t->nr > ENOUGH) {
		leave_out(t);
		t->nr = room_of(t);
	}
}

static int64_t later(int64_t time, int64_t ns)
{
	return __builtin_add_overflow(time, ns, &time) ? INT64_MAX : time;
}

/* "+" counts from the first event, which is known when anything is told. */
static void bound(struct timeline *t)
{
	const struct timeline_range *w = &t->range;

	if (t->bounded)
		return;
	t->bounded = true;
	t->begin = t->thread_spans.begin;
	t->end = INT64_MAX;
	if (w->from || w->from_offset)
		t->begin = w->from_offset ? later(t->begin, w->from) : w->from;
	if (w->to)
		t->end = w->to_offset ? later(t->thread_spans.begin, w->to) : w->to;
	if (t->begin < t->thread_spans.begin)
		t->begin = t->thread_spans.begin;
}

static void add_piece(struct timeline *t, struct track *track, struct piece *piece, int64_t end)
{
	uint32_t room = track->pieces.room;

	bound(t);
	if (piece->begin < t->begin)
		piece->begin = t->begin;
	if (end > t->end)
		end = t->end;
	if (end <= piece->begin)
		return;
	piece->ns = piece->longest = end - piece->begin;
	piece->count = 1;
	if (piece->state < NR_THREAD_STATES)
		track->ns[piece->state] += piece->ns;
	if (track->left_out)
		return;
	pieces_add(&track->pieces, piece, t->resolution);
	t->nr += track->pieces.room - room;
	if (t->nr > TIMELINE_PIECES_MAX)
		coarsen(t);
}

static void on_span(void *ctx, struct thread_spans *v, const struct span *s)
{
	struct timeline *t = ctx;
	struct piece piece = {
		.begin = s->begin,
		.stack = s->stack,
		.state = (uint8_t)s->state,
		.who = s->state == THREAD_CPU ? (uint32_t)v->all[s->thread].cpu : s->waker,
		.woken = s->woken && s->state != THREAD_CPU,
	};

	for (; t->nr_threads <= s->thread; t->nr_threads++)
		t->threads = xgrow(t->threads, t->nr_threads, &t->room_threads,
				   sizeof(*t->threads));
	add_piece(t, &t->threads[s->thread], &piece, s->end);
}

static void leave(struct timeline *t, struct timeline_cpu *c, int64_t time)
{
	struct piece piece = {
		.begin = c->since,
		.who = c->thread == THREAD_UNKNOWN ? PIECE_NOBODY : c->thread,
		.state = c->thread == THREAD_NONE    ? (uint8_t)PIECE_NOTHING :
			 c->thread == THREAD_UNKNOWN ? THREAD_LOST :
						       THREAD_CPU,
	};

	if (c->known)
		add_piece(t, &c->track, &piece, time);
}

static void on_switch(void *ctx, struct thread_spans *v, int64_t cpu, uint32_t left,
		      uint32_t thread, int64_t time)
{
	struct timeline *t = ctx;
	struct timeline_cpu *c;

	(void)v, (void)left;
	if (cpu < 0 || cpu >= CPUS_MAX)
		return;
	while (t->nr_cpus <= (size_t)cpu) {
		t->cpus = xgrow(t->cpus, t->nr_cpus, &t->room_cpus, sizeof(*t->cpus));
		t->cpus[t->nr_cpus++] = (struct timeline_cpu){ .track.pieces.by_who = true };
	}
	c = &t->cpus[cpu];
	leave(t, c, time);
	c->thread = thread;
	c->since = time;
	c->known = true;
}

static void on_lost(void *ctx, struct thread_spans *v, int64_t cpu, uint32_t thread, int64_t begin,
		    int64_t end)
{
	struct piece piece = { .begin = begin, .who = PIECE_NOBODY, .state = THREAD_LOST };
	struct timeline *t = ctx;
	struct timeline_cpu *c;

	(void)v;
	if (cpu < 0 || (size_t)cpu >= t->nr_cpus)
		return;
	c = &t->cpus[cpu];
	leave(t, c, begin);
	add_piece(t, &c->track, &piece, end);
	c->thread = thread;
	c->since = end;
}

/*
 * By bits of a hash: each sample is as likely to stay as any other, whatever rhythm they come in,
 * and the same trace makes the same page.
 */
static bool stays(const struct timeline *t, const struct timeline_sample *s)
{
	uint64_t h = ((uint64_t)s->time ^ (uint64_t)s->thread << 40) * 0x9e3779b97f4a7c15;

	h = (h ^ h >> 32) * 0xd6e8feb86659fd93;
	return !(h >> 32 & ((1U << t->halvings) - 1));
}

static void on_sample(void *ctx, struct thread_spans *v, uint32_t thread, int64_t time, int64_t cpu,
		      uint32_t stack)
{
	const struct timeline_sample sample = { .time = time, .thread = thread, .stack = stack };
	struct timeline *t = ctx;
	size_t nr = 0;

	(void)v, (void)cpu;
	bound(t);
	if (thread == THREAD_NONE || time < t->begin || time >= t->end || !stays(t, &sample))
		return;
	t->samples = xgrow(t->samples, t->nr_samples, &t->room_samples, sizeof(*t->samples));
	t->samples[t->nr_samples++] = sample;
	if (t->nr_samples < TIMELINE_SAMPLES_MAX)
		return;
	t->halvings++;
	for (size_t i = 0; i < t->nr_samples; i++)
		if (stays(t, &t->samples[i]))
			t->samples[nr++] = t->samples[i];
	t->nr_samples = nr;
}

static int check(const struct timeline *t, const char *file)
{
	if (t->begin >= t->end && !thread_spans_nr(&t->thread_spans))
		return thread_spans_report_none(file);
	if (t->begin >= t->end)
		return fail("%s has nothing from %.6f to %.6f s: it is from %.6f to %.6f s", file,
			    (double)t->begin / 1e9, (double)t->end / 1e9,
			    (double)t->thread_spans.begin / 1e9, (double)t->thread_spans.end / 1e9);
	if (t->end - t->begin > TIMELINE_SPAN_MAX)
		return fail("%s spans %.0f days, and browsers count no more than 104 of them in "
			    "nanoseconds; --from and --to choose a part", file,
			    (double)(t->end - t->begin) / 86400e9);
	return STATUS_OK;
}

int timeline_read(struct timeline *t, const char *file)
{
	size_t nr = 0;
	int status;

	t->resolution = 1;
	t->thread_spans.takes_go = true;
	t->thread_spans.use = (struct thread_spans_ops){
		.ctx = t,
		.span = on_span,
		.cpu_switch = on_switch,
		.sample = on_sample,
		.lost = on_lost,
	};
	status = thread_spans_read(&t->thread_spans, file);
	if (status != STATUS_OK)
		return status;
	if (!t->thread_spans.any)
		return fail("%s has no event in it", file);
	bound(t);
	if (t->end > t->thread_spans.end)
		t->end = t->thread_spans.end;
	for (size_t i = 0; i < t->nr_cpus; i++)
		leave(t, &t->cpus[i], t->thread_spans.end);
	for (size_t i = 0; i < t->nr_threads; i++)
		nr += t->threads[i].pieces.nr > 0;
	if (nr > TIMELINE_TRACKS_MAX)
		leave_out(t);
	return check(t, file);
}

void timeline_free(struct timeline *t)
{
	for (size_t i = 0; i < t->nr_threads; i++)
		pieces_free(&t->threads[i].pieces);
	for (size_t i = 0; i < t->nr_cpus; i++)
		pieces_free(&t->cpus[i].track.pieces);
	free(t->threads);
	free(t->cpus);
	free(t->samples);
	thread_spans_free(&t->thread_spans);
}
