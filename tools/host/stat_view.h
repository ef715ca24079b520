/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counts of events, and their ratios, for people and as JSON.
 */
#ifndef TOOLS_STAT_VIEW_H
#define TOOLS_STAT_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <gprof/count.h>

/*
 * stat_text(), stat_json() - write counts
 * @f: where to
 * @counts: of the events
 * @nr: how many
 * @ns: for how long was counted
 * @idle: of CPUs, whose timer counts the time that passes, idle or not
 */
void stat_text(FILE *f, const struct gprof_count *counts, size_t nr, uint64_t ns, bool idle);
void stat_json(FILE *f, const struct gprof_count *counts, size_t nr, uint64_t ns, bool idle);

#endif /* TOOLS_STAT_VIEW_H */
