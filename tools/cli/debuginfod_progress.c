// SPDX-License-Identifier: GPL-2.0-only
/*
 * debuginfod_progress: debug files from servers of debuginfod, with progress on the terminal.
 */
#include "debuginfod_progress.h"

#include <gprof/debuginfod.h>

#include <inttypes.h>

#include "diag.h"

static int show_fetching(void *ctx, const char *build_id, uint64_t done, uint64_t total)
{
	(void)ctx;
	if (total)
		progress("fetching debug file %.12s: %" PRIu64 " of %" PRIu64 " KiB", build_id,
			 done >> 10, total >> 10);
	else
		progress("fetching debug file %.12s: %" PRIu64 " KiB", build_id, done >> 10);
	return 0;
}

int debuginfod_enable(unsigned int ms)
{
	const struct gprof_debuginfod_opts opts = {
		.sz = sizeof(opts), .time_limit_ms = ms, .progress = show_fetching,
	};

	return gprof_debuginfod_allow(&opts);
}
