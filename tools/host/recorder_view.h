/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The recorders of this host, for people and as JSON.
 */
#ifndef TOOLS_RECORDER_VIEW_H
#define TOOLS_RECORDER_VIEW_H

#include <gprof/monitor.h>
#include <stdio.h>

#include "cli/json.h"

/* recorder_scope() - what it records, such as "process" */
const char *recorder_scope(const struct gprof_recorder_info *r);

/* recorder_line() - one line for people: kind, target and owner */
void recorder_line(FILE *f, const struct gprof_recorder_info *r);

/* recorder_json() - an object */
void recorder_json(struct json *j, const struct gprof_recorder_info *r);

#endif /* TOOLS_RECORDER_VIEW_H */
