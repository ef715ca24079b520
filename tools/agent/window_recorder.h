/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * window_recorder: a thread that records the windows of scheduled_window.h into a store.
 */
#ifndef GPROF_TOOLS_AGENT_WINDOW_RECORDER_H
#define GPROF_TOOLS_AGENT_WINDOW_RECORDER_H

#include "scheduled_window.h"
#include "store.h"

#define WINDOW_RECORDER_MAX	4

struct window_recorder;

/**
 * struct window_recorder_counts - counts of windows
 * @recorded: windows that were
 * @failed: ... that were not, or not until their end
 * @missed: ... that were not begun, for another was being recorded, or the clock was set
 * @cut: of those recorded, those that ended before their time, for they got too large
 * @next_ns: when the next begins, CLOCK_REALTIME
 */
struct window_recorder_counts {
	uint64_t recorded;
	uint64_t failed;
	uint64_t missed;
	uint64_t cut;
	uint64_t next_ns;
};

/**
 * window_recorder_start() - begin
 * @store: where to
 * @dir: directory for a trace while it is recorded; a file without a name, of no more than
 *	@trace_bytes or so, when it is ended
 * @trace_bytes: likewise
 * @host: from item_host()
 * @windows: up to WINDOW_RECORDER_MAX of them; copied
 * @status: gets the exit status on failure
 *
 * Return: for window_recorder_stop(), or NULL after a sentence.
 */
struct window_recorder *window_recorder_start(struct store *store, const char *dir,
					      uint64_t trace_bytes, const char *host,
					      const struct scheduled_window *windows, size_t nr,
					      int *status);

/* window_recorder_stop() - end; a window under way ends now; NULL is fine */
void window_recorder_stop(struct window_recorder *r);
void window_recorder_counts(struct window_recorder *r, struct window_recorder_counts *out);

#endif /* GPROF_TOOLS_AGENT_WINDOW_RECORDER_H */
