/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A command that waits to be recorded before it begins.
 */
#ifndef TOOLS_LAUNCH_H
#define TOOLS_LAUNCH_H

#include <signal.h>
#include <sys/types.h>

/**
 * struct launch - a command
 * @pid: its process, 0 before and after
 * @gate: writing a byte here lets it execute
 * @report: gives the errno of a failed exec, or end of file
 * @argv: program and arguments
 */
struct launch {
	pid_t pid;
	int gate;
	int report;
	char **argv;
};

/**
 * launch_prepare() - fork a process that will execute a command
 * @l: gets filled
 * @argv: program and arguments, NULL at the end
 * @mask: signal mask that it shall have
 *
 * Return: STATUS_OK, or STATUS_FAILED after a sentence.
 */
int launch_prepare(struct launch *l, char **argv, const sigset_t *mask);

/**
 * launch_go() - let it execute
 * @l: prepared command
 *
 * Return: STATUS_OK; after a sentence STATUS_NOT_FOUND or STATUS_CANNOT_RUN when
 * the program cannot be executed, as a shell has them.
 */
int launch_go(struct launch *l);

/* launch_wait() - wait for its end; returns its status as a shell has it */
int launch_wait(struct launch *l);

/* launch_abandon() - end a process that has not executed yet */
void launch_abandon(struct launch *l);

#endif /* TOOLS_LAUNCH_H */
