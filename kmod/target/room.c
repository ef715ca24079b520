// SPDX-License-Identifier: GPL-2.0-only
/*
 * target: the tasks that a recorder is about, and since when each is on a CPU.
 *
 * Contexts: running.c and membership.h any, NMI included; scope.c context switches, forks
 * and exits; target.c system calls.
 * May include: probe and the rooms below.
 */
#include "target.c"
#include "scope.c"
#include "running.c"
