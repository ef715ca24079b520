/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A profile that was taken at once, without a recording: from the output file to the exit
 * status.
 */
#ifndef TOOLS_PROFILE_OUTPUT_H
#define TOOLS_PROFILE_OUTPUT_H

#include <gprof/profile.h>

#include "cli/output.h"

/**
 * profile_output() - write a profile, put the file in place, and report on it
 * @o: open output; closed
 * @p: profile, freed; NULL: it could not be taken, and gprof_error() says why
 * @write: writes it; 0 or -errno with gprof_error(). NULL: as gzipped pprof, of
 *	which is said how it is looked at
 * @ctx: for @write
 * @tell: reports on it
 *
 * Return: STATUS_OK, or STATUS_FAILED after a sentence.
 */
int profile_output(struct output *o, struct gprof_profile *p,
		   int (*write)(const struct gprof_profile *p, int fd, const void *ctx),
		   const void *ctx, void (*tell)(const struct gprof_profile *p));

#endif /* TOOLS_PROFILE_OUTPUT_H */
