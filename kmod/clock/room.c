// SPDX-License-Identifier: GPL-2.0-only
/*
 * clock: time in nanoseconds and in cycles, as cheap as the CPU has it.
 *
 * Contexts: any, NMI included.
 * May include: arch.
 */
#include "cycles.c"
#include "clock.c"
