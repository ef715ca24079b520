/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What programs say of themselves in a trace, told from what gprof itself says there by
 * the same kinds of events.
 */
#ifndef TOOLS_ANNOTATION_H
#define TOOLS_ANNOTATION_H

#include <stdbool.h>

#include <gprof/trace.h>

/* Category of the logs by which gprof says what it has put right. */
#define ANNOTATION_LOG	"gprof: annotations"

/*
 * annotation_is() - is this region or log a program's own, in a trace that gprof wrote?
 * There, system calls are regions too, and page faults are logs.
 */
bool annotation_is(const struct gprof_trace *t, const struct gprof_trace_event *ev);

#endif /* TOOLS_ANNOTATION_H */
