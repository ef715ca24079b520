/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * probe_source.h: probes, from a program's words to tracepoints of their own.
 */
#ifndef GPROF_PROBE_SOURCE_H
#define GPROF_PROBE_SOURCE_H

#include <stdbool.h>

#include "base/error.h"
#include "device/probe.h"

/** gprof_probe_is_meant() - is that how a probe is written? */
bool gprof_probe_is_meant(const char *name);

/**
 * gprof_probe_source_init() - make the probe that is written there
 * @p: result, for gprof_probe_remove()
 * @name: "kprobe:FUNCTION" or "uprobe:FILE:FUNCTION", and "+OFFSET" or "%return" behind
 * @e: sentence
 *
 * Return: 0 or -errno.
 */
int gprof_probe_source_init(struct gprof_probe *p, const char *name, struct gprof_error *e);

#endif /* GPROF_PROBE_SOURCE_H */
