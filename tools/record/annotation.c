// SPDX-License-Identifier: GPL-2.0-only
/*
 * Annotations have a stack of one frame, that says so.
 */
#include "annotation.h"

#include <string.h>

bool annotation_is(const struct gprof_trace *t, const struct gprof_trace_event *ev)
{
	struct gprof_trace_frame frame;

	return ev->stack && gprof_trace_stack(t, ev->stack, &frame, 1) == 1 &&
	       !strcmp(frame.function.s, "gprof.annotation");
}
