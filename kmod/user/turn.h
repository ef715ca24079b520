/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * turn: work on the whole host for users without privilege, each in turn.
 */
#ifndef GPROF_TURN_H
#define GPROF_TURN_H

struct task_struct;

int gprof_turn_wait(struct task_struct *caller);

#endif /* GPROF_TURN_H */
