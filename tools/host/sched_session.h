/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Scheduler statistics of a target, from the options to the end of a command.
 */
#ifndef TOOLS_SCHED_SESSION_H
#define TOOLS_SCHED_SESSION_H

#include <gprof/sched_stats.h>

#include "cli/options.h"
#include "cli/session.h"
#include "cli/target_options.h"

#define SCHED_DEFAULT_HZ	100

/**
 * struct sched_options - counters and target
 * @target: the whole host when none is given
 * @hz: delays to sample in a second
 * @flags: GPROF_SCHED_*
 */
struct sched_options {
	struct target target;
	unsigned long long hz;
	unsigned int flags;
};

/* For struct option_table; its ctx is a struct sched_options. */
extern const struct option_row sched_option_rows[];

/**
 * struct sched_session - statistics that are being kept
 * @session: target and command
 * @sched: from the library
 */
struct sched_session {
	struct session session;
	struct gprof_sched *sched;
};

/**
 * sched_begin() - count from now on; a command is there and waits
 * @s: gets filled; sched_end() in any case
 * @o: options, after target_complete()
 *
 * Return: STATUS_OK, or another status after a sentence.
 */
int sched_begin(struct sched_session *s, struct sched_options *o);

/**
 * sched_end() - count no more
 * @s: session
 * @status: of gprofctl so far
 *
 * Waits for the command, if it was let go. Return: the exit status.
 */
int sched_end(struct sched_session *s, int status);

#endif /* TOOLS_SCHED_SESSION_H */
