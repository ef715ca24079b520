/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sampled_run: a thread that records the windows of sampled.h into a store.
 */
#ifndef GPROF_TOOLS_FLEET_SAMPLED_RUN_H
#define GPROF_TOOLS_FLEET_SAMPLED_RUN_H

#include "sampled.h"
#include "store.h"

#define SAMPLED_MAX	4

struct sampled_run;

/**
 * struct sampled_counts - what became of them
 * @recorded: windows that were
 * @failed: ... that were not, or not until their end
 * @missed: ... that were not begun, for another was being recorded, or the clock was set
 * @cut: of those recorded, those that ended before their time, for they got too large
 * @next_ns: when the next begins, CLOCK_REALTIME
 */
struct sampled_counts {
	uint64_t recorded;
	uint64_t failed;
	uint64_t missed;
	uint64_t cut;
	uint64_t next_ns;
};

/**
 * sampled_start() - begin
 * @store: where to
 * @dir: directory for a trace while it is recorded; a file without a name, of no more than
 *	@trace_bytes or so, when it is ended
 * @trace_bytes: likewise
 * @host: from item_host()
 * @windows: up to SAMPLED_MAX of them; copied
 * @status: gets the exit status on failure
 *
 * Return: for sampled_stop(), or NULL after a sentence.
 */
struct sampled_run *sampled_start(struct store *store, const char *dir, uint64_t trace_bytes,
				  const char *host, const struct sampled *windows, size_t nr,
				  int *status);

/* sampled_stop() - end; a window under way ends now; NULL is fine */
void sampled_stop(struct sampled_run *r);
void sampled_counts(struct sampled_run *r, struct sampled_counts *out);

#endif /* GPROF_TOOLS_FLEET_SAMPLED_RUN_H */
