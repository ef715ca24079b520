/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * memory_trim: memory that is not used between two profiles is the host's.
 */
#ifndef GPROF_TOOLS_AGENT_MEMORY_TRIM_H
#define GPROF_TOOLS_AGENT_MEMORY_TRIM_H

/* memory_trim_init() - from now on what is freed goes back; before there are threads */
void memory_trim_init(void);

/* memory_trim() - what is free by now goes back, wherever it lies */
void memory_trim(void);

#endif /* GPROF_TOOLS_AGENT_MEMORY_TRIM_H */
