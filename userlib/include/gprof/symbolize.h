/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * gprof/symbolize.h: names for a profile that was recorded before there were any.
 *
 * A profile says of each piece of code which file it is of, by build-id, and where in it. So
 * its functions can be named later, and on another host, by the debug files of those files.
 *
 * Threads. A profile that is symbolized is read by no other thread meanwhile. Fork. Nothing is
 * kept from one call to the next.
 */
#ifndef GPROF_SYMBOLIZE_H
#define GPROF_SYMBOLIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <gprof/base.h>
#include <gprof/profile.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct gprof_symbolized - result for the locations of a file
 * @file: its path, as the profile has it; "": of no file
 * @build_id: in hexadecimal, as the profile has it, or ""
 * @unnamed: locations that had no name
 * @named: those of them that have one now
 * @lined: others that have a line now, and had none
 * @why: why there is none for the rest of @unnamed, in words that follow a colon; "" where all
 *	have one. Of a file that was given, and that the profile has nothing of, it says that
 * @found: its debug symbols were there
 * @wanted: a debug file of it would name them
 *
 * Closed. The texts live until the callback returns.
 */
struct gprof_symbolized {
	const char *file;
	const char *build_id;
	uint64_t unnamed;
	uint64_t named;
	uint64_t lined;
	const char *why;
	bool found;
	bool wanted;
};

/**
 * struct gprof_symbolize_opts - where names are looked for; all zero is the default
 * @sz: sizeof(struct gprof_symbolize_opts)
 * @files: programs, libraries and debug files, each for mappings with its build-id
 * @nr_files: how many
 * @debug_dirs: directories with debug files in .build-id, as /usr/lib/debug has it
 * @nr_debug_dirs: how many
 * @tell: called for each file that has locations without a name or a line, those with most of
 *	them first; then for each of @files that the profile has nothing of; or NULL
 * @ctx: passed on to it
 */
struct gprof_symbolize_opts {
	size_t sz;
	const char *const *files;
	size_t nr_files;
	const char *const *debug_dirs;
	size_t nr_debug_dirs;
	void (*tell)(void *ctx, const struct gprof_symbolized *s);
	void *ctx;
};

/**
 * gprof_profile_symbolize() - name the functions without a name, or line, in a profile
 * @p: profile, of gprof or of any other tool
 * @opts: or NULL
 *
 * Names, inlined functions and lines are those that recording gives where it has the same
 * files; nothing else changes. A file is believed by its build-id alone. Looked for are
 * @opts' files, its directories, the path that the profile has, /usr/lib/debug, and servers
 * where gprof_debuginfod_allow() was called.
 *
 * Return: 1: the profile has changed; 0: it is as it was; -errno (EINVAL: one of @files is
 * none that has a build-id, bad options; E2BIG as always; ENOMEM, names being in a part of
 * the profile).
 */
GPROF_API int gprof_profile_symbolize(struct gprof_profile *p,
				      const struct gprof_symbolize_opts *opts);

#ifdef __cplusplus
}
#endif

#endif /* GPROF_SYMBOLIZE_H */
