/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * shim_loaded.h: has a program loaded the shim, which reports its allocations?
 */
#ifndef GPROF_SHIM_LOADED_H
#define GPROF_SHIM_LOADED_H

#include <gprof/recorder.h>

#include "base/error.h"

/**
 * gprof_shim_check() - can the own memory of a target be recorded?
 * @target: of a process or thread, whether that has the shim; else whether any process has
 * @e: sentence that says how to get it
 *
 * Return: 0, -EOPNOTSUPP: nothing would be told; -ESRCH; -EACCES: it cannot be seen.
 */
int gprof_shim_check(const struct gprof_target *target, struct gprof_error *e);

#endif /* GPROF_SHIM_LOADED_H */
