// SPDX-License-Identifier: GPL-2.0-only
/*
 * Of which process each task of a trace is.
 */
#include "processes.h"

#include <stdlib.h>

#include "cli/say.h"
#include "lives.h"

static uint32_t *place(struct processes *p, int64_t task)
{
	size_t nr = p->ids.nr, i = intern_add(&p->ids, &task, sizeof(task));

	if (i == nr) {
		p->pids = xgrow(p->pids, nr, &p->room, sizeof(*p->pids));
		p->pids[i] = 0;
	}
	return &p->pids[i];
}

void processes_take(struct processes *p, const struct gprof_trace_batch *batch)
{
	own_take(&p->own, batch);
	for (size_t i = 0; i < p->own.nr_processes; i++)
		*place(p, p->own.processes[i].id) = p->own.processes[i].pid;
	p->own.nr_processes = 0;
	p->own.nr = 0;
}

int64_t processes_of(struct processes *p, int64_t task)
{
	uint32_t pid = *place(p, task);

	return pid ? pid : LIVES_TID(task);
}

void processes_free(struct processes *p)
{
	own_free(&p->own);
	intern_free(&p->ids);
	free(p->pids);
}
