/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * stack_intern: the id of a stack, with its record where this generation has not said it yet.
 *
 * Stacks of a thread, and mostly of a program, have the same frames far from the leaf. So
 * the difference from the first is enough to know them by, and to tell of them.
 */
#ifndef GPROF_STACK_INTERN_H
#define GPROF_STACK_INTERN_H

#include <linux/types.h>

struct gprof_maps;
struct gprof_memo;
struct gprof_percpu_buffer;
struct gprof_stack;
struct pid_namespace;

s64 gprof_stack_intern(struct gprof_percpu_buffer *ch, struct gprof_memo *memo,
		       struct gprof_stack *stack, struct pid_namespace *ns,
		       struct gprof_maps *maps);

#endif /* GPROF_STACK_INTERN_H */
