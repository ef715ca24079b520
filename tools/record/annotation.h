/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Programs' annotations in a trace, as opposed to gprof's own events of the same kinds.
 */
#ifndef TOOLS_ANNOTATION_H
#define TOOLS_ANNOTATION_H

#include <stdbool.h>

#include <gprof/trace.h>

/* Category of the logs about gprof's repairs. */
#define ANNOTATION_LOG	"gprof: annotations"

/*
 * annotation_is() - is this region or log a program's own, in a trace that gprof wrote?
 * There, system calls are regions too, and page faults are logs.
 */
bool annotation_is(const struct gprof_trace *t, const struct gprof_trace_event *ev);

#endif /* TOOLS_ANNOTATION_H */
