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

#include "target.h"

/**
 * struct recording - what to record, and where to
 * @target: from target_complete()
 * @files: output of each event
 * @nr_files: number of events
 * @make: makes the recorder; NULL with gprof_error() when it cannot
 * @ctx: for @make
 */
struct recording {
	struct target *target;
	const char *const *files;
	size_t nr_files;
	struct gprof_recorder *(*make)(void *ctx, const struct gprof_target *target, bool on_exec);
	void *ctx;
};

/* record() - record; returns the exit status */
int record(const struct recording *rec);

#endif /* TOOLS_RECORD_H */
