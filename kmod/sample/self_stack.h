/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * self_stack: where the calling thread is.
 */
#ifndef GPROF_SELF_STACK_H
#define GPROF_SELF_STACK_H

struct gprof_self_stack;
struct gprof_table_set;

int gprof_self_stack(struct gprof_self_stack *arg, struct gprof_table_set *table_set);

#endif /* GPROF_SELF_STACK_H */
