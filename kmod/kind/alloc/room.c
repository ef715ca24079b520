// SPDX-License-Identifier: GPL-2.0-only
/*
 * kind/alloc: allocations of programs and of the kernel, and those that are still live.
 *
 * Contexts: tracepoints of the kernel's allocators in any context but NMI; breakpoints in
 * programs (uprobes); memory that a program writes; system calls.
 * May include: kind, sample and the rooms below.
 */
#include "source_alloc.c"
#include "alloc.c"
#include "alloc_probe_life.c"
#include "alloc_probe.c"
#include "user_alloc.c"
#include "mm_id.c"
#include "alloc_page.c"
