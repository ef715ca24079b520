/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * orc_steps: what the ORC unwinder does at a return address, remembered (amd64).
 */
#ifndef GPROF_ORC_STEPS_H
#define GPROF_ORC_STEPS_H

#include <asm/unwind.h>
#include <linux/types.h>

#ifdef CONFIG_UNWINDER_ORC
int gprof_orc_walk(struct unwind_state *state, u64 *frames, u32 max);
void gprof_orc_step(struct unwind_state *state);
#else
static inline int gprof_orc_walk(struct unwind_state *state, u64 *frames, u32 max)
{
	return -1;
}

static inline void gprof_orc_step(struct unwind_state *state)
{
	unwind_next_frame(state);
}
#endif

#endif /* GPROF_ORC_STEPS_H */
