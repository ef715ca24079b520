// SPDX-License-Identifier: GPL-2.0-only
/*
 * The pieces of a track of the timeline.
 */
#include "pieces.h"

#include <stdlib.h>
#include <string.h>

#include "cli/diag.h"

/* Kinds of pieces in a cell; of CPUs, further ones lose their thread. */
#define KINDS_MAX	8
#define ROOM_FIRST	4

int64_t pieces_end(const struct pieces *p)
{
	return p->nr ? p->all[p->nr - 1].begin + p->all[p->nr - 1].ns : 0;
}

/* Many tracks are short; so room grows from little, and by half. */
static void append(struct pieces *p, const struct piece *piece)
{
	if (p->nr == p->room) {
		uint32_t room = p->room ? p->room + p->room / 2 : ROOM_FIRST;
		struct piece *all = xraw(room, sizeof(*all));

		if (p->nr)
			memcpy(all, p->all, p->nr * sizeof(*all));
		free(p->all);
		p->all = all;
		p->room = room;
	}
	p->all[p->nr++] = *piece;
}

static bool alike(const struct pieces *p, const struct piece *a, const struct piece *b)
{
	return a->state == b->state && (!p->by_who || a->who == b->who);
}

/* The pieces behind it move on. */
static void join(struct pieces *p, uint32_t i, const struct piece *piece)
{
	struct piece *into = &p->all[i];

	if (piece->longest > into->longest) {
		into->longest = piece->longest;
		into->stack = piece->stack;
		into->who = piece->who;
		into->woken = piece->woken;
	}
	into->ns += piece->ns;
	into->count += piece->count;
	while (++i < p->nr)
		p->all[i].begin += piece->ns;
}

static int64_t cell_of(int64_t time, int64_t resolution)
{
	return time >= 0 ? time / resolution : (time + 1) / resolution - 1;
}

static bool in_cell(const struct pieces *p, const struct piece *piece, int64_t resolution)
{
	return p->cell < p->nr && cell_of(p->all[p->cell].begin, resolution) ==
				  cell_of(piece->begin, resolution);
}

static void add(struct pieces *p, const struct piece *piece, int64_t resolution)
{
	if (piece->ns >= resolution) {
		append(p, piece);
		p->cell = p->nr;
		return;
	}
	if (!in_cell(p, piece, resolution)) {
		p->cell = p->nr;
		append(p, piece);
		return;
	}
	for (uint32_t i = p->cell; i < p->nr; i++) {
		if (alike(p, &p->all[i], piece)) {
			join(p, i, piece);
			return;
		}
	}
	if (p->by_who && p->nr - p->cell >= KINDS_MAX) {
		/* Idle or lost time stays that. */
		for (uint32_t i = p->nr; i-- > p->cell;) {
			if (p->all[i].state != piece->state)
				continue;
			join(p, i, piece);
			p->all[i].who = PIECE_NOBODY;
			return;
		}
	}
	append(p, piece);
}

void pieces_add(struct pieces *p, const struct piece *piece, int64_t resolution)
{
	int64_t end = pieces_end(p);
	struct piece one = *piece;

	if (p->nr && one.begin > end) {
		const struct piece gap = {
			.begin = end,
			.ns = one.begin - end,
			.longest = one.begin - end,
			.count = 1,
			.who = PIECE_NOBODY,
			.state = PIECE_NOTHING,
		};

		add(p, &gap, resolution);
	} else if (p->nr && one.begin < end) {
		one.ns -= end - one.begin;
		one.begin = end;
		if (one.longest > one.ns)
			one.longest = one.ns;
	}
	if (one.ns > 0)
		add(p, &one, resolution);
}

/* The write position is never behind the read position, for the number never grows. */
void pieces_coarsen(struct pieces *p, int64_t resolution)
{
	uint32_t nr = p->nr;
	struct piece *less;

	p->nr = 0;
	p->cell = 0;
	for (uint32_t i = 0; i < nr; i++) {
		const struct piece one = p->all[i];

		add(p, &one, resolution);
	}
	if (p->room > ROOM_FIRST && p->nr < p->room / 2) {
		less = realloc(p->all, (p->nr + p->nr / 4 + 1) * sizeof(*less));
		if (less) {
			p->all = less;
			p->room = p->nr + p->nr / 4 + 1;
		}
	}
}

void pieces_copy(struct pieces *to, const struct pieces *from, int64_t resolution)
{
	to->by_who = from->by_who;
	for (uint32_t i = 0; i < from->nr; i++)
		add(to, &from->all[i], resolution);
}

void pieces_free(struct pieces *p)
{
	free(p->all);
	*p = (struct pieces){ 0 };
}
