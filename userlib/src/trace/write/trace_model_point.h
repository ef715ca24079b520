/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * trace_model_point.h: events of each kind of point.
 */
#ifndef GPROF_TRACE_MODEL_POINT_H
#define GPROF_TRACE_MODEL_POINT_H

#include "trace_model.h"

/** gprof_model_points() - the events of points, and those that each implies before it */
void gprof_model_points(struct gprof_trace_model *m, const struct gprof_trace_point *points,
			size_t nr);

#endif /* GPROF_TRACE_MODEL_POINT_H */
