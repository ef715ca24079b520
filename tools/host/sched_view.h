/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A reading of scheduler statistics, for people and for programs.
 */
#ifndef TOOLS_SCHED_VIEW_H
#define TOOLS_SCHED_VIEW_H

#include <stdbool.h>
#include <stdio.h>

#include <gprof/sched_stats.h>

#include "cli/openmetrics.h"
#include "cli/target_options.h"

/**
 * struct sched_view - settings of a view
 * @target: target
 * @now: reading
 * @before: the reading that was shown before it, NULL for none
 */
struct sched_view {
	const struct target *target;
	const struct gprof_sched_stats *now;
	const struct gprof_sched_stats *before;
};

/* sched_table() - for people: rates, totals and percentiles, 80 columns wide */
void sched_table(FILE *f, const struct sched_view *v);

/*
 * sched_json() - one line, one envelope: the metrics under their names, null for
 * those that are not counted; or only that metric whose name is not NULL
 */
void sched_json(FILE *f, const struct sched_view *v, const char *only);

/* sched_plain() - the value of one metric, one line */
void sched_plain(FILE *f, const struct sched_view *v, const char *only);

/**
 * sched_openmetrics() - the metrics as families
 * @m: exposition; the families are called gprof_sched_NAME, without total_ and
 *	with seconds for nanoseconds
 * @v: reading
 * @only: name of the only metric that is wanted, or NULL
 */
void sched_openmetrics(struct openmetrics *m, const struct sched_view *v, const char *only);

/* sched_labels() - the labels that tell this target from others; for free() */
char *sched_labels(const struct target *target);

/* sched_target_text() - the target for people; for free() */
char *sched_target_text(const struct target *target);

#define SCHED_TEXT_MAX	32

/* sched_time() - nanoseconds in three digits and a unit; returns @text */
const char *sched_time(uint64_t ns, char text[SCHED_TEXT_MAX]);
/* sched_count() - a number with its thousands apart; returns @text */
const char *sched_count(uint64_t n, char text[SCHED_TEXT_MAX]);

#endif /* TOOLS_SCHED_VIEW_H */
