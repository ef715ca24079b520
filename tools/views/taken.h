/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The trace that a view is of: a file, or what is recorded for it now.
 */
#ifndef TOOLS_VIEWS_TAKEN_H
#define TOOLS_VIEWS_TAKEN_H

#include <stdbool.h>

#include "cli/options.h"
#include "cli/target.h"

#define TAKEN_SYNOPSIS	"[OPTIONS] FILE | [OPTIONS] [-p PID | -t TID | -G CGROUP | -C CPUS | -a] [-- COMMAND [ARGS]]"

/**
 * struct taken - the trace; all zeroes to begin with
 * @target: whom to record, for target_options
 * @file: its path
 * @temp: it, while it is a file of ours
 * @status: what the recording ended with: that of the command
 * @show: shows it while it is recorded, in place of a file: its status; or NULL
 * @ctx: passed on to it
 */
struct taken {
	struct target target;
	const char *file;
	char *temp;
	int status;
	int (*show)(void *ctx, int fd);
	void *ctx;
};

/* taken_mixed() - may options follow operands, since there is no command? */
bool taken_mixed(int argc, char **argv);

/**
 * taken_get() - find the trace, or record it
 * @t: with the target
 * @name: of the subcommand
 * @argv: all of it
 * @operands: index of the first operand
 * @wants: options of gprofctl trace, up to a NULL
 *
 * Return: STATUS_OK with @t->file, or NULL there where @t->show has shown all of it, or
 * another status after a sentence. For taken_free().
 */
int taken_get(struct taken *t, const char *name, char **argv, int operands,
	      const char *const *wants);

/* taken_free() - remove what was recorded; @status, or that of the command */
int taken_free(struct taken *t, int status);

#endif /* TOOLS_VIEWS_TAKEN_H */
