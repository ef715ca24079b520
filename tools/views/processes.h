/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Of which process each task of a trace is, as gprof says it there.
 */
#ifndef TOOLS_VIEWS_PROCESSES_H
#define TOOLS_VIEWS_PROCESSES_H

#include <stdint.h>

#include <gprof/trace.h>

#include "cli/intern.h"
#include "trace_metadata.h"

/**
 * struct processes - processes so far; all zeroes to begin with
 * @metadata: notes as they come, each time emptied
 * @ids: numbers of tasks (goroutines)
 * @pids: of their processes
 * @room: of @pids
 */
struct processes {
	struct trace_metadata metadata;
	struct intern ids;
	uint32_t *pids;
	size_t room;
};

/* processes_add_batch() - for struct gprof_trace_opts; it comes ahead of a generation's events */
void processes_add_batch(struct processes *p, const struct gprof_trace_batch *batch);

/* processes_of() - pid of a task's process: its own tid where nothing is said */
int64_t processes_of(struct processes *p, int64_t task);

void processes_free(struct processes *p);

#endif /* TOOLS_VIEWS_PROCESSES_H */
