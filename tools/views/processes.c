// SPDX-License-Identifier: GPL-2.0-only
/*
 * Of which process each task of a trace is.
 */
#include "processes.h"

#include <stdlib.h>

#include "cli/diag.h"
#include "thread_spans.h"

static uint32_t *place(struct processes *p, int64_t task)
{
	size_t nr = p->ids.nr, i = intern_add(&p->ids, &task, sizeof(task));

	if (i == nr) {
		p->pids = xgrow(p->pids, nr, &p->room, sizeof(*p->pids));
		p->pids[i] = 0;
	}
	return &p->pids[i];
}

void processes_add_batch(struct processes *p, const struct gprof_trace_batch *batch)
{
	metadata_add_batch(&p->metadata, batch);
	for (size_t i = 0; i < p->metadata.nr_processes; i++)
		*place(p, p->metadata.processes[i].id) = p->metadata.processes[i].pid;
	p->metadata.nr_processes = 0;
	p->metadata.nr = 0;
}

int64_t processes_of(struct processes *p, int64_t task)
{
	uint32_t pid = *place(p, task);

	return pid ? pid : THREAD_TID(task);
}

void processes_free(struct processes *p)
{
	metadata_free(&p->metadata);
	intern_free(&p->ids);
	free(p->pids);
}
