/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counts of events, and what they are to each other, for people and as JSON.
 */
#ifndef TOOLS_STAT_VIEW_H
#define TOOLS_STAT_VIEW_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <gprof/count.h>

/* stat_scaled() - the count, scaled up for the time in which it was not counted */
double stat_scaled(const struct gprof_count *n);

/*
 * stat_text(), stat_json() - write counts
 * @f: where to
 * @counts: of the events
 * @nr: how many
 * @ns: for how long was counted
 */
void stat_text(FILE *f, const struct gprof_count *counts, size_t nr, uint64_t ns);
void stat_json(FILE *f, const struct gprof_count *counts, size_t nr, uint64_t ns);

#endif /* TOOLS_STAT_VIEW_H */
