/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * trace_span.h: times and number of a ring's events, before they are read for a trace.
 */
#ifndef GPROF_TRACE_SPAN_H
#define GPROF_TRACE_SPAN_H

#include <stdint.h>

#include "device/buffer.h"
#include "trace/convert/trace_decode.h"

/**
 * struct gprof_trace_span - of one ring
 * @k: reads it; @k.samples is the number of events so far
 * @first: begin of the first generation, or UINT64_MAX
 * @last: time of the last event
 * @weight: period of CPU samples
 */
struct gprof_trace_span {
	struct gprof_ktrace k;
	uint64_t first;
	uint64_t last;
	uint64_t weight;
};

/** gprof_trace_span_init() - nothing was read yet; for gprof_trace_span_free() */
void gprof_trace_span_init(struct gprof_trace_span *s);

/** gprof_trace_span_add() - read a piece, behind the one before; 0 or -errno */
int gprof_trace_span_add(struct gprof_trace_span *s, const struct gprof_snapshot *copy);
void gprof_trace_span_free(struct gprof_trace_span *s);

#endif /* GPROF_TRACE_SPAN_H */
