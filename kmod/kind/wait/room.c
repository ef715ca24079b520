// SPDX-License-Identifier: GPL-2.0-only
/*
 * kind/wait: time off the CPU and time spent waiting for locks, with the stack of the waiter
 * and the task that ended the wait.
 *
 * Contexts: context switches and wakeups under the lock of a run queue; system calls.
 * May include: kind, sample and the rooms below.
 */
#include "source_block.c"
#include "source_mutex.c"
#include "wait.c"
#include "klock_wait.c"
#include "wait_boundary.c"
#include "wait_table.c"
