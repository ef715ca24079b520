/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * alloc_space: address spaces of programs that tell their allocations, each with a number;
 * and when the last task that runs in one has left it.
 */
#ifndef GPROF_ALLOC_SPACE_H
#define GPROF_ALLOC_SPACE_H

#include <linux/types.h>

struct signal_struct;

/*
 * Called when one ends, in a task; may sleep. @process: whose it was when it was
 * noted, only to be compared: it may be gone.
 */
typedef void (*gprof_space_ended)(u32 number, const struct signal_struct *process);

u32 gprof_space_find(void);
u32 gprof_space_note(gprof_space_ended ended);
void gprof_spaces_forget(void);

#endif /* GPROF_ALLOC_SPACE_H */
