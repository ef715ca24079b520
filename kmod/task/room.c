// SPDX-License-Identifier: GPL-2.0-only
/*
 * task: facts about a task: ids, process, cgroup, the reason of a wait, and the users that procfs
 * shows it to.
 *
 * Contexts: procfs.c system calls; wait_reason.c under the lock of a run queue; the headers any.
 * May include: arch and compat alone.
 */
#include "procfs.c"
#include "wait_reason.c"
