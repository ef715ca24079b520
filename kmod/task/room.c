// SPDX-License-Identifier: GPL-2.0-only
/*
 * task: facts about a task: ids, process, cgroup, and the users that procfs shows it to.
 *
 * Contexts: procfs.c system calls; the headers any.
 * May include: compat alone.
 */
#include "procfs.c"
