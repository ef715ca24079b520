/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * recorder.h: a recorder of any kinds.
 *
 * A kind is a file that turns its configuration into a source, and a row in kind.c; nothing else
 * knows about kinds. (CPU events and tracepoints have constructors of their own too, for further
 * settings.)
 */
#ifndef GPROF_RECORDER_DATA_H
#define GPROF_RECORDER_DATA_H

#include <gprof/recorder.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stream.h"

/**
 * gprof_recorder_make() - a recorder of sources
 * @target: tasks or CPUs
 * @sources: its events; borrowed during the call
 * @nr: how many
 * @opts: how
 * @e: sentence on failure, which the caller publishes
 *
 * Return: recorder, or NULL with errno.
 */
struct gprof_recorder *gprof_recorder_make(const struct gprof_target *target,
					   const struct gprof_stream_source *sources, size_t nr,
					   const struct gprof_stream_opts *opts,
					   struct gprof_error *e);

/**
 * gprof_recorder_keep() - have something go with a recorder
 * @r: recorder
 * @what: needs of its sources while there are any; before: none
 * @end: is called with it when they are gone
 */
void gprof_recorder_keep(struct gprof_recorder *r, void *what, void (*end)(void *what));

#endif /* GPROF_RECORDER_DATA_H */
