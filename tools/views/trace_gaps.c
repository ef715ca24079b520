// SPDX-License-Identifier: GPL-2.0-only
/*
 * Gaps of a trace.
 */
#include "trace_gaps.h"

#include <stdlib.h>

#include "cli/diag.h"

void trace_gaps_add(struct trace_gaps *g, int64_t begin, int64_t end)
{
	if (end <= begin)
		return;
	while (g->nr && g->all[g->nr - 1].end >= begin) {
		g->nr--;
		if (g->all[g->nr].begin < begin)
			begin = g->all[g->nr].begin;
	}
	g->all = xgrow(g->all, g->nr, &g->room, sizeof(*g->all));
	g->all[g->nr++] = (struct gap){ begin, end };
	g->end = end;
}

int64_t trace_gaps_find(const struct trace_gaps *g, int64_t since)
{
	size_t low = 0, high = g->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (g->all[middle].end > since)
			high = middle;
		else
			low = middle + 1;
	}
	if (low == g->nr)
		return TRACE_GAPS_NONE;
	return g->all[low].begin > since ? g->all[low].begin : since;
}

void trace_gaps_forget(struct trace_gaps *g)
{
	g->nr = 0;
}

void trace_gaps_free(struct trace_gaps *g)
{
	free(g->all);
}
