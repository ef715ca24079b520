// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * trace_model_region.c: the regions that a task is in, by its annotations.
 */
#include "trace_model_region.h"

#include <stdlib.h>

void gprof_model_regions_free(struct gprof_trace_model_task *t)
{
	size_t i;

	for (i = 0; t->regions && i < t->regions->nr; i++)
		free(t->regions->v[i].name);
	free(t->regions);
	t->regions = NULL;
}
