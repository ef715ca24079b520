/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * task_stack: how a task is at one instant, and with which stack.
 */
#ifndef GPROF_TASK_STACK_H
#define GPROF_TASK_STACK_H

#include <linux/types.h>

struct gprof_sampler;
struct gprof_target;
struct task_struct;

bool gprof_task_stack(struct task_struct *task, const struct gprof_target *target,
		      struct gprof_sampler *sampler);

#endif /* GPROF_TASK_STACK_H */
