/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Profiles that an execution trace holds.
 */
#ifndef TOOLS_TRACE_PROFILE_H
#define TOOLS_TRACE_PROFILE_H

#include <stdbool.h>

#include <gprof/profile_builder.h>
#include <gprof/trace.h>

#include "trace_metadata.h"

/* trace_profile_kind() - is there a profile of this name? */
bool trace_profile_kind(const char *name);

/**
 * trace_profile() - write a profile of tasks' time by state
 * @trace: at its beginning
 * @metadata: gets its batches
 * @name: of the trace, for sentences
 * @kind: cpu, sched, block, syscall or irq
 * @file: where to
 *
 * Return: the exit status.
 */
int trace_profile(struct gprof_trace *trace, struct trace_metadata *metadata, const char *name,
		  const char *kind, const char *file);

/* trace_profile_write() - write the profile to @file; the exit status */
int trace_profile_write(struct gprof_profile_builder *b, const char *file);

#endif /* TOOLS_TRACE_PROFILE_H */
