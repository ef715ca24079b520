/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * give_back: memory that is not used between two profiles is the host's.
 */
#ifndef GPROF_TOOLS_FLEET_GIVE_BACK_H
#define GPROF_TOOLS_FLEET_GIVE_BACK_H

/* give_back_memory() - from now on what is freed goes back; before there are threads */
void give_back_memory(void);

/* give_back_now() - what is free by now goes back, wherever it lies */
void give_back_now(void);

#endif /* GPROF_TOOLS_FLEET_GIVE_BACK_H */
