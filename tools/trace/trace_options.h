/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Events of a trace to record: the options of all subcommands that record one.
 */
#ifndef TOOLS_TRACE_OPTIONS_H
#define TOOLS_TRACE_OPTIONS_H

#include <stdbool.h>

#include <gprof/trace_record.h>

#include "cli/options.h"

/* How the kernel's frames are dealt with. */
enum kernel_mode { KERNEL_IF_PERMITTED, KERNEL_NEVER, KERNEL_ALWAYS };

/**
 * struct trace_wants - events to record
 * @cfg: for the library, but for its target
 * @samples: --cpu-samples
 * @event: its event's name
 * @kernel: --user-only, --kernel
 */
struct trace_wants {
	struct gprof_trace_config cfg;
	struct gprof_cpu_event samples;
	char *event;
	enum kernel_mode kernel;
};

/* For struct option_table; its ctx is a struct trace_wants. */
extern const struct option_row trace_wants_options[];

/**
 * trace_wants_try() - make a recorder, of the kernel too where that is permitted
 * @w: after the options
 * @make: makes one; false: it cannot, and why is in errno and gprof_error()
 * @ctx: for @make
 *
 * Whether the kernel may be looked at is for the module to decide: it is asked.
 *
 * Return: whether there is one.
 */
bool trace_wants_try(struct trace_wants *w,
		     bool (*make)(void *ctx, const struct gprof_trace_config *cfg), void *ctx);
void trace_wants_free(struct trace_wants *w);

#endif /* TOOLS_TRACE_OPTIONS_H */
