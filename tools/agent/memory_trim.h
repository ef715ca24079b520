/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * memory_trim: gives unused memory between two profiles back to the host.
 */
#ifndef GPROF_TOOLS_AGENT_MEMORY_TRIM_H
#define GPROF_TOOLS_AGENT_MEMORY_TRIM_H

/* memory_trim_init() - from now on freed memory goes back; before there are threads */
void memory_trim_init(void);

/* memory_trim() - give back all free memory */
void memory_trim(void);

#endif /* GPROF_TOOLS_AGENT_MEMORY_TRIM_H */
