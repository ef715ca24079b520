/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A command that is run for each file, in the background, for a limited time.
 */
#ifndef TOOLS_HOOK_H
#define TOOLS_HOOK_H

#include <signal.h>
#include <stdint.h>
#include <sys/types.h>

/**
 * struct hook - a command
 * @command: for the shell, or NULL: there is none
 * @limit_ns: it is killed after so long
 * @mask: signal mask that it shall have
 * @pid: while it runs, which is a group of its own; else 0
 * @since_ns: when it was begun
 * @killed_ns: when it was killed, 0: not yet
 * @failed: times that it ended badly, was killed, or could not be run
 */
struct hook {
	const char *command;
	uint64_t limit_ns;
	const sigset_t *mask;
	pid_t pid;
	uint64_t since_ns;
	uint64_t killed_ns;
	uint64_t failed;
};

/*
 * hook_run() - run it with a file's path as its argument, and nothing to read; one that still
 * runs is in the way
 */
void hook_run(struct hook *h, const char *path);

/* hook_poll() - has it ended, or was it too long? To be called now and then */
void hook_poll(struct hook *h);

/* hook_end() - wait for it, as long as it may take; one that outlives its being killed is left */
void hook_end(struct hook *h);

/* hook_abandon() - kill it, and wait for nothing; for handlers of signals too */
void hook_abandon(const struct hook *h);

#endif /* TOOLS_HOOK_H */
