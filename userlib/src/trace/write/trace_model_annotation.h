/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * trace_model_annotation.h: programs' annotations as regions, tasks and logs.
 *
 * Regions of a goroutine lie within each other, or a reader refuses the trace: an end in another
 * order, or without a begin, is repaired, and a log says so.
 */
#ifndef GPROF_TRACE_MODEL_ANNOTATION_H
#define GPROF_TRACE_MODEL_ANNOTATION_H

#include "trace_model.h"

/* The only frame of the stack that all of them have, which tells them from system calls. */
#define GPROF_TRACE_NOTE_FRAME	"gprof.annotation"

/** gprof_model_annotation() - an annotation of the task on the CPU, of the model's @notes */
void gprof_model_annotation(struct gprof_trace_model *m, const struct gprof_trace_point *p);
/** gprof_model_regions_end() - the task of a CPU has another program: end its regions */
void gprof_model_regions_end(struct gprof_trace_model *m, uint32_t cpu);

#endif /* GPROF_TRACE_MODEL_ANNOTATION_H */
