/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * orc_steps: the ORC unwinder's step at a return address, remembered (amd64).
 */
#ifndef GPROF_ORC_STEPS_H
#define GPROF_ORC_STEPS_H

#include <asm/unwind.h>
#include <linux/types.h>

#ifdef CONFIG_UNWINDER_ORC
void gprof_orc_start(struct unwind_state *state, u64 ip, u64 sp, u64 bp);
int gprof_orc_unwind(struct unwind_state *state, u64 *frames, u32 max);
int gprof_orc_unwind_from(u64 ip, u64 sp, u64 bp, u64 *frames, u32 max);
void gprof_orc_step(struct unwind_state *state);
#else
static inline void gprof_orc_start(struct unwind_state *state, u64 ip, u64 sp, u64 bp)
{
	unwind_start(state, current, NULL, (void *)(sp - sizeof(long)));
}

static inline int gprof_orc_unwind(struct unwind_state *state, u64 *frames, u32 max)
{
	return -1;
}

static inline int gprof_orc_unwind_from(u64 ip, u64 sp, u64 bp, u64 *frames, u32 max)
{
	return -1;
}

static inline void gprof_orc_step(struct unwind_state *state)
{
	unwind_next_frame(state);
}
#endif

#endif /* GPROF_ORC_STEPS_H */
