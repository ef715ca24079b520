// SPDX-License-Identifier: GPL-2.0-only
/*
 * The timeline of a trace, as tracks of pieces.
 */
#include "timeline.h"

#include <stdlib.h>

#include "cli/cmd.h"
#include "cli/say.h"

/* Of CPUs, where a trace says more than that of threads on them. */
#define CPUS_MAX	8192
/* Pieces that may be left when there were too many. */
#define ENOUGH		(TIMELINE_PIECES_MAX / 4 * 3)

int64_t timeline_wanted(const struct track *track)
{
	return track->ns[PART_CPU] + track->ns[PART_RUNNABLE] + track->ns[PART_THROTTLED];
}

static int most_wanted(const void *pa, const void *pb)
{
	const struct track *a = *(struct track *const *)pa, *b = *(struct track *const *)pb;
	int64_t one = timeline_wanted(a), other = timeline_wanted(b);

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
	int64_t span = t->lives.end - t->begin;

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
	const struct timeline_wish *w = &t->wish;

	if (t->bounded)
		return;
	t->bounded = true;
	t->begin = t->lives.begin;
	t->end = INT64_MAX;
	if (w->from || w->from_offset)
		t->begin = w->from_offset ? later(t->begin, w->from) : w->from;
	if (w->to)
		t->end = w->to_offset ? later(t->lives.begin, w->to) : w->to;
	if (t->begin < t->lives.begin)
		t->begin = t->lives.begin;
}

static void take(struct timeline *t, struct track *track, struct piece *piece, int64_t end)
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
	if (piece->part < NR_PARTS)
		track->ns[piece->part] += piece->ns;
	if (track->left_out)
		return;
	pieces_add(&track->pieces, piece, t->resolution);
	t->nr += track->pieces.room - room;
	if (t->nr > TIMELINE_PIECES_MAX)
		coarsen(t);
}

static void take_stretch(void *ctx, struct lives *v, const struct stretch *s)
{
	struct timeline *t = ctx;
	struct piece piece = {
		.begin = s->begin, .stack = s->stack, .part = (uint8_t)s->part,
		.who = s->part == PART_CPU ? (uint32_t)v->all[s->life].cpu : s->waker,
		.woken = s->woken && s->part != PART_CPU,
	};

	for (; t->nr_threads <= s->life; t->nr_threads++)
		t->threads = xgrow(t->threads, t->nr_threads, &t->room_threads,
				   sizeof(*t->threads));
	take(t, &t->threads[s->life], &piece, s->end);
}

static void leave(struct timeline *t, struct timeline_cpu *c, int64_t time)
{
	struct piece piece = {
		.begin = c->since, .who = c->life == LIVES_UNKNOWN ? PIECE_NOBODY : c->life,
		.part = c->life == LIVES_NONE ? (uint8_t)PIECE_NOTHING :
			c->life == LIVES_UNKNOWN ? PART_LOST : PART_CPU,
	};

	if (c->known)
		take(t, &c->track, &piece, time);
}

static void take_comes(void *ctx, struct lives *v, int64_t cpu, uint32_t left, uint32_t life,
		       int64_t time)
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
	c->life = life;
	c->since = time;
	c->known = true;
}

static void take_lost(void *ctx, struct lives *v, int64_t cpu, uint32_t life, int64_t begin,
		      int64_t end)
{
	struct piece piece = { .begin = begin, .who = PIECE_NOBODY, .part = PART_LOST };
	struct timeline *t = ctx;
	struct timeline_cpu *c;

	(void)v;
	if (cpu < 0 || (size_t)cpu >= t->nr_cpus)
		return;
	c = &t->cpus[cpu];
	leave(t, c, begin);
	take(t, &c->track, &piece, end);
	c->life = life;
	c->since = end;
}

static int check(const struct timeline *t, const char *file)
{
	if (t->begin >= t->end)
		return fail("%s has nothing from %.6f to %.6f s: it is from %.6f to %.6f s", file,
			    (double)t->begin / 1e9, (double)t->end / 1e9,
			    (double)t->lives.begin / 1e9, (double)t->lives.end / 1e9);
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
	t->lives.use = (struct lives_use){
		.ctx = t, .stretch = take_stretch, .comes = take_comes, .lost = take_lost,
	};
	status = lives_read(&t->lives, file);
	if (status != STATUS_OK)
		return status;
	if (!t->lives.any)
		return fail("%s has no event in it", file);
	bound(t);
	if (t->end > t->lives.end)
		t->end = t->lives.end;
	for (size_t i = 0; i < t->nr_cpus; i++)
		leave(t, &t->cpus[i], t->lives.end);
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
	lives_free(&t->lives);
}
