/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Events of execution traces as lines, for people and as JSON.
 */
#ifndef TOOLS_TRACE_TEXT_H
#define TOOLS_TRACE_TEXT_H

#include <stdbool.h>

#include <gprof/trace.h>

#include "cli/json.h"

/* trace_line() - a line as go tool trace -d=parsed has it, then the stacks if wanted */
void trace_line(const struct gprof_trace *t, const struct gprof_trace_event *ev, bool stacks);

/* trace_json() - an object of an array */
void trace_json(struct json *j, const struct gprof_trace *t, const struct gprof_trace_event *ev,
		bool stacks);

#endif /* TOOLS_TRACE_TEXT_H */
