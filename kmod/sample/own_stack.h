/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * own_stack: where the calling thread is.
 */
#ifndef GPROF_OWN_STACK_H
#define GPROF_OWN_STACK_H

struct gprof_own_stack;
struct gprof_tables;

int gprof_own_stack(struct gprof_own_stack *arg, struct gprof_tables *tables);

#endif /* GPROF_OWN_STACK_H */
