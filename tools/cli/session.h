/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A recording from the fork of its command to the command's exit status, for all recording
 * subcommands.
 */
#ifndef TOOLS_SESSION_H
#define TOOLS_SESSION_H

#include <gprof/recorder.h>
#include <stdbool.h>
#include <stddef.h>

#include "launch.h"
#include "target_options.h"
#include "watch.h"

/**
 * struct session - a target that is watched, and the command that is started
 * @target: after target_complete()
 * @watch: signals, the ends of target and command
 * @command: waits at its gate, runs, or has ended
 * @shown: how often preparing was looked at
 * @done: files that were prepared
 * @all: of how many
 * @going: the command was let go, and its status is not known yet
 * @status: of the command, once it is known
 * @time: session_time()'s words
 */
struct session {
	struct target *target;
	struct watch watch;
	struct launch command;
	unsigned int shown;
	size_t done;
	size_t all;
	bool going;
	int status;
	char time[48];
};

/**
 * session_begin() - take over the signals; fork the command, which waits
 * @s: gets filled; session_end() in any case
 * @target: its id is set where the command is the target
 *
 * Return: STATUS_OK, or another status after a sentence.
 */
int session_begin(struct session *s, struct target *target);

/**
 * session_preparing() - limit of preparing, and its progress on a terminal
 * @s: after session_begin(); for gprof_recorder_prepare(), which a signal ends
 */
struct gprof_prepare session_preparing(struct session *s);

/* session_prepared() - report missing tables */
void session_prepared(const struct session *s);

/* session_go() - let the command run, watch the target; as launch_go() */
int session_go(struct session *s);

/**
 * session_wait() - wait for the end of the recording
 * @s: after session_go()
 * @tick: as for watch_wait()
 * @ctx: for @tick
 *
 * The first of these ends it: the end of the command, the end of the target, -d, a signal
 * where there is no command that it is passed on to, and @tick.
 *
 * Return: the status of a command that has ended, else STATUS_OK.
 */
int session_wait(struct session *s, bool (*tick)(void *ctx, uint64_t ns), void *ctx);

/*
 * session_time() - words for the time that has passed, of -d's where that was given, such as
 * "3.0 of 10.0 s"; until the next call
 */
const char *session_time(struct session *s, uint64_t ns);

/**
 * session_end() - wait for the command, and give the signals back
 * @s: session
 * @status: of gprofctl so far
 *
 * Return: the exit status: @status, or the command's where that is STATUS_OK.
 */
int session_end(struct session *s, int status);

#endif /* TOOLS_SESSION_H */
