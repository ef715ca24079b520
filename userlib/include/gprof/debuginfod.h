/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * gprof/debuginfod.h: names from the debug files of debuginfod servers.
 *
 * Programs as distributions ship them have no names of functions that are not exported,
 * and no lines; the files that have them often lie on a server only. Nothing is asked of
 * any server unless the program allows it here: a request tells which files are profiled.
 *
 * The environment names the servers and the directory of fetched files (DEBUGINFOD_URLS,
 * DEBUGINFOD_CACHE_PATH), as for all users of libdebuginfod. That library is looked for when it is
 * allowed; it need not be there otherwise.
 *
 * A file is accepted if it has the requested build-id.
 *
 * Threads. Of the whole process; allowed, not while a recorder is stopped. Fork. A child has it too.
 */
#ifndef GPROF_DEBUGINFOD_H
#define GPROF_DEBUGINFOD_H

#include <stddef.h>
#include <stdint.h>
#include <gprof/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct gprof_debuginfod_opts - how servers are asked; all zero is the default
 * @sz: sizeof(struct gprof_debuginfod_opts)
 * @time_limit_ms: for all files of one profile together; 0: 30 s. A server that does not answer in
 *	time is not asked again for that profile, and names are missing
 * @progress: called some times a second while a file comes, with its build-id in hexadecimal and
 *	the bytes so far and in all (0: not known); a return other than 0 ends the fetching
 * @ctx: passed on to it
 */
struct gprof_debuginfod_opts {
	size_t sz;
	uint32_t time_limit_ms;
	int (*progress)(void *ctx, const char *build_id, uint64_t done, uint64_t total);
	void *ctx;
};

/**
 * gprof_debuginfod_allow() - ask servers for debug files that this host lacks
 * @opts: or NULL
 *
 * Return: 0; -ENOENT: DEBUGINFOD_URLS names no server; -ENOPKG: there is no
 * libdebuginfod.so.1; -EINVAL, -E2BIG as always.
 */
GPROF_API int gprof_debuginfod_allow(const struct gprof_debuginfod_opts *opts);

/**
 * gprof_debuginfod_forbid() - ask no more
 *
 * Any thread may, progress too: requests under way are given up. In other threads progress may
 * still run when this returns.
 */
GPROF_API void gprof_debuginfod_forbid(void);

#ifdef __cplusplus
}
#endif

#endif /* GPROF_DEBUGINFOD_H */
