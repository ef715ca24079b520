// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * table_layout.c: where the parts of an unwind table are.
 */
#include "table_layout.h"

static uint64_t next8(uint64_t at)
{
	return (at + 7) & ~7ULL;
}

void gprof_table_layout_of(const struct gprof_unwind_table *t, struct gprof_table_layout *at)
{
	at->base = next8(sizeof(*t));
	at->index = next8(at->base + (t->granules / GPROF_UNWIND_BASE + 1) * sizeof(uint32_t));
	at->low = next8(at->index + ((uint64_t)t->granules + 1) * sizeof(uint16_t));
	at->rule = next8(at->low + t->rows);
	at->far = next8(at->rule + t->rows);
	at->rules = at->far + (uint64_t)t->fars * sizeof(struct gprof_unwind_far);
	at->size = at->rules + (uint64_t)t->rules * sizeof(struct gprof_unwind_rule);
}
