/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * trace_setup.h: the configuration of a trace, from a program's words to the kernel's.
 */
#ifndef GPROF_TRACE_SETUP_H
#define GPROF_TRACE_SETUP_H

#include <gprof/trace_record.h>
#include <linux/gprof.h>

#include "base/error.h"
#include "cpu_source.h"

/**
 * struct gprof_trace_setup - parameters for the kernel
 * @params: of the kind
 * @stack: GPROF_STACK_F_*, of SETUP
 * @source: of CPU samples, where @params has them; its type is the caller's
 */
struct gprof_trace_setup {
	struct gprof_trace_params params;
	uint32_t stack;
	struct gprof_cpu_source source;
};

/**
 * gprof_trace_setup_init() - 0 or -errno with a sentence
 * @s: result
 * @cfg: the caller's configuration
 * @features: of the module
 * @e: sentence
 */
int gprof_trace_setup_init(struct gprof_trace_setup *s, const struct gprof_trace_config *cfg,
			   uint64_t features, struct gprof_error *e);

#endif /* GPROF_TRACE_SETUP_H */
