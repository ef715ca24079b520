/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * cpu_source.h: CPU events, from a program's words to the kernel's numbers.
 */
#ifndef GPROF_CPU_SOURCE_H
#define GPROF_CPU_SOURCE_H

#include <gprof/recorder.h>
#include <linux/gprof.h>

#include "base/error.h"
#include "event.h"

/**
 * struct gprof_cpu_source - a source of CPU samples
 * @event: which
 * @params: for the kernel
 * @stack: GPROF_STACK_F_*
 * @type: of the weights: "cpu", or the event's name, which is the caller's
 * @unit: its unit
 */
struct gprof_cpu_source {
	struct gprof_event event;
	struct gprof_cpu_params params;
	uint32_t stack;
	const char *type;
	const char *unit;
};

/** gprof_cpu_source_init() - look up an event; 0 or -errno with a sentence */
int gprof_cpu_source_init(struct gprof_cpu_source *s, const struct gprof_cpu_event *ev,
			  struct gprof_error *e);

#endif /* GPROF_CPU_SOURCE_H */
