/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * scheduled_window: windows in which a host records more than all the time, some seconds of
 * some hours.
 *
 * Which hours, and when in them, follows from the host's id and the hour alone: so a fleet spreads
 * evenly without a coordinator, each host has its turn, and the id is enough to compute when.
 */
#ifndef GPROF_TOOLS_AGENT_SCHEDULED_WINDOW_H
#define GPROF_TOOLS_AGENT_SCHEDULED_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#define SCHEDULED_WINDOW_KIND	32

/**
 * struct scheduled_window - windows of one kind
 * @one_in: in an hour one host in so many has one
 * @ns: how long it is
 * @kind: trace, or a kind of profile
 * @rate: as of "push -e", 0: the kind's own
 * @text: as it was asked for
 */
struct scheduled_window {
	uint64_t one_in;
	uint64_t ns;
	char kind[SCHEDULED_WINDOW_KIND];
	uint64_t rate;
	const char *text;
};

/* scheduled_window_parse() - "1/N:T/h", "1/N:T/h=KIND" or "1/N:T/h=KIND:RATE"; @text is borrowed */
bool scheduled_window_parse(const char *text, struct scheduled_window *s);

/**
 * scheduled_window_in_hour() - has this host one in an hour?
 * @s: windows
 * @host: the host's id
 * @hour: hours since 1970
 * @offset_ns: gets its begin, after that of the hour; it ends within the hour
 */
bool scheduled_window_in_hour(const struct scheduled_window *s, const char *host, uint64_t hour,
			      uint64_t *offset_ns);

/* scheduled_window_next() - the begin of the first that begins at @now_ns or later, CLOCK_REALTIME */
uint64_t scheduled_window_next(const struct scheduled_window *s, const char *host, uint64_t now_ns);

#endif /* GPROF_TOOLS_AGENT_SCHEDULED_WINDOW_H */
