/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The pieces of a track of the timeline, one behind the other without a gap, at some level
 * of detail.
 *
 * At a resolution of r a span of r or more is a piece of its own. A shorter one shares a cell of r
 * with its neighbours, and in there spans of one state become one piece. So each level has all of
 * the time by state, to the nanosecond; a coarser level has lost the order within a cell.
 */
#ifndef TOOLS_VIEWS_PIECES_H
#define TOOLS_VIEWS_PIECES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "thread_state.h"

/* Of a CPU: idle. Of a thread: no state is known. */
#define PIECE_NOTHING	((enum thread_state)NR_THREAD_STATES)
/* As struct piece's @who: none, or unknown. */
#define PIECE_NOBODY	UINT32_MAX

/**
 * struct piece - a piece of a track, from one time to another
 * @begin: ns
 * @ns: length
 * @longest: of those that are one piece now, ns
 * @count: how many these are
 * @stack: number of where the longest was; 0: not told
 * @who: of a CPU: the running thread. Of a thread on a CPU: the number of that. Else the thread
 *	that ended the wait of the longest
 * @state: of the thread
 * @woken: a wait ended with the longest, or before it
 */
struct piece {
	int64_t begin;
	int64_t ns;
	int64_t longest;
	uint32_t count;
	uint32_t stack;
	uint32_t who;
	uint8_t state;
	bool woken;
};

/**
 * struct pieces - a track; all zeroes to begin with
 * @all: of it, by time
 * @nr: how many
 * @room: of @all
 * @cell: index of the first of the last cell, or @nr: the last piece is none's
 * @by_who: those are alike that have the same @who; else those of one @state
 */
struct pieces {
	struct piece *all;
	uint32_t nr;
	uint32_t room;
	uint32_t cell;
	bool by_who;
};

/* pieces_end() - until when the track is told; 0 for one without a piece */
int64_t pieces_end(const struct pieces *p);

/**
 * pieces_add() - go on with a piece
 * @p: track, told at the same resolution so far
 * @piece: begins at its end, or later: PIECE_NOTHING is in between. Its part before that end is
 *	cut off
 * @resolution: ns; 1: everything is a piece of its own
 */
void pieces_add(struct pieces *p, const struct piece *piece, int64_t resolution);

/* pieces_coarsen() - tell a track at a coarser resolution from now on */
void pieces_coarsen(struct pieces *p, int64_t resolution);

/* pieces_copy() - @to, all zeroes, becomes @from at a coarser resolution */
void pieces_copy(struct pieces *to, const struct pieces *from, int64_t resolution);

void pieces_free(struct pieces *p);

#endif /* TOOLS_VIEWS_PIECES_H */
