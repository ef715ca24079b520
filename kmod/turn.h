/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * turn: what users without privilege have done to the whole host, each in turn.
 */
#ifndef GPROF_TURN_H
#define GPROF_TURN_H

int gprof_turn_take(void);

#endif /* GPROF_TURN_H */
