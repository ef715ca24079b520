// SPDX-License-Identifier: GPL-2.0-only
/*
 * kind/task: the stacks of all tasks at one moment.
 *
 * Contexts: the thread of the recorder's user.
 * May include: kind, sample and the rooms below.
 */
#include "source_task.c"
