/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * python: the frames of an interpreter of Python, which are in no stack.
 */
#ifndef GPROF_PYTHON_H
#define GPROF_PYTHON_H

#include "user_fp.h"
#include "mm_tables.h"

#include <linux/gprof.h>
#include <linux/types.h>

struct task_struct;

int gprof_python_copy(struct gprof_python *python, const struct gprof_python __user *from);
u32 gprof_python_unwind(struct gprof_user_frames *c, const struct gprof_mm_tables *mm_tables,
			struct task_struct *task);

#endif /* GPROF_PYTHON_H */
