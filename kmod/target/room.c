// SPDX-License-Identifier: GPL-2.0-only
/*
 * target: the tasks that a recorder is about, and since when each is on a CPU.
 *
 * Contexts: oncpu.c any, NMI included; target_match.h any but NMI; task_set.c context switches,
 * forks and exits; target.c system calls.
 * May include: probe and the rooms below.
 */
#include "target.c"
#include "task_set.c"
#include "oncpu.c"
