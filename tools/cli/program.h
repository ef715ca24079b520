/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * gprofctl and gprof-agent as programs: begin of each, and how one runs the other.
 */
#ifndef TOOLS_PROGRAM_H
#define TOOLS_PROGRAM_H

/* Name in sentences: "gprofctl", unless main() has set another. */
extern const char *program_name;

/* program_begin() - for main(): standard files are open, and wait() works */
void program_begin(void);

/*
 * program_exec() - become the program @name: the one beside this program, as in a build tree, else
 * the one in PATH. Returns only where it fails, with errno. Between fork and exec too: it only
 * makes system calls.
 */
void program_exec(const char *name, char **argv);

#endif /* TOOLS_PROGRAM_H */
