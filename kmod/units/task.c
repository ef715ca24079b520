// SPDX-License-Identifier: GPL-2.0-only
/* task: stacks of all tasks */
#include "../source_task.c"
#include "../task_stack.c"
