/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Gaps of a trace: times from which events are missing. Whoever had no CPU then may have
 * done anything in them.
 */
#ifndef TOOLS_VIEWS_GAPS_H
#define TOOLS_VIEWS_GAPS_H

#include <stddef.h>
#include <stdint.h>

#define GAPS_NONE	INT64_MAX

/**
 * struct gaps - by time, and none touches another; all zeroes to begin with
 * @all: they
 * @nr: how many
 * @room: of @all
 * @end: of the last that there was
 */
struct gaps {
	struct gap {
		int64_t begin;
		int64_t end;
	} *all;
	size_t nr;
	size_t room;
	int64_t end;
};

/* gaps_add() - one more, which ends no earlier than those before; it may overlap them */
void gaps_add(struct gaps *g, int64_t begin, int64_t end);

/* gaps_find() - gaps_first(), where it has to be looked for */
int64_t gaps_find(const struct gaps *g, int64_t since);

/* gaps_first() - from when on something is missing after @since, or GAPS_NONE */
static inline int64_t gaps_first(const struct gaps *g, int64_t since)
{
	return g->end <= since ? GAPS_NONE : gaps_find(g, since);
}

/* gaps_forget() - nobody asks of the past any more, but for the end of the last */
void gaps_forget(struct gaps *g);

void gaps_free(struct gaps *g);

#endif /* TOOLS_VIEWS_GAPS_H */
