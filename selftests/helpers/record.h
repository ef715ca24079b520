/* SPDX-License-Identifier: GPL-2.0-only */
/* record.h: record through the library, and look into the profile. */
#ifndef GPROF_TEST_RECORD_H
#define GPROF_TEST_RECORD_H

#include <gprof/profile.h>
#include <gprof/recorder.h>
#include <sys/types.h>

/* A file in memory to write a profile to; -1 with errno on failure. */
int record_file(void);

/* The profile that was written to @fd, or NULL and @error. Closes @fd. */
struct gprof_profile *record_profile(int fd, const char **error);

/**
 * record_command() - run a program and record it from its first instruction on
 * @argv: program and arguments
 * @event: event
 * @no_tables: stacks by frame pointers alone
 * @st: gets the counts, or NULL
 * @error: gets a sentence on failure
 *
 * Return: the profile, or NULL.
 */
struct gprof_profile *record_command(char *const *argv, const struct gprof_cpu_event *event,
				     bool no_tables, struct gprof_recorder_stats *st,
				     const char **error);

/* What to record with on this machine: cycles where it has them, else the timer. */
struct gprof_cpu_event record_best_event(uint64_t cycles_period, uint64_t timer_hz);

#endif
