// SPDX-License-Identifier: GPL-2.0-only
/*
 * mm: the mappings of a process, their changes and their end.
 *
 * Contexts: exec_map_seq.c is read in any, NMI included; mm_watch.c system calls of the process
 * that is watched; build_id.c the thread of a user.
 * May include: user and the rooms below.
 */
#include "exec_map_seq.c"
#include "mm_watch.c"
#include "build_id.c"
