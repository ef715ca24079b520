/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One recording, from the output files to the exit status. All recording
 * subcommands differ only in the recorder that they make.
 */
#ifndef TOOLS_RECORD_H
#define TOOLS_RECORD_H

#include <stdbool.h>
#include <stddef.h>

#include <gprof/recorder.h>

#include "cli/target_options.h"
#include "record_summary.h"

#define RECORD_COMMAND_HZ	999	/* by default, of a command, which may be short */

/**
 * struct recording - recorder, target and outputs
 * @target: from target_complete()
 * @files: output of each event
 * @nr_files: number of events
 * @make: makes the recorder; NULL with gprof_error() when it cannot
 * @ctx: for @make
 * @words: for the summary
 * @after: called with @ctx and the stopped recorder when the profiles are in place, or NULL;
 *	returns a status
 */
struct recording {
	struct target *target;
	const char *const *files;
	size_t nr_files;
	struct gprof_recorder *(*make)(void *ctx, const struct gprof_target *target, bool on_exec);
	void *ctx;
	struct record_words words;
	int (*after)(void *ctx, struct gprof_recorder *r);
};

/* record_debuginfod() - handler of --debuginfod */
int record_debuginfod(void *ctx, const char *value);

#define RECORD_DEBUGINFOD							\
	{ 0, "debuginfod", NULL, "fetch missing debug files from the servers of DEBUGINFOD_URLS,\n" \
	  "which see the build-ids", record_debuginfod }

/* record() - record; returns the exit status */
int record(const struct recording *rec);

#endif /* TOOLS_RECORD_H */
