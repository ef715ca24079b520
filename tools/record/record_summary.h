/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Summary of a recording, in sentences and as a line for programs.
 */
#ifndef TOOLS_RECORD_SUMMARY_H
#define TOOLS_RECORD_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>

#include <gprof/recorder.h>

/**
 * struct record_words - words of a subcommand
 * @fewer: remedy for fewer samples, such as "a longer period"
 * @more: remedy for more of them, where there were fewer events than a period
 * @none: why there was no sample at all
 * @open: what else may be the matter where events were counted, and none was sampled; or NULL
 */
struct record_words {
	const char *fewer;
	const char *more;
	const char *none;
	const char *open;
};

/*
 * record_summary() - report on @nr events on stderr. @verbose: how stacks end, and the counts, whose
 * lines are stable, also where more than 99 % of the stacks are complete and no sample was lost
 */
void record_summary(const struct gprof_recorder_stats *st, size_t nr,
		    const struct record_words *words, bool verbose);

#endif /* TOOLS_RECORD_SUMMARY_H */
