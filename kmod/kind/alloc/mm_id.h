/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * mm_id: address spaces of programs that tell their allocations, each with a number;
 * and when the last task that runs in one has left it.
 */
#ifndef GPROF_MM_ID_H
#define GPROF_MM_ID_H

#include <linux/types.h>

struct signal_struct;

/*
 * Called when one ends, in a task; may sleep. @process: whose it was when it was
 * noted, only to be compared: it may be gone.
 */
typedef void (*gprof_mm_id_ended)(u32 number, const struct signal_struct *process);

u32 gprof_mm_id_find(void);
u32 gprof_mm_id_note(gprof_mm_id_ended ended);
void gprof_mm_ids_forget(void);

#endif /* GPROF_MM_ID_H */
