/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * target_files.h: the files of code that a target has mapped before it is recorded.
 */
#ifndef GPROF_TARGET_FILES_H
#define GPROF_TARGET_FILES_H

#include <gprof/recorder.h>

#include "symbol/object.h"

/**
 * gprof_target_files() - open the files of code that the processes of a target have mapped now
 * @target: target
 * @o: an empty set, which is in the order of mappings afterwards, the most first, and whose
 *	files cannot be found by their identity any more
 *
 * A process that cannot be seen, or has ended meanwhile, has none.
 *
 * Return: 0 or -ENOMEM.
 */
int gprof_target_files(const struct gprof_target *target, struct gprof_objects *o);

#endif /* GPROF_TARGET_FILES_H */
