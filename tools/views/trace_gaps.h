/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Gaps of a trace: times from which events are missing. A thread without a CPU then may have been
 * in any state in them.
 */
#ifndef TOOLS_VIEWS_TRACE_GAPS_H
#define TOOLS_VIEWS_TRACE_GAPS_H

#include <stddef.h>
#include <stdint.h>

#define TRACE_GAPS_NONE	INT64_MAX

/**
 * struct trace_gaps - by time, and none touches another; all zeroes to begin with
 * @all: they
 * @nr: how many
 * @room: of @all
 * @end: of the last that there was
 */
struct trace_gaps {
	struct gap {
		int64_t begin;
		int64_t end;
	} *all;
	size_t nr;
	size_t room;
	int64_t end;
};

/* trace_gaps_add() - one more, which ends no earlier than those before; it may overlap them */
void trace_gaps_add(struct trace_gaps *g, int64_t begin, int64_t end);

/* trace_gaps_find() - trace_gaps_first(), where it has to be looked for */
int64_t trace_gaps_find(const struct trace_gaps *g, int64_t since);

/* trace_gaps_first() - from when on something is missing after @since, or TRACE_GAPS_NONE */
static inline int64_t trace_gaps_first(const struct trace_gaps *g, int64_t since)
{
	return g->end <= since ? TRACE_GAPS_NONE : trace_gaps_find(g, since);
}

/* trace_gaps_forget() - free past gaps, but for the end of the last */
void trace_gaps_forget(struct trace_gaps *g);

void trace_gaps_free(struct trace_gaps *g);

#endif /* TOOLS_VIEWS_TRACE_GAPS_H */
