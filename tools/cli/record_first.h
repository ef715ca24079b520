/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A recording in place of the file that a subcommand looks at.
 */
#ifndef TOOLS_RECORD_FIRST_H
#define TOOLS_RECORD_FIRST_H

#include <stdbool.h>

/**
 * record_first() - record what the command line names in place of a file
 * @kind: subcommand that records it, where the line names no other
 * @slices: record slices of time too
 * @argc, @argv: of the subcommand that looks at a file; with a target ("-- COMMAND" too) all from
 *	the name of a subcommand that records, or from the target, -d, -e or -F on, is that one's,
 *	and is replaced by the name of the file
 * @recorded: gets the status of a recording that has written its file
 *
 * Return: STATUS_OK, also where there was no target; otherwise the status of the recording, which
 * has written no file.
 */
int record_first(const char *kind, bool slices, int *argc, char **argv, int *recorded);

#endif /* TOOLS_RECORD_FIRST_H */
