/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The trace of a view: a file, or a new recording.
 */
#ifndef TOOLS_VIEWS_TRACE_SOURCE_H
#define TOOLS_VIEWS_TRACE_SOURCE_H

#include <stdbool.h>

#include "cli/options.h"
#include "cli/target_options.h"

#define TRACE_SOURCE_SYNOPSIS	"[OPTIONS] FILE | [OPTIONS] [-p PID | -t TID | -G CGROUP | -C CPUS | -a] [-- COMMAND [ARGS]]"

/**
 * struct trace_source - the trace; all zeroes to begin with
 * @target: tasks or CPUs, for target_options
 * @calls: record system calls and page faults too, by trace_source_options
 * @file: its path
 * @temp: it, while it is a file of ours
 * @status: exit status of the recording: that of the command
 * @show: shows it while it is recorded, in place of a file: its status; or NULL
 * @ctx: passed on to it
 */
struct trace_source {
	struct target target;
	bool calls;
	const char *file;
	char *temp;
	int status;
	int (*show)(void *ctx, int fd);
	void *ctx;
};

/* For struct option_table, of views that show system calls; its ctx is a struct trace_source. */
extern const struct option_row trace_source_options[];

/* trace_source_mixed() - may options follow operands, since there is no command? */
bool trace_source_mixed(int argc, char **argv);

/**
 * trace_source_get() - find the trace, or record it
 * @t: with the target
 * @name: of the subcommand
 * @argv: all of it
 * @operands: index of the first operand
 * @wants: options of gprofctl trace, up to a NULL
 *
 * Return: STATUS_OK with @t->file, or NULL there where @t->show has shown all of it, or
 * another status after a sentence. For trace_source_free().
 */
int trace_source_get(struct trace_source *t, const char *name, char **argv, int operands,
		     const char *const *wants);

/* trace_source_told() - a file's name for sentences: a recording that is removed has none */
const char *trace_source_told(const char *file);

/* trace_source_free() - remove the recording; @status, or that of the command */
int trace_source_free(struct trace_source *t, int status);

#endif /* TOOLS_VIEWS_TRACE_SOURCE_H */
