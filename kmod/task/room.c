// SPDX-License-Identifier: GPL-2.0-only
/*
 * task: what the kernel knows of a task: ids, process, cgroup, and whom procfs shows it to.
 *
 * Contexts: procfs.c system calls; the headers any.
 * May include: compat alone.
 */
#include "procfs.c"
