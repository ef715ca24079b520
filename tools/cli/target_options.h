/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The target: the options that all recording subcommands share.
 */
#ifndef TOOLS_TARGET_OPTIONS_H
#define TOOLS_TARGET_OPTIONS_H

#include <stdbool.h>

#include <gprof/recorder.h>

#include "options.h"

/**
 * struct target - target of a recording, and its duration
 * @gprof: as the library takes it; for a command, its id is set when it is started
 * @chosen: the option that chose it, NULL when none did yet
 * @command: program and arguments to start, or NULL; beside another target it says for
 *	how long that is recorded
 * @is_command: the command is the target
 * @duration_ns: how long, 0 without limit
 * @verbose: the counts are printed although nothing was lost
 */
struct target {
	struct gprof_target gprof;
	const char *chosen;
	char **command;
	bool is_command;
	unsigned long long duration_ns;
	bool verbose;
};

/* For struct option_table; its ctx is a struct target. */
extern const struct option_row target_options[];
/* Likewise for a recording that ends with its counts. */
extern const struct option_row target_record_options[];
/* Likewise for a snapshot: -d is not in its help, and for the subcommand to refuse. */
extern const struct option_row target_instant_options[];

/* How the targets are written in a synopsis. */
#define TARGET_SYNOPSIS	"[-p PID | -t TID | -G CGROUP | -C CPUS | -a] [[--] COMMAND [ARGS]]"

/**
 * target_complete() - check that one target was given, or a command, or both
 * @target: after the options
 * @operands: the rest of argv: a command and its arguments
 * @name: of the subcommand, for a sentence
 *
 * Return: STATUS_OK, or another status after a sentence.
 */
int target_complete(struct target *target, char **operands, const char *name);

#endif /* TOOLS_TARGET_OPTIONS_H */
